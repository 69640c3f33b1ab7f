package node

import (
	"bytes"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/js"
	"github.com/skillsmcp/skills-mcp/skills/infer/node/syntax"
	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
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

// Read returns the arguments of the program. It takes time and memory in proportion to
// the source.
func (m *Module) Read(string) *cli.Script {
	var notes cli.Notes
	switch {
	case m.parse():
		e := m.evaluate("")
		command := m.command(e)
		if command == nil {
			notes = e.found.Doubts
		}
		return notes.Lay(command)
	case m.tree != nil:
		notes.Add(int(m.tree.Broken), "the source cannot be read")
	case m.mentionsArguments():
		notes.Add(0, "the source is too large to be read")
	default:
		return notes.Lay(&cli.Command{})
	}
	return notes.Lay(nil)
}

// evaluate follows the program. First is the text of the first argument; "" for any.
func (m *Module) evaluate(first string) *evaluator {
	e := newEvaluator(len(m.source), first)
	frame{e, e.globals}.follow(m.tree.Body)
	for at := 0; at < len(e.closures); at++ {
		e.callback(e.closures[at])
	}
	return e
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

// standardInput matches the uses of standard input, with the member that is used.
var standardInput = lazyregexp.New(`\b(?:process|Deno|Bun)\.stdin\b(?:\??\.(\w+))?|/dev/stdin|\bread(?:File)?Sync\(0\b|\bstdin\b[^;]*\bfrom\s*["'](?:node:)?process["']`)

// ReadsInput reports whether the program reads its standard input. Tests for a terminal
// read nothing.
func (m *Module) ReadsInput() bool {
	for line := range bytes.Lines(m.source) {
		text := bytes.TrimSpace(line)
		if !bytes.Contains(text, []byte("stdin")) && !bytes.Contains(text, []byte("Sync(0")) || bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("*")) {
			continue
		}
		for _, m := range standardInput.FindAllSubmatch(text, -1) {
			if !slices.Contains([]string{"isTTY", "setRawMode", "unref", "pause", "destroy", "end"}, string(m[1])) {
				return true
			}
		}
	}
	return false
}

// words returns the words that the evaluation found to be read. Doubts say why they are
// not certain.
func (m *Module) words(e *evaluator) *js.WordList {
	words := e.found.Argv
	switch {
	case e.found.Parsed != nil && !words.Empty():
		e.found.Doubt(e.found.Parsed.Declared, "the arguments are read by parseArgs and by the program itself")
	case e.found.Parsed != nil:
		words = e.found.Parsed
	case words.Empty():
		m.checkWithout(e)
	case words.Rest != nil && len(words.Options) > 0 && !words.Filtered && !words.Indexed:
		e.found.Doubt(words.Rest.Line, "options and other arguments are not told apart")
	}
	return words
}

// command returns the command line that the evaluation found, nil where it is not certain.
func (m *Module) command(e *evaluator) *cli.Command {
	words, usage := m.words(e), m.usage()
	var command *cli.Command
	if len(e.found.Doubts) == 0 {
		command = words.Lay(e.found, usage)
	}
	if len(e.found.Doubts) > 0 {
		command = nil
	}
	if len(words.Positionals) > 0 && words.Positionals[0] != nil {
		command = m.dispatch(words.Positionals[0], command, usage).Command()
	}
	return command
}

// dispatch reads the program for each command that its first argument may be.
func (m *Module) dispatch(first *js.Argument, whole *cli.Command, usage usagetext.Text) *cli.Dispatch {
	named := *first.Argument
	named.Description = usage.Help(named.Name)
	return &cli.Dispatch{First: &named, Texts: first.Texts, Whole: whole, Usage: usage.Usage(), Read: func(text string) (*cli.Command, bool) {
		e := m.evaluate(text)
		words := m.words(e)
		if len(e.found.Doubts) > 0 || !words.Behind() {
			return nil, e.end.refused
		}
		behind := words.Lay(e.found, usage.Command(text))
		behind.Description = usage.Help(text)
		return behind, e.end.refused
	}}
}

// checkWithout doubts that a program takes no arguments where it may take some.
func (m *Module) checkWithout(e *evaluator) {
	if e.local != "" {
		e.found.Doubt(e.localLine, "%s may read arguments", e.local)
	}
}

// usage returns the usage texts of the program: the texts that it prints, and
// comments.
func (m *Module) usage() usagetext.Text {
	var texts []string
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
	for _, word := range []string{"usage", "options:", "arguments:", "args:", "commands:"} {
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
