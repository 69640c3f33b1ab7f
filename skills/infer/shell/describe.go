package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillsmcp/skills-mcp/skills/infer/usagetext"
)

// usageFunctions are names of functions that print the usage.
var usageFunctions = [...]string{"usage", "show_usage", "print_usage", "show_help", "print_help", "help"}

func (s *script) top() string { return s.text[:s.file.Stmts[0].Pos().Offset()] }

// printed returns the texts that explain the script's arguments: those that it prints,
// and the comment above the first statement.
func (s *script) printed() []string {
	var texts []string
	for _, name := range usageFunctions {
		if body := s.functions[name]; body != nil {
			texts = append(texts, printedBy(body))
		}
	}
	if len(texts) == 0 {
		syntax.Walk(s.file, func(n syntax.Node) bool {
			if stmt, ok := n.(*syntax.Stmt); ok {
				if _, call := stmt.Cmd.(*syntax.CallExpr); call {
					if text := printedBy(stmt); strings.Contains(strings.ToLower(text), "usage") {
						texts = append(texts, text)
					}
				}
			}
			return len(texts) < maxOptions
		})
	}
	var top strings.Builder
	for line := range strings.Lines(s.top()) {
		top.WriteString(strings.TrimLeft(line, "#"))
	}
	return append(texts, top.String())
}

// printedBy returns the lines that the commands of a node print.
func printedBy(node syntax.Node) string {
	var b strings.Builder
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Hdoc != nil {
				b.WriteString(text(n.Hdoc) + "\n")
			}
		case *syntax.CallExpr:
			if name := command(n); name != "" {
				said := strings.Join(texts(n.Args[1:]), " ")
				if name == "echo" || name == "printf" || strings.HasPrefix(said, "Usage:") { // error "Usage: …"
					b.WriteString(strings.ReplaceAll(said, `\n`, "\n") + "\n")
				}
			}
		case *syntax.ParamExp: // ${1:?Usage: …}
			if isError(n.Exp) {
				b.WriteString(text(n.Exp.Word) + "\n")
			}
		}
		return b.Len() < maxSource
	})
	return b.String()
}

// explain gives each argument its description.
func (c *declaration) explain(texts usagetext.Text) {
	for i := range c.positionals {
		p := &c.positionals[i]
		p.Description = texts.Describe(p.index-1, p.Name, p.Description, p.List)
	}
	for i := range c.options {
		c.options[i].Description = texts.Help(c.options[i].Flag)
	}
}
