package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A reader goes through a script once, from its top.
type reader struct {
	line      *CommandLine
	functions map[string]*syntax.Stmt
	ending    map[string]bool // commands that may end the script
	unset     bool            // a parameter that is not set is an error

	shifted   int  // arguments that are gone
	looped    bool // the options were read
	getopts   bool // by getopts, and are still there
	consumed  bool // nothing is left behind the options
	places    []positional
	variables map[string]string // what a variable is without its option, where that is a text
	computed  map[string]bool   // or where it is anything else
	fromPlace map[string]int    // a variable → the place that it was set from, negative for one before the options
	careful   map[int]string    // a place → why it must not begin with -
	needed    map[string]bool   // variables that must be set
	atLeast   int               // arguments, where a script counts them
}

// read reports whether all that a script does with its arguments is understood.
func (r *reader) read(steps []step) bool {
	r.ending = findEnding(r.functions)
	r.computed, r.careful = map[string]bool{}, map[int]string{}
	r.variables, r.fromPlace, r.needed = map[string]string{}, map[string]int{}, map[string]bool{}
	for _, s := range steps {
		if s.sealed {
			if places, ok := uses(s.stmt); !ok || len(places) > 0 || upsets(s.stmt) {
				return false
			}
			r.require(s.stmt)
			r.setBy(s.stmt)
			continue
		}
		if !r.step(s.stmt) {
			return false
		}
		if command(s.stmt.Cmd) == "exit" {
			break
		}
	}
	return r.finish()
}

// step reads one statement.
func (r *reader) step(stmt *syntax.Stmt) bool {
	switch c := stmt.Cmd.(type) {
	case nil, *syntax.FuncDecl:
		return true
	case *syntax.WhileClause:
		if readsArguments(c) {
			return r.loop(stmt, c)
		}
	case *syntax.ForClause:
		if over, ok := overArguments(c); ok {
			return r.iterate(c, over)
		}
	case *syntax.CallExpr:
		switch command(c) {
		case "shift":
			return r.shift(stmt, c)
		case "set":
			r.unset = r.unset || setsUnset(c)
		}
		if len(c.Args) == 0 && len(stmt.Redirs) == 0 {
			return r.assignAll(c.Assigns)
		}
	case *syntax.DeclClause:
		return r.assignAll(c.Args)
	case *syntax.CaseClause:
		if !r.other(stmt) {
			return false
		}
		r.choose(c)
		return true
	}
	r.require(stmt)
	return r.other(stmt)
}

// setBy notes what a statement sets.
func (r *reader) setBy(stmt *syntax.Stmt) {
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			for _, a := range c.Assigns {
				r.set(a)
			}
		}
	case *syntax.DeclClause:
		for _, a := range c.Args {
			r.set(a)
		}
	}
}

// readsArguments reports whether a while loop has to do with the script's
// arguments.
func readsArguments(loop *syntax.WhileClause) bool {
	found := upsets(loop)
	for _, stmt := range loop.Cond {
		places, ok := uses(stmt)
		found = found || !ok || len(places) > 0
	}
	return found
}

// overArguments returns the variable of a loop over "$@".
func overArguments(loop *syntax.ForClause) (variable string, ok bool) {
	words, ok := loop.Loop.(*syntax.WordIter)
	if !ok || loop.Select {
		return "", false
	}
	if !words.InPos.IsValid() {
		return words.Name.Value, true
	}
	if len(words.Items) != 1 {
		return "", false
	}
	name, exp, ok := bare(words.Items[0])
	return words.Name.Value, ok && exp == nil && name == "@"
}

func setsUnset(call *syntax.CallExpr) bool {
	for _, word := range call.Args[1:] {
		text, _, _ := literal(word)
		if text == "nounset" || strings.HasPrefix(text, "-") && strings.Contains(text, "u") {
			return true
		}
	}
	return false
}

// shift reads a command shift.
func (r *reader) shift(stmt *syntax.Stmt, call *syntax.CallExpr) bool {
	n, behind, ok := shiftBy(call)
	switch {
	case !ok || stmt.Negated || stmt.Background:
		return false
	case behind:
		if !r.getopts {
			return false
		}
		r.getopts, r.consumed = false, false
		return true
	case r.getopts || r.consumed:
		return false
	}
	r.shifted += n
	return true
}

