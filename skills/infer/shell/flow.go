package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

// A step is a statement in the order in which a script goes through them.
type step struct {
	stmt *syntax.Stmt
	// sealed says that the arguments were read in a function before, so that
	// they are all still there.
	sealed bool
}

// maxInlined is how many functions, one in the other, are followed.
const maxInlined = 3

// functionsOf returns the functions that a file declares at its top, by name. One
// that is declared twice has no body.
func functionsOf(file *syntax.File) map[string]*syntax.Stmt {
	functions := map[string]*syntax.Stmt{}
	for _, stmt := range file.Stmts {
		f, ok := stmt.Cmd.(*syntax.FuncDecl)
		if !ok || f.Name == nil {
			continue
		}
		if _, twice := functions[f.Name.Value]; twice {
			functions[f.Name.Value] = nil
			continue
		}
		functions[f.Name.Value] = f.Body
	}
	return functions
}

// shadows reports whether a function has the name of a command that is
// understood.
func shadows(functions map[string]*syntax.Stmt) bool {
	for _, name := range []string{"shift", "set", "getopts", "eval", "exit", "break", "continue", "test", "[", ":", "true", "command", "builtin", "exec", "return", "source", "."} {
		if _, ok := functions[name]; ok {
			return true
		}
	}
	return false
}

// flatten puts the body of a function in the place of its call with "$@", and
// what a main guard guards in its place.
func (r *reader) flatten(stmts []*syntax.Stmt, depth int, sealed bool) []step {
	var steps []step
	for _, stmt := range stmts {
		inner, called := r.inlined(stmt)
		if inner == nil || depth == maxInlined || sealed {
			steps = append(steps, step{stmt, sealed})
			continue
		}
		steps = append(steps, r.flatten(inner, depth+1, sealed)...)
		sealed = sealed || called
	}
	return steps
}

// inlined returns the statements that stand for one, or nil.
func (r *reader) inlined(stmt *syntax.Stmt) (stmts []*syntax.Stmt, called bool) {
	if stmt.Negated || stmt.Background || len(stmt.Redirs) > 0 {
		return nil, false
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) != 2 || len(c.Assigns) > 0 {
			return nil, false
		}
		if name, _, ok := bare(c.Args[1]); !ok || name != "@" {
			return nil, false
		}
		return blockOf(r.functions[command(c)]), true
	case *syntax.IfClause:
		if c.Else == nil && isMainGuard(c.Cond) {
			return c.Then, false
		}
	}
	return nil, false
}

func blockOf(body *syntax.Stmt) []*syntax.Stmt {
	if body == nil || len(body.Redirs) > 0 {
		return nil
	}
	if block, ok := body.Cmd.(*syntax.Block); ok {
		return block.Stmts
	}
	return nil
}

func isMainGuard(cond []*syntax.Stmt) bool {
	source, zero := false, false
	for _, stmt := range cond {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
				source = source || p.Param.Value == "BASH_SOURCE"
				zero = zero || p.Param.Value == "0"
			}
			return true
		})
	}
	return source && zero
}

// findEnding returns the commands that seem to end the script: exit, and the
// functions that call one of these.
func findEnding(functions map[string]*syntax.Stmt) map[string]bool {
	callers := map[string][]string{}
	for name, body := range functions {
		if body == nil {
			continue
		}
		syntax.Walk(body, func(n syntax.Node) bool {
			if called := command(n); called != "" {
				callers[called] = append(callers[called], name)
			}
			return true
		})
	}
	ending := map[string]bool{"exit": true}
	for todo := []string{"exit"}; len(todo) > 0; {
		called := todo[0]
		todo = todo[1:]
		for _, name := range callers[called] {
			if !ending[name] {
				ending[name] = true
				todo = append(todo, name)
			}
		}
	}
	return ending
}

// calls reports whether a part of a script calls one of these.
func calls(node syntax.Node, names map[string]bool) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		found = found || names[command(n)]
		return !found
	})
	return found
}

// ends reports whether a part of a script may end it.
func (r *reader) ends(node syntax.Node) bool { return calls(node, r.ending) }

// upsets reports whether a part of a script changes its positional parameters,
// or may do anything.
func upsets(node syntax.Node) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			found = found || changes(n)
		}
		return !found
	})
	return found
}

// changes reports whether a command changes the positional parameters, or may do
// anything.
func changes(call *syntax.CallExpr) bool {
	name := command(call)
	if (name == "builtin" || name == "command") && len(call.Args) > 1 {
		name, _, _ = literal(call.Args[1])
	}
	switch name {
	case "shift", "getopts", "eval":
		return true
	case "set":
		return command(call) != "set" || !setsOptions(call)
	}
	return false
}

// setsOptions reports whether a call of set only turns options on and off.
func setsOptions(call *syntax.CallExpr) bool {
	named := false // the word before was -o
	for _, word := range call.Args[1:] {
		text, _, ok := literal(word)
		switch {
		case !ok, text == "--", text == "-":
			return false
		case named:
			named = false
		case len(text) < 2 || text[0] != '-' && text[0] != '+':
			return false
		default:
			named = text[len(text)-1] == 'o'
		}
	}
	return true
}
