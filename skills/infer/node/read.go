package node

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// A Module is the source of a JavaScript or TypeScript program. It is parsed at most
// once, when the first method needs it, and is not safe for concurrent use.
type Module struct {
	source []byte
	tree   *syntax.Tree // nil before it is needed
}

// NewModule returns the module with this source, which must not change.
func NewModule(source []byte) *Module { return &Module{source: source} }

// parse reads the source. It reports false for one that cannot be read.
func (m *Module) parse() bool {
	if len(m.source) > MaxSource {
		return false
	}
	if m.tree == nil {
		m.tree = syntax.Parse(string(m.source))
	}
	return m.tree.Broken == 0
}

// A Script is the result of reading a program.
type Script struct {
	// CommandLine is nil where it is not known without running the program; then a note
	// says why.
	CommandLine *cli.CommandLine
	Notes       []js.Note
}

// Read returns the arguments of the program. It takes time and memory in proportion to
// the source.
func (m *Module) Read() *Script {
	if !m.parse() {
		switch {
		case m.tree != nil:
			return &Script{Notes: []js.Note{{Line: int(m.tree.Broken), Text: "the source cannot be read"}}}
		case m.mentionsArguments():
			return &Script{Notes: []js.Note{{Text: "the source is too large to be read"}}}
		}
		return &Script{CommandLine: cli.New(&cli.Command{})}
	}
	e := newEvaluator(len(m.source))
	e.follow(m.tree.Body, e.globals)
	for at := 0; at < len(e.closures); at++ {
		e.Callback(e.closures[at])
	}
	return m.result(e)
}

// mentionsArguments reports whether a source that is not parsed may read arguments.
func (m *Module) mentionsArguments() bool {
	for _, word := range []string{"argv", "Deno.args", "parseArgs", "commander", "yargs", "meow", "getopts", "command-line-args", "oclif", "citty", "cac"} {
		if bytes.Contains(m.source, []byte(word)) {
			return true
		}
	}
	return false
}

// readsInput matches the ways to read standard input.
var readsInput = []string{"process.stdin", "/dev/stdin", "readFileSync(0", "readSync(0", "Deno.stdin", "Bun.stdin"}

// result returns the command line that the evaluation found.
func (m *Module) result(e *evaluator) *Script {
	text := m.usage(e)
	var command *js.Command
	switch {
	case len(e.Doubts) > 0:
	case len(e.Parses) > 1:
		e.Doubt(e.Parses[1].Line, "the arguments are read several times")
	case len(e.Parses) == 1 && !e.Argv.Empty():
		e.Doubt(e.Parses[0].Line, "the arguments are read by a library and by the program itself")
	case len(e.Parses) == 1:
		command = e.Parses[0].Command
	case e.libraries.Declares():
		e.Doubt(0, "the program declares arguments and does not read them")
	case !e.Argv.Empty():
		command = m.plain(e, text)
	default:
		command = m.without(e)
	}
	if command == nil || len(e.Doubts) > 0 {
		return &Script{Notes: sorted(e.Doubts)}
	}
	laid := command.Lay(e.Record, text, true)
	line := cli.New(laid)
	switch {
	case len(e.Doubts) > 0:
		line = nil
	case line == nil:
		e.Doubt(0, "the program has more than %d arguments", cli.MaxProperties)
	}
	return &Script{CommandLine: line, Notes: sorted(e.Doubts)}
}

func sorted(notes []js.Note) []js.Note {
	slices.SortStableFunc(notes, func(a, b js.Note) int { return cmp.Compare(a.Line, b.Line) })
	return notes
}

// plain returns the arguments of a program that reads process.argv itself.
func (m *Module) plain(e *evaluator, _ usagetext.Text) *js.Command {
	if e.Argv.Rest != nil && len(e.Argv.Options) > 0 && !e.Argv.Filtered && !e.Argv.Indexed {
		e.Doubt(e.Argv.Rest.Line, "options and other arguments are not told apart")
	}
	m.remark(e.Argv.Positionals...)
	m.remark(e.Argv.Rest)
	m.remark(e.Argv.Options...)
	return &js.Command{Words: e.Argv}
}

// without returns a command that takes no arguments, and nil where it may take some.
func (m *Module) without(e *evaluator) *js.Command {
	if e.local != "" {
		e.Doubt(e.localLine, "%s may read arguments", e.local)
		return nil
	}
	for _, word := range readsInput {
		if bytes.Contains(m.source, []byte(word)) {
			e.Doubt(0, "the program reads its standard input")
			return nil
		}
	}
	return &js.Command{}
}

// remark gives arguments without a description the comment behind them on their line.
func (m *Module) remark(all ...*js.Argument) {
	for _, a := range all {
		if a == nil || a.Description != "" || a.Line == 0 {
			continue
		}
		for _, c := range m.tree.Comments {
			if c.Line == a.Line && !strings.Contains(c.Text, "eslint") && !strings.HasPrefix(c.Text, "@") {
				a.Comment = strings.TrimSpace(c.Text)
			}
		}
	}
}

// usage returns the usage texts of the program: of libraries, texts that it prints, and
// comments.
func (m *Module) usage(e *evaluator) usagetext.Text {
	texts := e.Texts
	for _, n := range m.tree.Body {
		n.Each(func(n *syntax.Node) bool {
			if n.Kind == syntax.Block || n.Kind == syntax.If || n.Kind == syntax.Case {
				if text := printed(n); isUsage(text) {
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	top := printed(&syntax.Node{Kind: syntax.Block, Kids: m.tree.Body})
	if isUsage(top) {
		texts = append(texts, top)
	}
	for _, c := range m.tree.Comments {
		if isUsage(c.Text) {
			texts = append(texts, strings.ReplaceAll(c.Text, "\n *", "\n"))
		}
	}
	return usagetext.Parse(texts...)
}

func isUsage(text string) bool {
	lower := strings.ToLower(text)
	for _, word := range []string{"usage", "options:", "arguments:", "args:"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// printed returns the texts of a block's own statements, one a line.
func printed(block *syntax.Node) string {
	var b strings.Builder
	for _, n := range block.Kids {
		if n == nil || n.Kind != syntax.Expression && n.Kind != syntax.Variable && n.Kind != syntax.Throw && n.Kind != syntax.Return {
			continue
		}
		n.Any(func(n *syntax.Node) bool {
			switch n.Kind {
			case syntax.String:
				b.WriteString(n.Name + "\n")
			case syntax.Template:
				b.WriteString(strings.Join(n.Texts, "…") + "\n")
			}
			return b.Len() > maxText
		})
	}
	return b.String()
}
