package surface

import (
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// A source is the text of one file, with masks of the same length.
type source struct {
	name    string
	content string
	lower   string // ASCII in lower case
	// code is the lower case content with blanks for prose and comments.
	code     string
	language language
	// main reports that the text is the definition of a skill: a model follows it.
	main bool
	// script reports that the whole file is code.
	script bool
	blocks []block // the shell code

	starts []int // the offset of each line; nil before the first use
}

// A block is a part of a source that is code for a shell.
type block struct {
	text string
	line int // from 1
	// known reports that only commands of well-known programs count: nobody says that
	// the text is code for a shell.
	known bool
}

// A language is the one of a script or a block of code.
type language string

const (
	anyCode    language = ""
	shellCode  language = "shell"
	pythonCode language = "python"
	nodeCode   language = "node"
	noCode     language = "text"
)

func isMarkdown(extension string) bool {
	return slices.Contains([]string{".md", ".mdx", ".markdown", ".mdc", ".txt", ".rst"}, extension)
}

// isDefinition reports whether a file is one that clients load as instructions.
func isDefinition(name string) bool {
	base := strings.ToLower(path.Base(name))
	return base == "skill.md" || base == "agents.md" || base == "claude.md" || base == "gemini.md"
}

// languageOf returns the language of a file by its extension, or else by its first line
// and the command that it is passed to.
func languageOf(extension, content string, interpreter []string) language {
	switch extension {
	case ".sh", ".bash", ".zsh", ".ksh", ".command", ".envrc":
		return shellCode
	case ".py", ".pyw", ".pyi", ".ipynb":
		return pythonCode
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx":
		return nodeCode
	}
	program := strings.Join(interpreter, " ")
	if first, _, _ := strings.Cut(content, "\n"); strings.HasPrefix(first, "#!") {
		program += first
	}
	switch {
	case strings.Contains(program, "python"):
		return pythonCode
	case strings.Contains(program, "node"), strings.Contains(program, "deno"), strings.Contains(program, "bun"):
		return nodeCode
	case strings.Contains(program, "sh"):
		return shellCode
	}
	switch extension {
	case ".csv", ".tsv", ".css", ".svg", ".xml", ".xsd", ".dtd", ".adoc", ".tex", ".bib", ".lock", ".sum", ".license", "":
		return noCode
	}
	return anyCode
}

// uncommented returns the lower case content with blanks for the lines that are only a
// comment: those that begin with "#", and in other languages than Python and shell with
// "//" or "*".
func (s *source) uncommented() string {
	masked := []byte(s.lower)
	at := 0
	for line := range strings.Lines(s.lower) {
		trimmed := strings.TrimLeft(line, " \t")
		slashes := s.language == nodeCode || s.language == anyCode
		if strings.HasPrefix(trimmed, "#") && s.language != nodeCode || slashes && (strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "/*") || strings.HasPrefix(trimmed, "* ")) {
			fill(masked[at : at+len(line)])
		}
		at += len(line)
	}
	return string(masked)
}

// fill replaces all but line ends by blanks.
func fill(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

// blank returns a text with blanks outside of the spans, pairs of offsets.
func blank(text string, spans [][2]int) string {
	masked := []byte(text)
	at := 0
	for _, span := range spans {
		fill(masked[at:span[0]])
		at = span[1]
	}
	fill(masked[at:])
	return string(masked)
}

// lower returns a text with ASCII letters in lower case: the offsets stay.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// line returns the line of an offset, from 1.
func (s *source) line(at int) int {
	if s.starts == nil {
		s.starts = []int{0}
		for i := range len(s.content) {
			if s.content[i] == '\n' {
				s.starts = append(s.starts, i+1)
			}
		}
	}
	return sort.SearchInts(s.starts, at+1)
}

// offset returns the offset of a line.
func (s *source) offset(line int) int {
	s.line(0)
	return s.starts[min(max(line, 1), len(s.starts))-1]
}

// lineAt returns the text of the line at an offset, or of a long line the part around
// it.
func lineAt(text string, at int) string {
	const reach = 400
	text, at = text[max(0, at-reach):min(len(text), at+reach)], min(at, reach)
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	end := strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return text[begin:]
	}
	return text[begin : at+end]
}

// matches returns the matches of an expression within the lines of a text that have one
// of the literals: an expression alone reads 20 MB a second, a search for literals 5 GB.
func matches(text string, re *lazyregexp.Regexp, literals ...string) (all [][]int) {
	lines := map[int]int{} // end by begin
	for _, literal := range literals {
		for from := 0; from < len(text); {
			at := strings.Index(text[from:], literal)
			if at < 0 {
				break
			}
			begin := strings.LastIndexByte(text[from:from+at], '\n') + 1 + from
			end := strings.IndexByte(text[from+at:], '\n') + from + at
			if end < from+at {
				end = len(text)
			}
			lines[begin] = end
			from = end + 1
		}
	}
	for _, begin := range slices.Sorted(maps.Keys(lines)) {
		for _, m := range re.FindAllStringSubmatchIndex(text[begin:lines[begin]], -1) {
			for i := range m {
				if m[i] >= 0 {
					m[i] += begin
				}
			}
			all = append(all, m)
		}
	}
	return all
}
