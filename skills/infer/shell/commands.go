package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Command is one simple command of a script.
type Command struct {
	// Words are the program and its arguments; a word that is not certain has "…" for
	// its expansions.
	Words []string
	// From are the programs whose output it receives or has among its words, the nearest
	// first; at most maxFrom.
	From []string
	Line int // from 1
}

// maxFrom bounds the sources of a command.
const maxFrom = 16

// Commands returns the simple commands of a text for bash, in the order of the text. A
// text that cannot be read as a whole is read line by line, and lines that cannot be
// read have none.
func Commands(source string) []Command {
	if all, ok := commandsOf(source, 1); ok {
		return all
	}
	var all []Command
	line := 0
	for text := range strings.Lines(source) {
		line++
		found, _ := commandsOf(text, line)
		all = append(all, found...)
	}
	return all
}

// commandsOf returns the commands of a text that begins at a line.
func commandsOf(source string, line int) ([]Command, bool) {
	_, file := parse([]byte(source))
	if file == nil {
		return nil, false
	}
	l := lister{from: map[*syntax.CallExpr][]string{}}
	syntax.Walk(file, l.visit)
	for i, call := range l.calls {
		c := &l.commands[i]
		c.Line += line - 1
		c.From = append(l.from[call], substituted(call)...)
		c.From = c.From[:min(len(c.From), maxFrom)]
	}
	return l.commands, true
}

// A lister lists the commands of a syntax tree.
type lister struct {
	calls    []*syntax.CallExpr
	commands []Command // of calls
	from     map[*syntax.CallExpr][]string
}

func (l *lister) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			l.calls = append(l.calls, n)
			l.commands = append(l.commands, Command{Words: texts(n.Args), Line: int(n.Pos().Line())})
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			l.pipe(n)
		}
	case *syntax.Stmt:
		l.redirect(n)
	}
	return true
}

// pipe notes the programs that a command at the right of a pipe reads from.
func (l *lister) pipe(n *syntax.BinaryCmd) {
	names := programs(n.X, nil)
	for _, call := range calls(n.Y, nil) {
		l.from[call] = append(l.from[call], names...)
	}
}

// redirect notes the programs whose output a statement reads.
func (l *lister) redirect(s *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	for _, r := range s.Redirs {
		if r.Op == syntax.RdrIn || r.Op == syntax.WordHdoc {
			l.from[call] = append(l.from[call], substitutions(r.Word)...)
		}
	}
}

// calls returns the first calls of a statement, the last of a pipe first.
func calls(s *syntax.Stmt, all []*syntax.CallExpr) []*syntax.CallExpr {
	for s != nil && len(all) < maxFrom {
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			return append(all, c)
		case *syntax.BinaryCmd:
			all = calls(c.Y, all)
			s = c.X
		case *syntax.Subshell:
			return group(c.Stmts, all)
		case *syntax.Block:
			return group(c.Stmts, all)
		default:
			return all
		}
	}
	return all
}

// group returns the calls of some statements.
func group(stmts []*syntax.Stmt, all []*syntax.CallExpr) []*syntax.CallExpr {
	for _, s := range stmts {
		all = calls(s, all)
	}
	return all
}

// programs returns the names of the programs of a statement's calls.
func programs(s *syntax.Stmt, names []string) []string {
	for _, call := range calls(s, nil) {
		if len(call.Args) > 0 && len(names) < maxFrom {
			names = append(names, text(call.Args[0]))
		}
	}
	return names
}

// substituted returns the names of the programs whose output is among the words of a
// call.
func substituted(call *syntax.CallExpr) (names []string) {
	for _, word := range call.Args {
		if names = append(names, substitutions(word)...); len(names) >= maxFrom {
			return names
		}
	}
	return names
}

func substitutions(word *syntax.Word) (names []string) {
	if word == nil {
		return nil
	}
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.CmdSubst:
			names = append(names, statements(p.Stmts)...)
		case *syntax.ProcSubst:
			names = append(names, statements(p.Stmts)...)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if c, ok := inner.(*syntax.CmdSubst); ok {
					names = append(names, statements(c.Stmts)...)
				}
			}
		}
	}
	return names
}

func statements(stmts []*syntax.Stmt) (names []string) {
	for _, s := range stmts {
		names = programs(s, names)
	}
	return names
}

func texts(words []*syntax.Word) []string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = text(word)
	}
	return all
}

// text returns a word without its quotes, and with "…" for each expansion.
func text(word *syntax.Word) string {
	if word == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			value, _ := unescape(p.Value)
			b.WriteString(value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				} else {
					b.WriteString("…")
				}
			}
		default:
			b.WriteString("…")
		}
	}
	return b.String()
}
