package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A loop is a loop over the script's arguments with one case.
type loop struct {
	aliases map[string]bool // variables with the current argument
	after   int             // arguments that are shifted behind the case
	value   string          // the variable with an option's value, with getopts
	items   []*syntax.CaseItem
}

// argumentsLeft reports whether a command asks whether an argument is left.
func argumentsLeft(stmt *syntax.Stmt) bool {
	ways := tests(stmt, false)
	if stmt.Background || len(stmt.Redirs) > 0 || len(ways) != 1 {
		return false
	}
	t := ways[0]
	return t.name == "#" && t.bare && (t.text == "0" && slices.Contains([]string{"-gt", "-ne", "!=", ">"}, t.op) || t.text == "1" && (t.op == "-ge" || t.op == ">="))
}

// body reads the one case of a loop, and the shift behind it.
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
		if !ok || exp != nil || name != "1" || a.Name == nil || a.Append || a.Index != nil || l.items != nil || l.value != "" {
			return false
		}
		l.aliases[a.Name.Value] = true
	}
	return len(assigns) > 0
}

// shift reads the one shift behind the case.
func (l *loop) shift(call *syntax.CallExpr) bool {
	n, behind, ok := shiftBy(call)
	l.after++
	return ok && !behind && n == 1 && l.value == "" && l.items != nil && l.after == 1
}
