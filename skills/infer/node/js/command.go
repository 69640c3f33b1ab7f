package js

import (
	"strings"
)

// A Command is a program, or one of its sub-commands, while it is declared.
type Command struct {
	Name, Description string
	Options           []*Argument
	Positionals       []*Argument
	Words             *WordList // positionals that are not declared but used; nil where there are none
	Commands          []*Command
	Must              bool // one of the commands has to be chosen
	Terminator        bool // see cli.Command
	Numbers           bool
	First             bool
	Guarded           bool // an option that the program ends without is required
	laid              bool
}

// Find returns the option of a name, with dashes or without, or nil.
func (c *Command) Find(key string) *Argument {
	if len(key) > 1 {
		key = strings.TrimLeft(key, "-")
	}
	for _, o := range c.Options {
		for _, flag := range o.Flags {
			if strings.TrimLeft(flag, "-") == key || camel(strings.TrimLeft(flag, "-")) == key {
				return o
			}
		}
	}
	return nil
}

// camel returns a name with dashes in the form of a JavaScript name.
func camel(name string) string {
	parts := strings.Split(name, "-")
	for i, part := range parts[1:] {
		if part != "" {
			parts[i+1] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "")
}
