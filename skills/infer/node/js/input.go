package js

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// Words is a list of words from an index on. Those before 0 are the interpreter and the
// script.
type Words struct {
	List *WordList
	From int
}

// Values that come from the command line.
type (
	// Given is the value of an argument, or one that is made of it.
	Given struct {
		*Argument
		Derived bool
	}
	// Length is the number of words.
	Length struct{ Words }
	// Position is the place of an option, or of a word behind it.
	Position struct {
		Option *Argument
		By     int
	}
	// Present tells whether an option is there.
	Present struct{ Option *Argument }
	// JoinedWord is the word --name=value of an option.
	JoinedWord struct{ Option *Argument }
)

// TakesValue makes an option one with a value.
func (a *Argument) TakesValue(form cli.Form) Given {
	if a.Kind == cli.Switch {
		a.Kind, a.Form = cli.Value, form
	}
	return Given{a, false}
}

// At returns the word at an index. It reports false for an index that is computed.
func (w Words) At(at Value, line int32) (v Value, ok bool) {
	switch at := at.(type) {
	case float64:
		index := w.From + int(at)
		switch {
		case at < 0 || index > MaxArguments:
			return nil, false
		case index < 0:
			return Unknown{}, true
		}
		w.List.Indexed = true
		if index == 0 && w.List.First != "" {
			return w.List.First, true
		}
		return Given{Argument: w.List.Positional(index, line)}, true
	case Position:
		if at.By == 1 {
			return at.Option.TakesValue(cli.Apart), true
		}
		return Unknown{}, true
	}
	return nil, false
}

// Rest returns all words, as one argument. It reports false where the words from another
// index on are one already.
func (w Words) Rest(line int32) (v Value, ok bool) {
	l, from := w.List, max(w.From, 0)
	if l.Rest == nil {
		l.Rest = &Argument{Argument: &cli.Argument{List: true}, Line: line}
		l.RestFrom = from
	}
	return Given{Argument: l.Rest, Derived: true}, l.RestFrom == from
}

// Without returns the words that do not begin with a dash.
func (w Words) Without() Words {
	w.List.Filtered = true
	return w
}

// Named returns the option whose value stands behind its name and a =.
func (w Words) Named(prefix string, line int32) JoinedWord {
	o := w.List.Option(strings.TrimSuffix(prefix, "="), line)
	o.TakesValue(cli.Joined)
	o.Form = cli.Joined
	return JoinedWord{o}
}
