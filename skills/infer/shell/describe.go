package shell

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxHelp is the longest help of an option.
const maxHelp = 2 << 10 // bytes

// helpLine matches a line of a usage text that explains an option, in a comment, in a
// here-document, or printed by a command.
var helpLine = lazyregexp.New(`^(?:#+|\s*(?:echo|printf)(?:\s+-\w+)?\s+["'])?\s*(-[^\s,|=]+(?:\s*[,|/]\s*-[^\s,|=]+)*)(?:[ =](?:[A-Z<\[{]\S*))?(?:\s{2,}|\s+[-:]\s+|\t)(\S.*?)(?:(?:\\n)?["'](?:\s*>&2)?)?$`)

// splitFlags matches the text between the flags of such a line.
var splitFlags = lazyregexp.New(`\s*[,|/]\s*`)

// usage returns the parts of the source that explain its options: the function usage,
// and the comment above the first statement.
func (s *script) usage() string {
	for _, name := range []string{"usage", "show_usage", "print_usage", "show_help", "print_help", "help"} {
		if body := s.functions[name]; body != nil {
			return s.text[body.Pos().Offset():body.End().Offset()] + "\n" + s.top()
		}
	}
	return s.top()
}

func (s *script) top() string { return s.text[:s.file.Stmts[0].Pos().Offset()] }

// explain gives each option the line of a text that explains it.
func (c *CommandLine) explain(usage string) {
	lines := map[string]string{}
	for line := range strings.Lines(usage) {
		m := helpLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		for _, name := range splitFlags.Split(m[1], -1) {
			if _, ok := lines[name]; !ok {
				lines[name] = truncate.String(strings.TrimSpace(m[2]), maxHelp)
			}
		}
	}
	for i := range c.options {
		c.options[i].help = lines[c.options[i].flag]
	}
}
