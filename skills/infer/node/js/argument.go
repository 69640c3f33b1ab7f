package js

import (
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// An Argument is one of the command line, with the ways in which the program uses it.
type Argument struct {
	*cli.Argument
	Line       int32
	Flags      []string // all names of an option
	Named      bool     // a variable gave the name
	Tested     bool     // the program asks whether it is given, or has a default
	Used       bool     // the program uses it, whether it is given or not
	demanded   bool     // the program ends without it
	Touched    bool     // the program uses it somewhere
	Undeclared bool     // nothing but its use shows its type
	Conflicts  []string // names of options that cannot be given too
	Hidden     bool     // its author hides it
	merged     *Argument
	Comment    string // behind it on its line
}

// maxArguments is the maximum number of arguments of one command.
const MaxArguments = 256

// Demand notes that the program ends without the argument.
func (a *Argument) Demand() { a.demanded = true }

// SetType sets the type of an argument's values, unless it is known.
func (a *Argument) SetType(name string) {
	if a.Item == nil {
		a.Item = &jsonschema.Schema{Type: name}
	}
}

// Choose limits the argument to texts.
func (a *Argument) Choose(texts []string) {
	if a.Item == nil && len(texts) > 0 {
		a.Item = &jsonschema.Schema{Type: "string"}
		for _, text := range texts {
			a.Item.Enum = append(a.Item.Enum, text)
		}
	}
}

// Merge makes one option of two names.
func (a *Argument) Merge(other *Argument) {
	if a == other || other.merged != nil || a.merged != nil {
		return
	}
	a.Flags = append(a.Flags, other.Flags...)
	if !strings.HasPrefix(a.Flag, "--") && strings.HasPrefix(other.Flag, "--") {
		a.setFlag(other.Flag)
	}
	other.merged = a
}

func (a *Argument) setFlag(flag string) {
	a.Flag = flag
	a.Name = cli.PropertyName(strings.TrimLeft(flag, "-"))
}

// AddName adds a name to an option, which becomes its own if it is the first long one.
func (a *Argument) AddName(name string) {
	a.Flags = append(a.Flags, "--"+name)
	if len(strings.TrimLeft(a.Flag, "-")) == 1 && len(name) > 1 {
		a.setFlag("--" + name)
	}
}

// NewOption returns an option with a value, by its flags, of which the first long one
// is used.
func NewOption(line int32, flags ...string) *Argument {
	a := &Argument{Argument: &cli.Argument{}, Line: line, Flags: flags}
	best := flags[0]
	for _, flag := range flags {
		if strings.HasPrefix(flag, "--") && !strings.HasPrefix(best, "--") {
			best = flag
		}
	}
	a.setFlag(best)
	return a
}

// TypeOf returns the schema of a type's values.
func TypeOf(name string) *jsonschema.Schema { return &jsonschema.Schema{Type: name} }

// IsHelp reports whether an option asks for the help or the version of the program.
func IsHelp(flag string) bool {
	switch flag {
	case "--help", "-h", "help", "-help", "--version", "-V", "-?", "/?", "--usage":
		return true
	}
	return false
}
