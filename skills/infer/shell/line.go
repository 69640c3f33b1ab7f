package shell

import (
	"slices"
	"strconv"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// A declaration has the arguments that a script reads.
type declaration struct {
	options     []argument
	positionals []argument // behind the options

	terminator bool // "--" ends the options
	inLoop     bool // the script reads positionals where it reads options, without a terminator
}

// An argument is an option or a positional of a script.
type argument struct {
	name     string // of the property
	kind     kind
	list     bool // each value of an array is passed; of a positional, all arguments from here on
	required bool
	fallback string // the default; "" is unknown
	help     string

	variable string // of the script; "" is unknown

	// Of an option:
	flag string // as it is passed, such as "--name" or "-n"

	// Of a positional:
	index   int    // from 1
	title   string // its name in the usage line
	careful string // the reason why a value must not begin with -, or ""
}

// A kind is the place of an argument's value.
type kind int

const (
	positional kind = iota
	flag            // an option without a value
	next            // in the argument behind the option
	joined          // behind the option and a =
)

// isNamed reports whether each argument has a name of its own.
func (d *declaration) isNamed() bool {
	names := map[string]bool{}
	for _, a := range slices.Concat(d.options, d.positionals) {
		if names[a.name] {
			return false
		}
		names[a.name] = true
	}
	return true
}

// command returns the arguments for their schema.
func (d *declaration) command() *cli.Command {
	c := &cli.Command{Terminator: d.terminator, Separate: d.terminator}
	for _, a := range slices.Concat(d.options, d.positionals) {
		c.Arguments = append(c.Arguments, a.declared())
	}
	for _, a := range c.Arguments[len(d.options):] {
		a.Leads = !d.terminator && !d.inLoop
		if d.inLoop && a.Dashes == "" {
			a.Dashes = "the script would read it as an option"
		}
	}
	return c
}

// declared returns an argument for its schema.
func (a *argument) declared() *cli.Argument {
	d := &cli.Argument{
		Name: a.name, Description: a.help, Flag: a.flag, List: a.list, Required: a.required, Dashes: a.careful,
		Leads: a.kind == positional, Variable: a.variable,
	}
	if a.fallback != "" && !a.list {
		d.Default = a.fallback
	}
	if a.kind == positional && d.Variable == "" {
		d.Variable = strconv.Itoa(a.index)
		if a.list {
			d.Variable = "@"
		}
	}
	switch a.kind {
	case flag:
		d.Kind = cli.Switch
	case next:
		d.Form = cli.Apart
	}
	return d
}
