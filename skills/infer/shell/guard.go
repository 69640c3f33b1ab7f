package shell

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// require reads a statement that ends the script without an argument, such as
// [ -z "$1" ] && exit.
func (a *arguments) require(stmt *syntax.Stmt) {
	switch c := stmt.Cmd.(type) {
	case *syntax.IfClause:
		if len(c.Cond) == 1 && a.script.anyEnds(c.Then) {
			a.fails(tests(c.Cond[0], false))
		}
	case *syntax.BinaryCmd:
		if (c.Op == syntax.AndStmt || c.Op == syntax.OrStmt) && a.script.ends(c.Y) {
			a.fails(tests(c.X, c.Op == syntax.OrStmt))
		}
	case *syntax.CallExpr: // : "${NAME:?…}"
		for _, word := range c.Args[min(1, len(c.Args)):] {
			if name, exp, ok := bare(word); ok && command(c) == ":" && isError(exp) {
				a.need(name)
			}
		}
	}
}

// fails reads tests any one of which ends the script.
func (a *arguments) fails(tests []test) {
	for _, t := range tests {
		switch {
		case t.op == "-z":
			a.need(t.name)
		case t.name == "#" && a.shifted == 0 && !a.getopts && !a.consumed:
			a.atLeast = max(a.atLeast, t.least())
		}
	}
}

// least returns the number of arguments without which a test of $# is true.
func (t test) least() int {
	n, err := strconv.Atoi(t.text)
	if err != nil || n < 0 || n > maxOptions {
		return 0
	}
	switch t.op {
	case "-lt", "<", "-ne", "!=":
		return n
	case "-le", "<=":
		return n + 1
	case "-eq", "=":
		if n == 0 {
			return 1
		}
	}
	return 0
}
