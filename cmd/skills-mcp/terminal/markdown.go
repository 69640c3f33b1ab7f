package terminal

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// The marks of Markdown: those at the beginning of a line, and those around words.
var (
	lineMark  = lazyregexp.New("^((?:[ \t]|> ?)*)(#{1,6} +|[-*+] +|\\d{1,9}[.)] +|`{3,}|~{3,}|\\|)?(.*)$")
	wordMarks = lazyregexp.New("\\*\\*[^*]+\\*\\*|`[^`]+`")
)

// Markdown renders a stranger's Markdown for a screen with a width, line by line: long lines
// are wrapped below their beginning, and headings, code and strong words have a style. Where
// there are no colours, all keep their marks.
func (s Screen) Markdown(source string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.SplitSeq(strings.TrimRight(termtext.Text(source), "\n"), "\n") {
		m := lineMark.FindStringSubmatch(strings.TrimRight(line, " \t"))
		lead, mark, text := m[1], m[2], m[3]
		switch fences := strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~"); {
		case fence != "" && fences && strings.HasPrefix(mark, fence) && text == "":
			fence = ""
		case fence != "":
			out.WriteString("    " + s.Paint(Cyan, line) + "\n")
		case fences:
			fence = mark
		case mark == "|": // of a table
			out.WriteString(line + "\n")
		default:
			out.WriteString(s.wrapped(lead, mark, text))
		}
	}
	return out.String()
}

// wrapped returns the text of a line in lines that fit the screen, each after as many columns.
func (s Screen) wrapped(lead, mark, text string) string {
	heading := strings.HasPrefix(mark, "#")
	switch {
	case heading && s.Color:
		mark = ""
	case mark == "- " || mark == "* " || mark == "+ ":
		mark = "• "
	}
	begin, rest := lead+mark, lead+strings.Repeat(" ", Width(mark))
	var out strings.Builder
	for _, part := range Wrap(text, max(s.Width/2, s.Width-Width(begin))) {
		switch {
		case heading:
			part = s.Paint(Bold, part)
		case s.Color:
			part = wordMarks.ReplaceAllStringFunc(part, func(marked string) string {
				if word := strings.Trim(marked, "`"); word != marked {
					return s.Paint(Cyan, word)
				}
				return s.Paint(Bold, strings.Trim(marked, "*"))
			})
		}
		out.WriteString(strings.TrimRight(begin+part, " ") + "\n")
		begin = rest
	}
	return out.String()
}
