package infer

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// mentions are the paths that a text names.
type mentions struct {
	whole    map[string]int // the offset of the first mention, by path
	suffixes map[string]int // and by each part of the path behind a slash
	end      int            // an offset behind all others
}

// maxNested is the number of suffixes of a path.
const maxNested = 8

// findMentions returns the paths in a text: each run of characters of paths is one.
func findMentions(text string) mentions {
	m := mentions{whole: map[string]int{}, suffixes: map[string]int{}, end: len(text)}
	start := -1
	for at, r := range text + "\n" {
		switch {
		case inPath(r) && start < 0:
			start = at
		case !inPath(r) && start >= 0:
			m.add(text[start:at], start)
			start = -1
		}
	}
	return m
}

func inPath(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '/', r == '.', r == '-', r == '_':
		return true
	}
	return r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (m mentions) add(run string, at int) {
	if run = strings.TrimRight(run, ".-"); len(run) > 1024 || !strings.ContainsAny(run, "./") {
		return
	}
	run = strings.TrimPrefix(run, "./")
	first(m.whole, run, at)
	for range maxNested {
		_, rest, ok := strings.Cut(run, "/")
		if !ok {
			return
		}
		first(m.suffixes, rest, at)
		run = rest
	}
}

func first(places map[string]int, name string, at int) {
	if _, ok := places[name]; !ok {
		places[name] = at
	}
}

// of returns the offset of the first mention of the file: by its whole path, with any
// folders before it, or by the end of its path alone, as in a text that changes to a
// folder first.
func (m mentions) of(name string) (int, bool) {
	best, found := m.end, false
	better := func(places map[string]int, name string) {
		if at, ok := places[name]; ok && (!found || at < best) {
			best, found = at, true
		}
	}
	better(m.whole, name)
	if strings.Contains(name, "/") || path.Ext(name) != "" {
		better(m.suffixes, name)
	}
	for rest, ok := name, true; ok; {
		if _, rest, ok = strings.Cut(rest, "/"); ok && path.Ext(rest) != "" {
			better(m.whole, rest)
		}
	}
	return best, found
}

// runCommand matches a file that a command passes to an interpreter, with the
// options between the two.
var runCommand = lazyregexp.New(`\b(?:node|bun(?:[ \t]+run)?|deno[ \t]+run|python3?(?:\.\d+)?|uv[ \t]+run|bash|sh)((?:[ \t]+-\S*(?:[ \t]+[^-\s./"'\x60$\\]+)?)*)[ \t]+["']?([^\s"'\x60;|&)]*\.(?:py|m?js|cjs|sh|bash))\b`)

// scriptExtensions are the ends of names of which a match of runCommand has one. Most
// lines have none, and are not matched.
var scriptExtensions = []string{".py", ".js", ".mjs", ".cjs", ".sh", ".bash"}

// findRuns returns the files that the instructions run, one a line.
func findRuns(instructions string) string {
	var b strings.Builder
	for line := range strings.Lines(instructions) {
		if !containsAny(line, scriptExtensions) {
			continue
		}
		for _, m := range runCommand.FindAllStringSubmatch(line, -1) {
			if !slices.ContainsFunc(strings.Fields(m[1]), isProgram) {
				b.WriteString(m[2] + "\n")
			}
		}
	}
	return b.String()
}

// isProgram reports whether an option names the program, so that no file does.
func isProgram(option string) bool { return option == "-m" || option == "-c" || option == "-e" }
