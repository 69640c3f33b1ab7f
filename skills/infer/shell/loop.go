package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A loop is a loop over the script's arguments with one case.
type loop struct {
	aliases map[string]bool // variables with the current argument
	before  int             // arguments that are shifted before the case
	after   int             // and behind it
	each    bool            // it is "for x in "$@"", one argument at a time
	forever bool            // only a break ends it
	// untilDashes is set where "--" ends it, and is the first argument behind it.
	untilDashes bool
	value       string // the variable with an option's value, with getopts
	items       []*syntax.CaseItem
}

// A condition is that of a while loop over arguments.
type condition int

const (
	unknown    condition = iota
	whileCount           // an argument is left
	whileText            // the next one is not empty
	forever
	untilDashes // the next one is not "--"
)

func conditionOf(stmt *syntax.Stmt) condition {
	if stmt.Background || len(stmt.Redirs) > 0 {
		return unknown
	}
	if name := command(stmt.Cmd); !stmt.Negated && (name == "true" || name == ":") {
		return forever
	}
	ways := tests(stmt, false)
	if len(ways) != 1 {
		return unknown
	}
	switch t := ways[0]; {
	case t.name == "#" && t.bare && t.text == "0" && slices.Contains([]string{"-gt", "-ne", "!=", ">"}, t.op),
		t.name == "#" && t.bare && t.text == "1" && (t.op == "-ge" || t.op == ">="):
		return whileCount
	case t.name == "1" && t.text == "" && (t.op == "-n" || t.op == "!="):
		return whileText
	case t.name == "1" && t.bare && t.text == "--" && t.op == "!=":
		return untilDashes
	}
	return unknown
}

// body reads the one case of a loop, and the shifts around it.
func (l *loop) body(stmts []*syntax.Stmt) bool {
	for _, stmt := range stmts {
		if !plain(stmt) {
			return false
		}
		switch c := stmt.Cmd.(type) {
		case *syntax.CaseClause:
			name, _, ok := bare(c.Word)
			if !ok || l.items != nil || !l.aliases[name] || len(c.Items) == 0 {
				return false
			}
			l.items = c.Items
		default:
			call, _ := c.(*syntax.CallExpr)
			if !(command(c) == "shift" && l.shift(call)) && !l.alias(assignments(stmt)) {
				return false
			}
		}
	}
	return l.items != nil
}

// alias reads key="$1" before the case.
func (l *loop) alias(assigns []*syntax.Assign) bool {
	for _, a := range assigns {
		name, exp, ok := bare(a.Value)
		if !ok || exp != nil || name != "1" || a.Name == nil || a.Append || a.Index != nil || l.before > 0 || l.items != nil || l.each || l.value != "" {
			return false
		}
		l.aliases[a.Name.Value] = true
	}
	return len(assigns) > 0
}

func (l *loop) shift(call *syntax.CallExpr) bool {
	n, behind, ok := shiftBy(call)
	if !ok || behind || n != 1 || l.value != "" {
		return false
	}
	switch {
	case l.each:
		return l.items != nil
	case l.items == nil:
		l.before++
		delete(l.aliases, "1") // it is another argument from here on
	default:
		l.after++
	}
	return l.before+l.after <= 1
}
