package shell

import "mvdan.cc/sh/v3/syntax"

// branch returns the statements that replace one which chooses them by the first
// argument. It reports false where that is not known.
func (a *arguments) branch(stmt *syntax.Stmt) (body []*syntax.Stmt, known bool) {
	if a.first == "" || !plain(stmt) {
		return nil, false
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.CaseClause:
		return a.item(c)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			if len(c.Cond) == 0 {
				return c.Then, true
			}
			is, known := a.holds(c.Cond[0])
			if !known || len(c.Cond) > 1 {
				return nil, false
			}
			if is {
				return c.Then, true
			}
		}
		return nil, true
	}
	return nil, false
}

// item returns the statements of a case of the first argument.
func (a *arguments) item(c *syntax.CaseClause) (body []*syntax.Stmt, known bool) {
	if !a.isFirst(c.Word) {
		return nil, false
	}
	for _, item := range c.Items {
		for _, word := range item.Patterns {
			pattern, glob, ok := literal(word)
			switch {
			case !ok || item.Op != syntax.Break || glob && pattern != "*" && pattern[0] != '-':
				return nil, false
			case pattern == a.first || glob && pattern == "*":
				return item.Stmts, true
			}
		}
	}
	return nil, true
}

// holds reports whether a condition on the first argument, or on the number of arguments,
// is true. It reports false where that is not known.
func (a *arguments) holds(cond *syntax.Stmt) (is, known bool) {
	known = true
	for _, t := range tests(cond, false) {
		switch first := t.word != nil && a.isFirst(t.word); {
		case first && (t.op == "=" || t.op == "!="):
			is = is || (t.text == a.first) == (t.op == "=")
		case first && (t.op == "-z" || t.op == "-n"):
			is = is || t.op == "-n"
		case t.name == "#" && t.least() == 1 && a.shifted == 0 && a.chosen == nil:
		default:
			known = false
		}
	}
	return is, known || is
}
