package surface

import (
	"slices"
	"strings"
)

// markdown finds the code of a Markdown text: fenced blocks, indented lines, and spans
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
	rest := strings.TrimLeft(quote, "`~")
	switch fence := quote[:len(quote)-len(rest)]; {
	case m.frontmatter:
		m.frontmatter = line == 1 || trimmed != "---"
	case m.fence != "" && strings.HasPrefix(fence, m.fence) && rest == "":
		m.end(at)
	case m.fence != "":
		m.body = append(m.body, text)
	case len(fence) >= 3 && !strings.Contains(rest, "`"):
		m.fence, m.info = fence, strings.ToLower(strings.Trim(rest, " \t{}.:"))
		m.begin, m.line, m.body = at+len(text), line+1, nil
	case strings.HasPrefix(text, "    "), strings.HasPrefix(text, "\t"):
		m.spans = append(m.spans, [2]int{at, at + len(text)})
		m.blocks = append(m.blocks, block{trimmed, line, true})
	default:
		m.inline(text, at, line)
	}
}

// end ends the open block before an offset. A fence that nobody closes ends with the
// text.
func (m *markdown) end(at int) {
	if m.fence == "" {
		return
	}
	m.spans = append(m.spans, [2]int{m.begin, at})
	info, _, _ := strings.Cut(m.info, " ")
	switch info {
	case "bash", "sh", "shell", "zsh", "ksh":
		m.blocks = append(m.blocks, block{unprompted(m.body), m.line, false})
	default: // also a session, whose output may look like commands
		m.blocks = append(m.blocks, block{unprompted(m.body), m.line, true})
	}
	m.fence = ""
}

// unprompted returns lines without the prompts of a shell.
func unprompted(lines []string) string {
	all := slices.Clone(lines)
	for i, line := range all {
		line = strings.TrimLeft(line, " ")
		if rest, ok := strings.CutPrefix(line, "$ "); ok {
			all[i] = rest
		} else if rest, ok := strings.CutPrefix(line, "% "); ok {
			all[i] = rest
		}
	}
	return strings.Join(all, "")
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
