package surface

import (
	"slices"
	"strings"
)

// markdown finds the code of a Markdown text: fenced blocks, indented ones, and spans
// between backquotes. The rest is prose.
func (s *source) markdown() {
	m := markdown{source: s, frontmatter: strings.HasPrefix(s.content, "---\n")}
	at, line := 0, 0
	for text := range strings.Lines(s.content) {
		line++
		m.next(text, at, line)
		at += len(text)
	}
	m.end(at)
	s.code = blank(s.lower, m.spans)
}

// A markdown reader finds the code of a text, a line at a time.
type markdown struct {
	*source
	frontmatter bool // the line is of the frontmatter
	spans       [][2]int

	fence string // that ends the open block; "" outside of one
	info  string // the language of the open block
	begin int    // offset of the open block
	line  int    // its first line
	body  []string
}

func (m *markdown) next(text string, at, line int) {
	trimmed := strings.TrimSpace(text)
	quote := strings.TrimLeft(trimmed, "> ") // a fence may be in a quotation
	switch {
	case m.frontmatter:
		m.frontmatter = line == 1 || trimmed != "---"
	case m.fence != "" && strings.HasPrefix(quote, m.fence) && strings.Trim(quote, m.fence[:1]) == "":
		m.end(at)
	case m.fence != "":
		m.body = append(m.body, text)
	case strings.HasPrefix(quote, "```"), strings.HasPrefix(quote, "~~~"):
		rest := strings.TrimLeft(quote, quote[:1])
		if strings.Contains(rest, "`") { // a span of code
			m.inline(text, at, line)
			return
		}
		m.fence = quote[:len(quote)-len(rest)]
		m.info, m.begin, m.line, m.body = infoOf(rest), at+len(text), line+1, nil
	case strings.HasPrefix(text, "    "), strings.HasPrefix(text, "\t"):
		m.spans = append(m.spans, [2]int{at, at + len(text)})
		m.blocks = append(m.blocks, block{trimmed, line, true})
	default:
		m.inline(text, at, line)
	}
}

// infoOf returns the language of a fence's info text.
func infoOf(info string) string {
	words := strings.FieldsFunc(strings.ToLower(info), func(r rune) bool { return strings.ContainsRune(" \t{}.:,", r) })
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// end ends the open block before an offset. A fence that nobody closes ends with the
// text.
func (m *markdown) end(at int) {
	if m.fence == "" {
		return
	}
	m.spans = append(m.spans, [2]int{m.begin, at})
	switch m.info {
	case "bash", "sh", "shell", "zsh", "ksh":
		m.blocks = append(m.blocks, block{unprompted(m.body, false), m.line, false})
	case "console", "terminal", "shell-session", "shellsession", "sh-session":
		m.blocks = append(m.blocks, block{unprompted(m.body, true), m.line, false})
	default:
		m.blocks = append(m.blocks, block{unprompted(m.body, false), m.line, true})
	}
	m.fence = ""
}

// unprompted returns lines without the prompts of a shell; with session, lines without
// a prompt are output and become empty, if any line has one.
func unprompted(lines []string, session bool) string {
	prompt := func(line string) (string, bool) {
		for _, sign := range []string{"$ ", "% ", "# "} {
			if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), sign); ok && (sign != "# " || session) {
				return rest, true
			}
		}
		return line, false
	}
	session = session && slices.ContainsFunc(lines, func(line string) bool { _, ok := prompt(line); return ok })
	var b strings.Builder
	for _, line := range lines {
		command, ok := prompt(line)
		if session && !ok {
			command = "\n"
		}
		b.WriteString(command)
	}
	return b.String()
}

// inline finds the spans of code in a line of prose.
func (m *markdown) inline(text string, at, line int) {
	for i := 0; i < len(text); {
		begin := strings.IndexByte(text[i:], '`')
		if begin < 0 {
			return
		}
		begin += i
		ticks := len(text[begin:]) - len(strings.TrimLeft(text[begin:], "`"))
		length := strings.Index(text[begin+ticks:], text[begin:begin+ticks])
		if length < 0 {
			return
		}
		from, to := begin+ticks, begin+ticks+length
		m.spans = append(m.spans, [2]int{at + from, at + to})
		m.blocks = append(m.blocks, block{strings.TrimSpace(text[from:to]), line, true})
		i = to + ticks
	}
}
