package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// firstUse returns the line of the first use of the script's arguments outside of its
// functions, which have arguments of their own; 0 where there is none.
func (s *script) firstUse() (line int) {
	containsOutside(s.file, func(n syntax.Node) bool {
		if !s.touches(n) {
			return false
		}
		line = int(n.Pos().Line())
		return true
	})
	return line
}

// touches reports whether a node by itself refers to the script's arguments, or runs
// code that may.
func (s *script) touches(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.ParamExp:
		return n.Param == nil || n.Param.Value == "#" || place(n.Param.Value) > 0 || strings.HasPrefix(n.Param.Value, "BASH_ARG") || n.Excl && n.Index == nil && n.Names == 0
	case *syntax.ForClause:
		words, ok := n.Loop.(*syntax.WordIter)
		return ok && !words.InPos.IsValid()
	case *syntax.CallExpr:
		switch command(n) {
		case "eval":
			return !slices.ContainsFunc(n.Args[1:], isOutput)
		case "source", ".":
			return len(n.Args) < 2 || mayParse(n.Args[1])
		}
		return s.functions[command(n)] == nil && changes(n)
	}
	return false
}

// isOutput reports whether a word is the output of a command, as in eval "$(…)".
func isOutput(word *syntax.Word) bool {
	return contains(word, func(n syntax.Node) bool { _, ok := n.(*syntax.CmdSubst); return ok })
}

// mayParse reports whether a script that is sourced may read the arguments, by its
// name.
func mayParse(word *syntax.Word) bool {
	name := strings.ToLower(text(word))
	return slices.ContainsFunc([]string{"arg", "opt", "cli", "param", "flag"}, func(part string) bool {
		return strings.Contains(name[strings.LastIndexByte(name, '/')+1:], part)
	})
}

// readsInput reports whether a part of the script reads standard input, or a function that
// it calls. Seen are the functions that were looked at.
func (s *script) readsInput(node syntax.Node, seen map[string]bool) (found bool) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if slices.ContainsFunc(n.Redirs, feeds) {
				return false
			}
		case *syntax.FuncDecl:
			return false
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				found = found || s.readsInput(n.X, seen)
				return false
			}
		case *syntax.CallExpr:
			found = found || isReader(n)
			if body := s.functions[command(n)]; body != nil && !seen[command(n)] {
				seen[command(n)] = true
				found = found || s.readsInput(body, seen)
			}
		}
		return !found
	})
	return found
}

// feeds reports whether a redirection gives a command its input.
func feeds(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return text(r.Word) != "/dev/stdin"
	}
	return false
}

// isReader reports whether a command reads standard input, which nothing feeds.
func isReader(call *syntax.CallExpr) bool {
	operands := slices.DeleteFunc(texts(call.Args[min(1, len(call.Args)):]), func(word string) bool { return strings.HasPrefix(word, "-") && word != "-" })
	switch command(call) {
	case "read", "mapfile", "readarray":
		return !slices.Contains(texts(call.Args), "-u")
	case "jq":
		return slices.Contains(operands, "/dev/stdin") || len(operands) <= 1 && !slices.ContainsFunc(texts(call.Args), func(word string) bool { return word == "-n" || word == "--null-input" })
	case "cat", "tee", "sort":
		return len(operands) == 0 && command(call) != "tee" || slices.Contains(operands, "-")
	}
	return slices.Contains(operands, "/dev/stdin")
}
