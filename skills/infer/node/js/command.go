package js

// A Command is a program, or one of its sub-commands, while it is declared.
type Command struct {
	Name, Description string
	Options           []*Argument
	Positionals       []*Argument
	Words             *WordList // positionals that are not declared but used; nil where there are none
	Commands          []*Command
	Optional          bool // none of the commands has to be chosen
	Terminator        bool // see cli.Command
	Guarded           bool // an option that the program ends without is required
	laid              bool
}
