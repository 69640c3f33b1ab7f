package js

import (
	"cmp"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// A WordList is a list of words from the command line: all of them, or those that
// parseArgs does not read as options.
type WordList struct {
	Positionals []*Argument // by index; nil where none is used
	Rest        *Argument   // all from an index on
	RestFrom    int
	Options     []*Argument
	Least, Most int // by tests of the length; most is -1 for any
	Filtered    bool
	Indexed     bool // used without a filter
	RestName    string
	Declared    int32  // the line of the parseArgs that knows the positionals; 0 for none
	First       string // the text of the first word; "" for any
}

// NewWordList returns a list of words with this text as the first; "" for any.
func NewWordList(first string) *WordList {
	l := &WordList{Most: -1, First: first}
	if first != "" {
		l.Positional(0, 0)
		l.AtLeast(1)
	}
	return l
}

// Behind removes the first word. It reports false where the others are not known apart
// from it.
func (l *WordList) Behind() bool {
	if l.Rest != nil && l.RestFrom == 0 {
		return false
	}
	l.Positionals, l.RestFrom, l.Least = l.Positionals[1:], l.RestFrom-1, max(l.Least-1, 0)
	if l.Most > 0 {
		l.Most--
	}
	return true
}

// Empty reports whether nothing is read from the list.
func (l *WordList) Empty() bool {
	return !l.Indexed && l.Rest == nil && len(l.Options) == 0 && (l.Least == 0 || l.First != "")
}

// Positional returns the argument at an index.
func (l *WordList) Positional(at int, line int32) *Argument {
	for len(l.Positionals) <= at {
		l.Positionals = append(l.Positionals, nil)
	}
	if l.Positionals[at] == nil {
		l.Positionals[at] = &Argument{Argument: &cli.Argument{}, Line: line}
	}
	return l.Positionals[at]
}

// Option returns the option with a flag.
func (l *WordList) Option(flag string, line int32) *Argument {
	for _, o := range l.Options {
		if slices.Contains(o.Flags, flag) {
			return cmp.Or(o.merged, o)
		}
	}
	o := NewOption(line, flag)
	o.Kind, o.Form = cli.Switch, cli.Apart
	l.Options = append(l.Options, o)
	return o
}

// Bound notes a comparison of the number of words that holds.
func (l *WordList) Bound(operator string, n int) {
	switch operator {
	case ">=":
		l.AtLeast(n)
	case ">":
		l.AtLeast(n + 1)
	case "===", "==":
		l.AtLeast(n)
		l.AtMost(n)
	case "<=":
		l.AtMost(n)
	case "<":
		l.AtMost(n - 1)
	}
}

// AtLeast notes that there are n words.
func (l *WordList) AtLeast(n int) { l.Least = max(l.Least, min(n, MaxArguments)) }

// AtMost notes that there are no more than n words.
func (l *WordList) AtMost(n int) {
	if l.Most < 0 || n < l.Most {
		l.Most = max(n, 0)
	}
}
