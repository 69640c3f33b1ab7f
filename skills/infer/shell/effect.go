package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

// An effect is what an item of a case does with the arguments, as far as it
// goes through its statements.
type effect struct {
	loop   *loop
	reader *reader

	shifts  int  // arguments that are gone
	touched int  // how far behind the option it looks
	exits   bool // it ends the script
	mayExit bool
	breaks  bool // it ends the loop
	skips   bool // it leaves out what is behind the case
	sets    []setting
}

// A setting is a variable that is set.
type setting struct {
	variable string
	from     origin
	appended bool // to an array
	stripped bool // of what is before the first =
	plain    bool // the value is as it was passed
}

// An origin is where a value is from.
type origin int

const (
	nowhere origin = iota // the script itself
	here                  // the argument at hand
	behind                // the argument behind it
)

// all goes through statements. It is false where one is not understood.
func (e *effect) all(stmts []*syntax.Stmt) bool {
	for _, stmt := range stmts {
		if e.exits || e.breaks || e.skips {
			return true
		}
		if stmt.Background || stmt.Coprocess || stmt.Negated || !e.stmt(stmt) {
			return false
		}
	}
	return true
}

// settle counts what is shifted behind the case.
func (e *effect) settle() bool {
	if !e.breaks && !e.skips && !e.exits {
		e.shifts += e.loop.after
	}
	if e.loop.each || e.loop.value != "" {
		e.shifts = 1 + e.touched // the loop goes on by itself
		return e.loop.each || !e.breaks
	}
	return true
}

func (e *effect) stmt(stmt *syntax.Stmt) bool {
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return len(stmt.Redirs) == 0 && e.assigns(c.Assigns)
		}
		return e.call(c)
	case *syntax.DeclClause:
		return e.assigns(c.Args)
	case *syntax.IfClause, *syntax.BinaryCmd, *syntax.TestClause:
		e.mayExit = e.mayExit || e.reader.ends(stmt)
		return isGuard(stmt) && e.looks(stmt)
	case *syntax.ArithmCmd, *syntax.LetClause:
		return e.looks(stmt)
	case *syntax.Block:
		return len(stmt.Redirs) == 0 && e.all(c.Stmts)
	}
	return false
}

// call reads a simple command.
func (e *effect) call(c *syntax.CallExpr) bool {
	switch command(c) {
	case "shift":
		n, behind, ok := shiftBy(c)
		if !ok || behind || e.loop.value != "" {
			return false
		}
		if !e.loop.each {
			e.shifts += n
		}
		return e.shifts <= 2
	case "break":
		e.breaks = true
		return len(c.Args) == 1
	case "continue":
		e.skips = true
		return len(c.Args) == 1
	case "exit":
		e.exits = true
		return e.looks(c)
	case "", "return", "exec", "source", ".", "trap", "unset", "read", "readarray", "mapfile", "alias":
		return false
	}
	e.mayExit = e.mayExit || e.reader.ends(c)
	return !upsets(c) && e.looks(c)
}

// isGuard reports whether a statement only looks, and may end the script.
func isGuard(node syntax.Node) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			switch command(n) {
			case "break", "continue", "return", "exec", "source", ".", "read", "unset":
				found = true
			}
			found = found || len(n.Args) == 0 && len(n.Assigns) > 0
		case *syntax.DeclClause, *syntax.WhileClause, *syntax.ForClause:
			found = true
		}
		return !found
	})
	return !found && !upsets(node)
}

// looks notes how far a part of a script looks.
func (e *effect) looks(node syntax.Node) bool {
	places, ok := uses(node)
	if !ok {
		return false
	}
	for _, at := range places {
		if at == all || !e.touch(at) {
			return false
		}
	}
	if e.loop.value != "" && mentions(node, e.loop.value) {
		e.touched = 1
	}
	return true
}

// touch notes that the parameter at a place is looked at.
func (e *effect) touch(at int) bool {
	if e.loop.each || e.loop.value != "" {
		return false // it is whatever stands first
	}
	e.touched = max(e.touched, e.shifts+at-1)
	return e.touched <= 1
}

func mentions(node syntax.Node, name string) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && p.Param.Value == name {
			found = true
		}
		return !found
	})
	return found
}

func (e *effect) assigns(assigns []*syntax.Assign) bool {
	for _, a := range assigns {
		if a.Name == nil || a.Naked {
			continue
		}
		if upsets(a) || e.loop.aliases[a.Name.Value] || a.Name.Value == "OPTIND" || a.Name.Value == "IFS" || !e.looks(a) {
			return false
		}
		e.sets = append(e.sets, e.setting(a))
	}
	return true
}

// setting says what an assignment sets. Which value it takes is told by how far
// it looks; what it makes of it does not matter, but for "=", behind which the
// value must be whole.
func (e *effect) setting(a *syntax.Assign) setting {
	s := setting{variable: a.Name.Value, appended: a.Array != nil && (a.Append || len(a.Array.Elems) > 1)}
	word := a.Value
	if a.Array != nil && len(a.Array.Elems) > 0 {
		word = a.Array.Elems[len(a.Array.Elems)-1].Value
	}
	places, _ := uses(a)
	for _, at := range places {
		if e.shifts+at-1 == 1 {
			s.from = behind
			return s
		}
		s.from = here
	}
	if e.loop.value != "" && mentions(a, e.loop.value) {
		s.from = behind
		return s
	}
	for alias := range e.loop.aliases {
		if place(alias) == 0 && mentions(a, alias) {
			s.from = here
		}
	}
	if s.from == here && word != nil {
		name, exp, ok := bare(word)
		s.plain = ok && exp == nil && e.isHere(name)
		s.stripped = e.strips(word)
	}
	return s
}

func (e *effect) isHere(name string) bool {
	return e.loop.aliases[name] && place(name) == 0 || !e.loop.each && place(name) > 0 && e.shifts+place(name)-1 == 0
}

// strips reports whether a word is the argument at hand without what is before
// its first =.
func (e *effect) strips(word *syntax.Word) bool {
	p := expansion(word)
	if p == nil || p.Param == nil || p.Exp == nil || !e.isHere(p.Param.Value) {
		return false
	}
	pattern, _, _ := literal(p.Exp.Word)
	_, ok := stripsName(word, pattern)
	return ok && (pattern == "*=" || len(pattern) > 1 && optionText.MatchString(pattern[:len(pattern)-1]) && pattern[len(pattern)-1] == '=')
}
