package shell

import (
	"cmp"
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
	cli.Argument
	index int // of a positional, from 1
}

// isNamed reports whether each argument has a name of its own.
func (d *declaration) isNamed() bool {
	names := map[string]bool{}
	for _, a := range slices.Concat(d.options, d.positionals) {
		if names[a.Name] {
			return false
		}
		names[a.Name] = true
	}
	return true
}

// command returns the arguments for their schema.
func (d *declaration) command() *cli.Command {
	c := &cli.Command{Terminator: d.terminator, Separate: d.terminator}
	for i := range d.options {
		c.Arguments = append(c.Arguments, &d.options[i].Argument)
	}
	for i := range d.positionals {
		p := &d.positionals[i]
		p.Leads = !d.terminator && !d.inLoop
		if d.inLoop && p.Dashes == "" {
			p.Dashes = "the script would read it as an option"
		}
		if p.Variable == "" && p.List {
			p.Variable = "@"
		}
		p.Variable = cmp.Or(p.Variable, strconv.Itoa(p.index))
		c.Arguments = append(c.Arguments, &p.Argument)
	}
	return c
}
