package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// markFiles notes the use of arguments as names of files.
func markFiles(c *cli.Command, uses map[string]*cli.File) {
	for _, a := range c.Arguments {
		number := place(a.Variable) > 0 && len(c.Commands) > 0 // behind a command it is another
		if a.Kind != cli.Switch && !number {
			a.File = uses[a.Variable]
		}
	}
	for _, below := range c.Commands {
		markFiles(below, uses)
	}
}

// fileUses returns the variables, and the places of arguments, that the script uses as names
// of files: in tests, redirections, and commands that want them.
func (s *script) fileUses() map[string]*cli.File {
	u := fileUses{found: map[string]*cli.File{}, loops: map[string]string{}}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			u.inside = append(u.inside, n)
		case *syntax.ForClause:
			u.loop(n)
		case *syntax.CallExpr:
			u.call(n)
		case *syntax.UnaryTest:
			if word, ok := n.X.(*syntax.Word); ok {
				u.test(n.Op.String(), word)
			}
		case *syntax.Redirect:
			switch n.Op {
			case syntax.RdrIn:
				u.use(n.Word, false)
			case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.RdrClob:
				u.use(n.Word, true)
			}
		}
		return true
	})
	return u.found
}

type fileUses struct {
	found  map[string]*cli.File
	loops  map[string]string  // variables of loops over "$@"
	inside []*syntax.FuncDecl // those that were seen
}

// use notes a word that is one expansion. Functions have arguments of their own.
func (u *fileUses) use(word *syntax.Word, written bool) {
	name, _, ok := bare(word)
	if !ok || place(name) > 0 && slices.ContainsFunc(u.inside, func(f *syntax.FuncDecl) bool {
		return f.Pos().Offset() < word.Pos().Offset() && word.End().Offset() <= f.End().Offset()
	}) {
		return
	}
	if of, looped := u.loops[name]; looped {
		name = of
	}
	f := u.found[name]
	if f == nil {
		f = &cli.File{}
		u.found[name] = f
	}
	f.Written, f.Read = f.Written || written, f.Read || !written
}

// loop notes the variable of a loop over all arguments, or over an array.
func (u *fileUses) loop(n *syntax.ForClause) {
	iter, ok := n.Loop.(*syntax.WordIter)
	switch {
	case !ok || iter.Name == nil:
	case !iter.InPos.IsValid():
		u.loops[iter.Name.Value] = "@"
	case len(iter.Items) == 1:
		if p := expansion(iter.Items[0]); p != nil && p.Param != nil && (place(p.Param.Value) == all || p.Index != nil) {
			u.loops[iter.Name.Value] = p.Param.Value
		}
	}
}

func (u *fileUses) test(op string, word *syntax.Word) {
	if slices.Contains([]string{"-f", "-d", "-e", "-r", "-s", "-w", "-x", "-L"}, op) {
		u.use(word, false)
	}
}

// call notes the words of commands that want names of files.
func (u *fileUses) call(call *syntax.CallExpr) {
	words := tested(call)
	if len(words) == 3 && text(words[0]) == "!" {
		words = words[1:]
	}
	if len(words) == 2 {
		u.test(text(words[0]), words[1])
	}
	name := command(call)
	if name != "mkdir" && name != "touch" && name != "cat" && name != "cd" {
		return
	}
	for _, word := range call.Args[1:] {
		if !strings.HasPrefix(text(word), "-") {
			u.use(word, name == "mkdir" || name == "touch")
		}
	}
}
