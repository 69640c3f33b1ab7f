package tty

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// promptRows are the rows that a prompt has below a page.
const promptRows = 4

// paginate returns the pages of a question. The last page is a full one, so that the grant
// is in sight at the prompt, even if it repeats lines.
func paginate(lines []string, size func() (columns, rows int)) [][]string {
	columns, rows := size()
	var all []string
	for _, line := range lines { // plain already, if a question
		all = append(all, wrap(termtext.Visible(line), columns-1)...) // the last column moves the cursor
	}
	room := max(1, rows-promptRows)
	var pages [][]string
	for rest := all; len(rest) > room; rest = rest[room:] {
		pages = append(pages, rest[:room])
	}
	return append(pages, all[max(0, len(all)-room):])
}

// mark begins the lines of strangers' text.
const mark = "> "

// wrap returns a line as lines of at most columns columns. Each part of a stranger's text
// has the mark, so that none looks like a line of the question's own.
func wrap(line string, columns int) []string {
	prefix := ""
	if rest, marked := strings.CutPrefix(line, mark); marked {
		prefix, line = mark, rest
	}
	var all []string
	for {
		end := fit(line, columns-len(prefix))
		all = append(all, prefix+line[:end])
		if line = line[end:]; line == "" {
			return all
		}
	}
}

// fit returns the length of the beginning of a text that has at most columns columns, of
// one character at least.
func fit(text string, columns int) int {
	for i, r := range text {
		columns--
		if r >= 0x1100 { // perhaps two columns wide; none is wider
			columns--
		}
		if columns < 0 && i > 0 {
			return i
		}
	}
	return len(text)
}
