package usagetext

import (
	"cmp"
	"fmt"
)

// Describe returns the description of the positional at an index, from 0, or of the list of
// all from there on: the one of its name, of its name in the usage line or of its place
// ("$1"), or else its own, or the place.
func (t Text) Describe(at int, name, own string, list bool) string {
	place := t.place(at)
	if list {
		place = t.rest(at)
	}
	return cmp.Or(t.Help(name), t.Help(t.Name(at)), t.Help(fmt.Sprintf("$%d", at+1)), own, place)
}

// place describes the argument at an index, from 0, of a script that says nothing about
// it: a model that knows its name alone does not know that the order matters.
func (t Text) place(at int) string {
	where := "of the command line"
	if t.behind {
		where = "behind the command"
	}
	ordinals := [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"}
	place := fmt.Sprintf("Argument %d %s", at+1, where)
	if at < len(ordinals) {
		place = "The " + ordinals[at] + " argument " + where
	}
	if text := t.element(at).text; text != "" {
		place += ": " + text
	}
	return place + "."
}

// rest describes the list of the arguments from an index on.
func (t Text) rest(at int) string {
	if text := t.element(at).text; text != "" {
		return "The arguments from the place of " + text + " on."
	}
	if t.behind && at == 0 {
		return "The arguments behind the command."
	}
	if at == 0 {
		return "The arguments of the command line."
	}
	return "The arguments of the command line after the others."
}
