package usagetext

import "fmt"

// Place describes the argument at an index, from 0, of a script that says nothing about
// it: a model that knows its name alone does not know that the order matters.
func (t Text) Place(at int) string {
	where := "of the command line"
	if t.behind {
		where = "behind the command"
	}
	ordinals := [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"}
	if at < len(ordinals) {
		return "The " + ordinals[at] + " argument " + where + "."
	}
	return fmt.Sprintf("Argument %d %s.", at+1, where)
}

// Rest describes the list of the arguments from an index on.
func (t Text) Rest(at int) string {
	if t.behind && at == 0 {
		return "The arguments behind the command."
	}
	if at == 0 {
		return "The arguments of the command line."
	}
	return "The arguments of the command line after the others."
}
