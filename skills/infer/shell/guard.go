package shell

import (
	"slices"
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

// endsWell reports whether a node ends the script, and may do so with success.
func endsWell(node syntax.Node) bool {
	call, _ := node.(*syntax.CallExpr)
	if call == nil {
		return false
	}
	switch command(call) {
	case "exec":
		return true
	case "exit", "return":
		return len(call.Args) < 2 || text(call.Args[1]) == "0"
	}
	return false
}

// fails reports whether a statement certainly ends the script with a failure, or the
// function around it.
func (s *script) fails(stmt *syntax.Stmt) bool {
	return command(stmt.Cmd) == "return" && !endsWell(stmt.Cmd) || s.dies(stmt, maxInlined)
}

// dies reports whether a statement certainly ends the script with a failure.
func (s *script) dies(stmt *syntax.Stmt, depth int) bool {
	name := command(stmt.Cmd)
	if name == "exit" || name == "" || depth == 0 || s.functions[name] == nil {
		return name == "exit" && !endsWell(stmt.Cmd)
	}
	block, ok := s.functions[name].Cmd.(*syntax.Block)
	return ok && slices.ContainsFunc(block.Stmts, func(inner *syntax.Stmt) bool { return s.dies(inner, depth-1) })
}