// shiftBy returns by how much a command shifts; behind is what getopts has read.
func shiftBy(call *syntax.CallExpr) (n int, behind, ok bool) {
	switch len(call.Args) {
	case 1:
		return 1, false, true
	case 2:
		text, _, ok := literal(call.Args[1])
		if n, err := strconv.Atoi(text); ok && err == nil && n >= 0 && n < all {
			return n, false, true
		}
		return 0, true, isOptind(call.Args[1])
	}
	return 0, false, false
}

// isOptind reports whether a word is $((OPTIND - 1)).
func isOptind(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	part := word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	sum, ok := part.(*syntax.ArithmExp)
	if !ok {
		return false
	}
	minus, ok := sum.X.(*syntax.BinaryArithm)
	if !ok || minus.Op != syntax.Sub {
		return false
	}
	x, isX := minus.X.(*syntax.Word)
	y, isY := minus.Y.(*syntax.Word)
	if !isX || !isY {
		return false
	}
	name, _, _ := literal(x)
	if bareName, _, ok := bare(x); ok {
		name = bareName
	}
	one, _, _ := literal(y)
	return name == "OPTIND" && one == "1"
}

// assignAll reads assignments.
func (r *reader) assignAll(assigns []*syntax.Assign) bool {
	for _, a := range assigns {
		if upsets(a) || !r.assign(a) {
			return false
		}
	}
	return true
}

func (r *reader) assign(a *syntax.Assign) bool {
	if a.Name == nil || a.Naked {
		places, ok := uses(a)
		return ok && len(places) == 0
	}
	variable := a.Name.Value
	if name, exp, ok := bare(a.Value); ok && place(name) > 0 && !a.Append && a.Index == nil {
		return place(name) != all && r.take(place(name), variable, exp)
	}
	if a.Array != nil && len(a.Array.Elems) == 1 && !a.Append {
		if name, exp, ok := bare(a.Array.Elems[0].Value); ok && place(name) == all && exp == nil {
			return r.takeRest(variable)
		}
	}
	r.set(a)
	return r.other(a)
}

// set notes what a variable is where no argument sets it.
func (r *reader) set(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	variable, value := a.Name.Value, a.Value
	if name, exp, ok := bare(a.Value); ok && name == variable && exp != nil {
		value = exp.Word // NAME="${NAME:-…}"
	} else if r.looped {
		return
	}
	text, glob, ok := literal(value)
	if !ok || glob || a.Array != nil || a.Append || strings.HasPrefix(text, "~") {
		r.computed[variable] = true
		delete(r.variables, variable)
		return
	}
	r.variables[variable] = text
}

// take notes that a variable is set from a place.
func (r *reader) take(at int, variable string, exp *syntax.Expansion) bool {
	p := positional{name: strings.ToLower(variable), required: r.unset && exp == nil}
	if exp != nil {
		text, glob, ok := literal(exp.Word)
		switch {
		case exp.Op == syntax.ErrorUnset || exp.Op == syntax.ErrorUnsetOrNull:
			p.required = true
		case ok && !glob:
			p.fallback = text
		}
	}
	if !r.add(at, p) {
		return false
	}
	r.fromPlace[variable] = r.shifted + at
	return true
}

func (r *reader) takeRest(variable string) bool {
	return r.add(1, positional{name: strings.ToLower(variable), rest: true})
}

// add notes a positional at a place of those that are left.
func (r *reader) add(at int, p positional) bool {
	if r.getopts || r.consumed || at > maxOptions {
		return false
	}
	p.index = r.shifted + at
	i := slices.IndexFunc(r.places, func(q positional) bool { return q.index == p.index })
	if i < 0 {
		r.places = append(r.places, p)
		return len(r.places) <= maxOptions
	}
	known := &r.places[i]
	if known.rest != p.rest {
		return false
	}
	if known.name == "" {
		known.name = p.name
	}
	if known.fallback == "" {
		known.fallback = p.fallback
	}
	known.required = known.required || p.required
	return true
}

// other reads what is no assignment: it may refer to single places, and must not
// compare them with what begins with -.
func (r *reader) other(node syntax.Node) bool {
	if upsets(node) || !r.compares(node) {
		return false
	}
	places, ok := uses(node)
	if !ok || slices.Contains(places, all) {
		return false
	}
	slices.Sort(places)
	for _, at := range slices.Compact(places) {
		if !r.add(at, positional{required: r.unset && !r.defaulted(node, at)}) {
			return false
		}
	}
	return true
}

// defaulted reports whether a part of a script has "${1:-…}" or "${1-…}".
func (r *reader) defaulted(node syntax.Node, at int) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && place(p.Param.Value) == at && p.Exp != nil {
			found = true
		}
		return !found
	})
	return found
}
