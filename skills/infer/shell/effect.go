package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// An effect is the use of the arguments by one item of a case.
type effect struct {
	loop   *loop
	script *script

	shifts  int  // arguments that are gone
	touched int  // arguments behind the option that it uses
	exits   bool // it ends the script
	mayExit bool
	breaks  bool // it ends the loop
	sets    []setting
}

// A setting is an assignment to a variable.
type setting struct {
	variable string
	from     origin
	appended bool // to an array
	stripped bool // of the text up to the first =
	plain    bool // the value is unchanged
}

// An origin is the source of a value.
type origin int

const (
	nowhere origin = iota // the script itself
	here                  // the current argument
	behind                // the argument behind it
)

// effectOf returns the effect of an item. ok is false where a statement of it is
// not understood.
func effectOf(item *syntax.CaseItem, l *loop, s *script) (e *effect, ok bool) {
	e = &effect{loop: l, script: s}
	return e, e.all(item.Stmts) && e.settle()
}

// all reads statements. It is false where one is not understood.
func (e *effect) all(stmts []*syntax.Stmt) bool {
	for _, stmt := range stmts {
		if e.exits || e.breaks {
			return true
		}
		if stmt.Background || stmt.Coprocess || stmt.Negated || !e.stmt(stmt) {
			return false
		}
	}
	return true
}

// settle counts the shifts behind the case.
func (e *effect) settle() bool {
	if !e.breaks && !e.exits {
		e.shifts += e.loop.after
	}
	if e.loop.value != "" {
		e.shifts = 1 + e.touched // the loop goes on by itself
		return !e.breaks
	}
	return true
}

func (e *effect) stmt(stmt *syntax.Stmt) bool {
	if assigns := assignments(stmt); assigns != nil {
		return e.assigns(assigns)
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && e.call(c)
	case *syntax.IfClause, *syntax.BinaryCmd, *syntax.TestClause, *syntax.CaseClause:
		e.mayExit = e.mayExit || e.script.ends(stmt)
		return isGuard(stmt) && e.looks(stmt)
	case *syntax.ArithmCmd, *syntax.LetClause:
		return e.looks(stmt)
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
		e.shifts += n
		return e.shifts <= 2
	case "break":
		e.breaks = true
		return len(c.Args) == 1
	case "exit":
		e.exits = true
		return e.looks(c)
	case "", "continue", "return", "exec", "source", ".", "trap", "unset", "read", "readarray", "mapfile", "alias":
		return false
	}
	e.mayExit = e.mayExit || e.script.ends(c)
	return !upsets(c) && e.looks(c)
}

// isGuard reports whether a statement sets nothing, and at most ends the script.
func isGuard(node syntax.Node) bool {
	return !upsets(node) && !contains(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			switch command(n) {
			case "break", "continue", "return", "exec", "source", ".", "read", "unset":
				return true
			}
			return len(n.Args) == 0 && len(n.Assigns) > 0
		case *syntax.DeclClause, *syntax.WhileClause, *syntax.ForClause:
			return true
		}
		return false
	})
}

// looks reads the uses of arguments in a part of the item.
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

// touch reads a use of the parameter at a place.
func (e *effect) touch(at int) bool {
	if e.loop.value != "" {
		return false // the places are those of all arguments
	}
	e.touched = max(e.touched, e.shifts+at-1)
	return e.touched <= 1
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

// setting returns the effect of an assignment. The farthest argument that it uses
// is the value. How the script converts it does not matter, but of "=", behind
// which the value must be whole.
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
	return e.loop.aliases[name] && place(name) == 0 || place(name) > 0 && e.shifts+place(name)-1 == 0
}

// strips reports whether a word is the current argument without the text up to
// its first =: "${1#*=}" or "${1#--name=}".
func (e *effect) strips(word *syntax.Word) bool {
	p := expansion(word)
	if p == nil || p.Param == nil || odd(p) || p.Exp == nil || p.Exp.Op != syntax.RemSmallPrefix || !e.isHere(p.Param.Value) {
		return false
	}
	pattern, _, _ := literal(p.Exp.Word)
	name, isPrefix := strings.CutSuffix(pattern, "=")
	return isPrefix && (name == "*" || optionText.MatchString(name))
}
