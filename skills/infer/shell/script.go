package shell

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The limits of a script. The parser needs about 2 KiB of memory for each open
// bracket, so their number is bounded too.
const (
	maxSource   = 64 << 10 // bytes
	maxBrackets = 3000
	maxOptions  = 128
	maxInlined  = 3 // functions, one in the other
)

// parse returns the text of a script and its syntax tree as bash reads it. The tree is
// nil if it is no script or over a limit.
func parse(source []byte) (text string, file *syntax.File) {
	brackets := bytes.Count(source, []byte("(")) + bytes.Count(source, []byte("["))
	if len(source) > maxSource || bytes.IndexByte(source, 0) >= 0 || brackets > maxBrackets {
		return "", nil
	}
	text = strings.ReplaceAll(strings.TrimPrefix(strings.ToValidUTF8(string(source), "\uFFFD"), "\uFEFF"), "\r\n", "\n")
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return "", nil
	}
	return text, file
}

// A script is a syntax tree with its functions.
type script struct {
	text      string
	file      *syntax.File
	functions map[string]*syntax.Stmt // of the top level; nil if declared twice
	ending    map[string]bool         // commands that may end the script
}

func newScript(text string, file *syntax.File) *script {
	s := &script{text: text, file: file, functions: map[string]*syntax.Stmt{}}
	for _, stmt := range file.Stmts {
		f, ok := stmt.Cmd.(*syntax.FuncDecl)
		if !ok || f.Name == nil {
			continue
		}
		body := f.Body
		if _, twice := s.functions[f.Name.Value]; twice {
			body = nil
		}
		s.functions[f.Name.Value] = body
	}
	s.ending = ending(s.functions)
	return s
}

// ending returns exit and the functions that call it, directly or not.
func ending(functions map[string]*syntax.Stmt) map[string]bool {
	callers := map[string][]string{}
	for name, body := range functions {
		if body == nil {
			continue
		}
		contains(body, func(n syntax.Node) bool {
			if called := command(n); called != "" {
				callers[called] = append(callers[called], name)
			}
			return false
		})
	}
	ending := map[string]bool{}
	for todo := []string{"exit"}; len(todo) > 0; todo = todo[1:] {
		if !ending[todo[0]] {
			ending[todo[0]] = true
			todo = append(todo, callers[todo[0]]...)
		}
	}
	return ending
}

// ends reports whether a part of the script may end it.
func (s *script) ends(node syntax.Node) bool {
	return contains(node, func(n syntax.Node) bool { return s.ending[command(n)] })
}

func (s *script) anyEnds(stmts []*syntax.Stmt) bool {
	return slices.ContainsFunc(stmts, func(stmt *syntax.Stmt) bool { return s.ends(stmt) })
}

// shadows reports whether a function has the name of a command that is
// understood.
func (s *script) shadows() bool {
	for _, name := range []string{"shift", "set", "getopts", "getopt", "eval", "exit", "break", "continue", "test", "[", ":", "true", "command", "builtin", "exec", "return", "source", "."} {
		if _, ok := s.functions[name]; ok {
			return true
		}
	}
	return false
}

// A step is a statement in the order of execution.
type step struct {
	stmt *syntax.Stmt
	// sealed is set behind a function that read a copy of the arguments: they
	// are all still there.
	sealed bool
}

// steps returns the script's statements, with the body of a function in the
// place of its call with "$@", and the body of a main guard in its place.
func (s *script) steps() []step { return s.flatten(s.file.Stmts, 0, false) }

func (s *script) flatten(stmts []*syntax.Stmt, depth int, sealed bool) []step {
	var steps []step
	for _, stmt := range stmts {
		inner, called := s.inlined(stmt)
		if inner == nil || depth == maxInlined || sealed {
			steps = append(steps, step{stmt, sealed})
			continue
		}
		steps = append(steps, s.flatten(inner, depth+1, sealed)...)
		sealed = sealed || called
	}
	return steps
}

// inlined returns the statements that replace one, or nil.
func (s *script) inlined(stmt *syntax.Stmt) (stmts []*syntax.Stmt, called bool) {
	if !plain(stmt) {
		return nil, false
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) != 2 || len(c.Assigns) > 0 {
			return nil, false
		}
		body := s.functions[command(c)]
		if name, _, ok := bare(c.Args[1]); !ok || name != "@" || body == nil || len(body.Redirs) > 0 {
			return nil, false
		}
		if block, ok := body.Cmd.(*syntax.Block); ok {
			return block.Stmts, true
		}
	case *syntax.IfClause:
		if c.Else == nil && isMainGuard(c.Cond) {
			return c.Then, false
		}
	}
	return nil, false
}

// isMainGuard reports whether a condition compares $0 with BASH_SOURCE.
func isMainGuard(cond []*syntax.Stmt) bool {
	return slices.ContainsFunc(cond, func(stmt *syntax.Stmt) bool {
		return mentions(stmt, "BASH_SOURCE") && mentions(stmt, "0")
	})
}

// upsets reports whether a part of a script changes its positional parameters,
// or runs a text as commands.
func upsets(node syntax.Node) bool {
	return containsOutside(node, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		return ok && changes(call)
	})
}

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
