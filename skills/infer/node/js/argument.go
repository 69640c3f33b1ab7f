package js

import (
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// An Argument is one of the command line, with the ways in which the program uses it.
type Argument struct {
	*cli.Argument
	Line     int32
	Flags    []string // all names of an option
	Named    bool     // a variable gave the name
	Tested   bool     // the program asks whether it is given, or has a default
	Used     bool     // the program uses it, whether it is given or not
	demanded bool     // the program ends without it
	Spared   bool     // the program goes on without it
	merged   *Argument
	Texts    []string // that it is compared with
	// some reports that it belongs to some commands of several, which an earlier word
	// chooses: type, default and choices there do not hold for all.
	some bool
}

// MaxArguments is the maximum number of arguments of one command.
const MaxArguments = 256

// Demand notes that the program ends without the argument.
func (a *Argument) Demand() { a.demanded = true }

// Some notes that the argument was used for some commands alone.
func (a *Argument) Some() { a.some = a.some || a.Flag == "" }

// SetType sets the type of an argument's values, unless it is known.
func (a *Argument) SetType(name string) {
	if a.Item == nil && !a.some {
		a.Item = &jsonschema.Schema{Type: name}
	}
}

// Choose limits the argument to texts.
func (a *Argument) Choose(texts []string) {
	if a.Item == nil && !a.some && len(texts) > 0 {
		a.Item = &jsonschema.Schema{Type: "string"}
		for _, text := range texts {
			a.Item.Enum = append(a.Item.Enum, text)
		}
	}
}

// Compare notes texts that the program compares the argument with.
func (a *Argument) Compare(texts ...string) {
	for _, text := range texts {
		if len(a.Texts) < MaxArguments && !slices.Contains(a.Texts, text) {
			a.Texts = append(a.Texts, text)
		}
	}
}

// SetDefault notes the value without the argument.
func (a *Argument) SetDefault(v Value) {
	if constant, ok := ToJSON(v); ok && a.Default == nil && !a.some && constant != "" {
		a.Default = constant
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

// IsHelp reports whether an option asks for the help or the version of the program.
func IsHelp(flag string) bool {
	switch flag {
	case "--help", "-h", "help", "-help", "--version", "-V", "-?", "/?", "--usage":
		return true
	}
	return false
}
