package shell

import (
	"regexp"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
	"mvdan.cc/sh/v3/syntax"
)

// maxDescription is the longest text of a script that is shown.
const maxDescription = 2 << 10 // bytes

// usageText returns the output of the function usage: its here-documents, and the
// literal words of its echo and printf.
func usageText(functions map[string]*syntax.Stmt) string {
	for _, name := range []string{"usage", "show_usage", "print_usage", "show_help", "print_help", "help"} {
		if body := functions[name]; body != nil {
			return printed(body)
		}
	}
	return ""
}

func printed(body *syntax.Stmt) string {
	var b strings.Builder
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, redirect := range n.Redirs {
				if redirect.Hdoc != nil {
					b.WriteString(readable(redirect.Hdoc) + "\n")
				}
			}
		case *syntax.CallExpr:
			if name := command(n); name == "echo" || name == "printf" {
				b.WriteString(echoed(n.Args[1:]) + "\n")
			}
		}
		return b.Len() <= 2*maxDescription
	})
	return b.String()
}

func echoed(words []*syntax.Word) string {
	var parts []string
	for _, word := range words {
		if text := readable(word); !strings.HasPrefix(text, "-") || len(text) > 2 {
			parts = append(parts, strings.TrimSuffix(text, `\n`))
		}
	}
	return strings.Join(parts, " ")
}

// readable returns the text of a word, with the names of variables in it.
func readable(word *syntax.Word) string {
	var b strings.Builder
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			b.WriteString(n.Value)
		case *syntax.SglQuoted:
			b.WriteString(n.Value)
		case *syntax.ParamExp:
			if n.Param != nil {
				b.WriteString("$" + n.Param.Value)
			}
			return false
		case *syntax.CmdSubst:
			b.WriteString("…")
			return false
		}
		return true
	})
	return b.String()
}

// topComment returns the comment above a script's first statement.
func topComment(file *syntax.File) string {
	comments := file.Last
	if len(file.Stmts) > 0 {
		comments = file.Stmts[0].Comments
	}
	var b strings.Builder
	for _, comment := range comments {
		if strings.HasPrefix(comment.Text, "!") || strings.HasPrefix(comment.Text, " shellcheck ") || b.Len() > 2*maxDescription {
			continue
		}
		b.WriteString(strings.TrimPrefix(comment.Text, " ") + "\n")
	}
	return b.String()
}

// bound shortens a text of any bytes.
func bound(text string) string {
	return truncate.String(strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), maxDescription)
}

// helpLine matches a line of a usage text that explains an option.
var helpLine = regexp.MustCompile(`^\s*(-[^\s,|=]+(?:\s*[,|/]\s*-[^\s,|=]+)*)(?:[ =](?:[A-Z<\[{]\S*))?(?:\s{2,}|\s+[-:]\s+|\t)(\S.*)$`)

// splitFlags matches the text between the flags of such a line.
var splitFlags = regexp.MustCompile(`\s*[,|/]\s*`)

// explain gives each option the line that explains it.
func (c *CommandLine) explain(usage string) {
	lines := map[string]string{}
	for line := range strings.Lines(usage) {
		m := helpLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		for _, name := range splitFlags.Split(m[1], -1) {
			if _, ok := lines[name]; !ok {
				lines[name] = bound(m[2])
			}
		}
	}
	for i := range c.options {
		c.options[i].help = lines[c.options[i].flag]
	}
}
