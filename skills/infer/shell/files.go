package shell

import (
	"slices"

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
	contains(s.file, u.visit)
	u.outside = true
	for _, step := range s.steps() {
		containsOutside(step.stmt, u.visit)
	}
	return u.found
}

type fileUses struct {
	found   map[string]*cli.File
	loops   map[string]string // variables of loops over lists
	outside bool              // of functions that have arguments of their own
}

// visit notes the uses in a node itself.
func (u *fileUses) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ForClause:
		if iter, ok := n.Loop.(*syntax.WordIter); ok && iter.Name != nil {
			u.loops[iter.Name.Value] = list(iter)
		}
	case *syntax.CallExpr:
		u.call(n)
	case *syntax.UnaryTest:
		word, _ := n.X.(*syntax.Word)
		u.test(n.Op.String(), word)
	case *syntax.Redirect:
		switch n.Op {
		case syntax.RdrIn:
			u.use(n.Word, false)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.RdrClob:
			u.use(n.Word, true)
		}
	}
	return false
}

// list returns the name of the one list that a loop runs over: "@" for all arguments.
func list(iter *syntax.WordIter) string {
	if !iter.InPos.IsValid() {
		return "@"
	}
	if len(iter.Items) == 1 {
		if p := expansion(iter.Items[0]); p != nil && p.Param != nil && (place(p.Param.Value) == all || p.Index != nil) {
			return p.Param.Value
		}
	}
	return ""
}

// use notes a word that is one expansion.
func (u *fileUses) use(word *syntax.Word, written bool) {
	name, _, ok := bare(word)
	if of, looped := u.loops[name]; looped {
		name = of
	}
	if !ok || (place(name) > 0) != u.outside {
		return
	}
	if u.found[name] == nil {
		u.found[name] = &cli.File{}
	}
	f := u.found[name]
	f.Written, f.Read = f.Written || written, f.Read || !written
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
	if makes := name == "mkdir" || name == "touch"; makes || name == "cat" || name == "cd" {
		for _, word := range call.Args[1:] {
			u.use(word, makes)
		}
	}
}
