package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// Runs reports whether the script does something when it is run, beyond defining
// functions and variables for others that source it. A script that only prints
// how to source it does nothing. A source that cannot be read runs.
func (m *Module) Runs() bool {
	file := m.parse()
	if file == nil {
		return true
	}
	functions := slices.ContainsFunc(file.Stmts, func(s *syntax.Stmt) bool { _, ok := s.Cmd.(*syntax.FuncDecl); return ok })
	return !functions || slices.ContainsFunc(file.Stmts, acts)
}

// acts reports whether a statement is a reason to run the script.
func acts(stmt *syntax.Stmt) bool {
	switch c := stmt.Cmd.(type) {
	case nil, *syntax.FuncDecl, *syntax.DeclClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		return false
	case *syntax.CallExpr:
		switch command(c) {
		case "set", "shopt", "source", ".", ":", "true", "[", "test", "trap", "umask", "unset", "exit", "return", "alias", "command", "builtin", "type", "hash":
			return false
		case "echo", "printf":
			return slices.ContainsFunc(c.Args, tells)
		}
		return len(c.Args) > 0
	case *syntax.BinaryCmd:
		return acts(c.X) || acts(c.Y)
	case *syntax.Block:
		return slices.ContainsFunc(c.Stmts, acts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			if slices.ContainsFunc(c.Then, acts) {
				return true
			}
		}
		return false
	}
	return true
}

// tells reports whether a word prints more than a text and the script's name.
func tells(word *syntax.Word) bool {
	return contains(word, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst, *syntax.ArithmExp:
			return true
		case *syntax.ParamExp:
			return n.Param == nil || n.Param.Value != "0" && n.Param.Value != "BASH_SOURCE"
		}
		return false
	})
}

// ReadsInput reports whether a command of the script reads its standard input.
func (m *Module) ReadsInput() bool {
	file := m.parse()
	if file == nil {
		return false
	}
	s := newScript(m.text, file)
	return s.readsInput(file, map[string]bool{})
}
