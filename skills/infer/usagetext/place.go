package usagetext

import "fmt"

// Place describes the argument at an index, from 0, of a script that says nothing about
// it: a model that knows its name alone does not know that the order matters.
func Place(at int) string {
	ordinals := [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"}
	if at < len(ordinals) {
		return "The " + ordinals[at] + " argument of the command line."
	}
	return fmt.Sprintf("Argument %d of the command line.", at+1)
}

// Rest describes the list of the arguments from an index on.
func Rest(at int) string {
	if at == 0 {
		return "The arguments of the command line."
	}
	return "The arguments of the command line after the others."
}
