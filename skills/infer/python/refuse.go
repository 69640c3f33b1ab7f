package python

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
)

// refuses reports whether statements tell a person about a mistake, and end the script
// or the function.
func (s *scope) refuses(body []*syntax.Stmt) bool {
	told := false
	for at, st := range body {
		switch {
		case st.Kind == syntax.ExprStmt && (st.Value.Kind == syntax.Const || s.tells(st.Value, 0)):
			told = told || mentionsUsage(st.Value)
			if s.exits(st.Value) {
				return true
			}
		case st.Kind == syntax.RaiseStmt:
			return true
		case st.Kind == syntax.ReturnStmt:
			fails := st.Value != nil && (st.Value.Kind == syntax.Const && !isNone(st.Value.Value) && st.Value.Value != value(int64(0)) || s.tells(st.Value, 0))
			return fails || at > 0 && (st.Value == nil || st.Value.Kind == syntax.Const || st.Value.Kind == syntax.Unary)
		case st.Kind == syntax.JumpStmt && st.Name == "":
		default:
			return false
		}
	}
	return told
}

// maxTold bounds the depth of functions that are looked into.
const maxTold = 8

// tells reports whether an expression prints a text, or ends the script.
func (s *scope) tells(n *syntax.Node, depth int) bool {
	if !isCall(n) {
		return false
	}
	name := syntax.Dotted(n.Kids[0])
	if fn, own := s.lookup(name).(*function); own {
		return depth < maxTold && s.onlyTells(fn, depth+1)
	}
	switch {
	case strings.HasPrefix(name, "sys.std"), strings.HasPrefix(name, "log"), strings.HasPrefix(name, "console."):
		return true
	case name == "sys.exit", name == "exit", name == "quit", name == "os._exit":
		return !slices.ContainsFunc(n.Kids[1:], func(kid *syntax.Node) bool {
			return kid.Any(func(n *syntax.Node) bool { return isCall(n) && !s.tells(n, depth) })
		})
	}
	return name == "print" || name == "pprint"
}

// onlyTells reports whether a function prints and does nothing else, as usage does.
func (s *scope) onlyTells(fn *function, depth int) bool {
	body := fn.Block()
	return len(body) > 0 && !slices.ContainsFunc(body, func(st *syntax.Stmt) bool {
		switch st.Kind {
		case syntax.ExprStmt:
			return st.Value.Kind != syntax.Const && !s.tells(st.Value, depth)
		case syntax.ReturnStmt:
			return st.Value != nil && st.Value.Kind != syntax.Const
		case syntax.AssignStmt:
			return st.Value.Any(isCall)
		}
		return true
	})
}

// exits reports whether an expression ends the script.
func (s *scope) exits(n *syntax.Node) bool {
	if !isCall(n) {
		return false
	}
	if fn, own := s.lookup(syntax.Dotted(n.Kids[0])).(*function); own {
		return slices.ContainsFunc(fn.Block(), func(st *syntax.Stmt) bool {
			return st.Kind == syntax.RaiseStmt || st.Kind == syntax.ExprStmt && isCall(st.Value) && endsScript(st.Value)
		})
	}
	return endsScript(n)
}

func endsScript(call *syntax.Node) bool {
	name := syntax.Dotted(call.Kids[0])
	return leaves(reference(name)) || leaves(reference("builtins."+name))
}

// mentionsUsage reports whether a text in an expression has the word "usage".
func mentionsUsage(n *syntax.Node) bool {
	return n.Any(func(n *syntax.Node) bool {
		text, _ := n.Value.(string)
		return n.Kind == syntax.Const && strings.Contains(strings.ToLower(text), "usage") || strings.Contains(strings.ToLower(n.Name), "usage") || n.Name == "__doc__"
	})
}
