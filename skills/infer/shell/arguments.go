package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// arguments is the state of a script's positional parameters, and the command
// line as far as it is read.
type arguments struct {
	script *script
	line   *declaration
	usage  usagetext.Text

	unset     bool // an unset parameter is an error
	shifted   int  // arguments that are gone
	looped    bool // the options were read
	getopts   bool // by getopts, and are not shifted yet
	consumed  bool // nothing is left behind the options
	places    []argument
	variables map[string]string // the defaults of variables
	computed  map[string]bool   // variables with a default that is no text
	fromPlace map[string]int    // the place that a variable was set from
	careful   map[int]string    // by place, the reason why it must not begin with -
	needed    map[string]bool   // variables that must be set
	atLeast   int               // arguments, by a test of $#
	firsts    []string          // texts that the first argument is compared with
	first     string            // the text of the first argument; "" for any
	chosen    map[string]bool   // variables with the first argument, which is gone; nil before
}

func newArguments(s *script) *arguments {
	return &arguments{
		script: s, line: &declaration{}, variables: map[string]string{}, computed: map[string]bool{},
		fromPlace: map[string]int{}, careful: map[int]string{}, needed: map[string]bool{},
	}
}

// add adds a positional at a place of those that are left.
func (a *arguments) add(at int, of cli.Argument) bool {
	if a.getopts || a.consumed || at > maxOptions {
		return false
	}
	p := argument{Argument: of, index: a.shifted + at}
	i := slices.IndexFunc(a.places, func(q argument) bool { return q.index == p.index })
	if i < 0 {
		a.places = append(a.places, p)
		return len(a.places) <= maxOptions
	}
	known := &a.places[i]
	if known.Name == "" {
		known.Name, known.Variable = p.Name, p.Variable
	}
	known.Default = cmp.Or(known.Default, p.Default)
	known.Description = cmp.Or(known.Description, p.Description)
	known.Required = known.Required || p.Required
	return known.List == p.List
}

// leave removes the first argument, which is known: the others are numbered from 1.
func (a *arguments) leave() {
	a.chosen = map[string]bool{}
	renumber := func(list []argument) []argument {
		list = slices.DeleteFunc(list, func(p argument) bool { return p.index == 1 && !p.List })
		for i := range list {
			list[i].index--
		}
		return list
	}
	a.places, a.line.positionals = renumber(a.places), renumber(a.line.positionals)
	for variable, at := range a.fromPlace {
		if a.fromPlace[variable]--; at == 1 {
			delete(a.fromPlace, variable)
			a.chosen[variable] = true
		}
	}
	careful := map[int]string{}
	for at, why := range a.careful {
		careful[at-1] = why
	}
	a.careful, a.atLeast = careful, max(a.atLeast-1, 0)
}

// isFirst reports whether a word is the first argument.
func (a *arguments) isFirst(word *syntax.Word) bool {
	name, _, ok := bare(word)
	return ok && (a.chosen[name] || a.chosen == nil && (a.fromPlace[name] == 1 || place(name) > 0 && a.shifted+place(name) == 1))
}

// take sets a variable from a place.
func (a *arguments) take(at int, variable string, exp *syntax.Expansion) bool {
	p := cli.Argument{Name: strings.ToLower(variable), Variable: variable, Required: a.unset && exp == nil}
	if exp != nil {
		text, glob, ok := literal(exp.Word)
		switch {
		case isError(exp):
			p.Required = true
			if ok && !glob {
				p.Description = text
			}
		case ok && !glob && text != "":
			p.Default = text
		}
	}
	a.fromPlace[variable] = a.shifted + at
	return a.add(at, p)
}

// set sets a variable from the script itself. Behind the options only its
// default counts: NAME="${NAME:-…}".
func (a *arguments) set(assign *syntax.Assign) {
	if assign.Name == nil || assign.Naked {
		return
	}
	variable, value := assign.Name.Value, assign.Value
	if name, exp, ok := bare(value); ok && name == variable && exp != nil {
		value = exp.Word
	} else if a.looped {
		return
	}
	text, glob, ok := literal(value)
	if !ok || glob || assign.Array != nil || assign.Append || strings.HasPrefix(text, "~") {
		a.computed[variable] = true
		delete(a.variables, variable)
		return
	}
	a.variables[variable] = text
}

// need makes a variable, or the argument at a place, required.
func (a *arguments) need(name string) {
	if at := place(name); at > 0 && at < all {
		a.add(at, cli.Argument{Required: true})
		return
	}
	a.needed[name] = true
}

// unmet reports whether the script ends where no argument sets a variable.
func (a *arguments) unmet(variable string) bool {
	return a.needed[variable] && !a.computed[variable]
}

// startLoop begins the options. No argument may have been read before them.
func (a *arguments) startLoop() bool {
	a.looped = true
	if a.shifted > 0 || slices.ContainsFunc(a.places, func(p argument) bool { return p.List || p.Name != "" }) {
		return false
	}
	a.places, a.atLeast, a.careful = nil, 0, map[int]string{}
	return true
}

// inOrder sorts positionals by place, and reports whether none is left out and
// only the last is all the rest.
func inOrder(positionals []argument) bool {
	slices.SortFunc(positionals, func(p, q argument) int { return p.index - q.index })
	for i, p := range positionals {
		if p.index != i+1 || p.List && i != len(positionals)-1 {
			return false
		}
	}
	return true
}

// finish completes the command line, and returns nil where it is empty or not
// certain.
func (a *arguments) finish() *declaration {
	line := a.line
	if a.first != "" && a.chosen == nil {
		a.leave()
	}
	switch {
	case len(line.positionals) == 0:
		if !a.settlePlaces() {
			return nil
		}
	case len(a.places) > 0:
		return nil
	}
	for i := range line.options {
		o := &line.options[i]
		text := a.variables[o.Variable]
		if text != "" && o.Kind == cli.Value && !o.List {
			o.Default = text
		}
		o.Required = o.Kind == cli.Value && text == "" && a.unmet(o.Variable)
	}
	for variable, at := range a.fromPlace {
		for i := range line.positionals {
			p := &line.positionals[i]
			p.Required = p.Required || at == p.index && p.Default == nil && !p.List && a.unmet(variable)
		}
	}
	a.namePositionals()
	if !line.isNamed() || a.first == "" && len(line.options)+len(line.positionals) == 0 {
		return nil
	}
	return line
}

// settlePlaces makes positionals of the places that the script refers to.
func (a *arguments) settlePlaces() bool {
	if !inOrder(a.places) {
		return false
	}
	needed := false // by one behind it
	for i := len(a.places) - 1; i >= 0; i-- {
		p := &a.places[i]
		counted := !p.List && p.index <= a.atLeast
		p.Required = p.Required || counted || needed && p.Default == nil
		needed = p.Required
	}
	a.line.positionals = a.places
	return true
}

// namePositionals names the positionals that have no name.
func (a *arguments) namePositionals() {
	for i := range a.line.positionals {
		p := &a.line.positionals[i]
		if p.Dashes = a.careful[p.index]; p.List && p.Dashes == "" {
			p.Dashes = a.careful[all]
		}
		title := a.usage.Name(p.index - 1)
		switch {
		case p.Name != "":
		case title != "" && !a.has(title):
			p.Name = title
		case p.List:
			p.Name = "args"
		default:
			p.Name = fmt.Sprintf("arg%d", p.index)
		}
	}
}

// has reports whether an argument has a name.
func (a *arguments) has(name string) bool {
	return slices.ContainsFunc(slices.Concat(a.line.options, a.line.positionals), func(other argument) bool { return other.Name == name })
}
