package js

import (
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
	// given is the value of an argument, or one that is made of it.
	Given struct {
		*Argument
		Derived bool
	}
	// length is the number of words.
	Length struct{ Words }
	// position is the place of an option, or of a word behind it.
	Position struct {
		Option *Argument
		By     int
	}
	// present tells whether an option is there.
	Present struct{ Option *Argument }
	// joinedWord is the word --name=value of an option.
	JoinedWord struct{ Option *Argument }
	// flagWords are the words of a list that begin with a dash.
	FlagWords struct{ Words }
)

// TakesValue makes an option one with a value.
func (a *Argument) TakesValue(form cli.Form) Given {
	if a.Kind == cli.Switch {
		a.Kind = cli.Value
		a.Form = form
	}
	return Given{a, false}
}

// SetDefault notes the value without the argument.
func (a *Argument) SetDefault(v Value) {
	if constant, ok := ToJSON(v); ok && a.Default == nil && constant != "" {
		a.Default = constant
	}
}
