package infer

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// mentions are the paths that a text names.
type mentions struct {
	whole    map[string]int // the place of the first mention, by path
	suffixes map[string]int // and by each part of the path behind a slash
	end      int            // a place behind all others
}

// maxNested is the number of suffixes of a path.
const maxNested = 8

// findMentions returns the paths in a text: each run of characters of paths is one.
func findMentions(text string) mentions {
	m := mentions{whole: map[string]int{}, suffixes: map[string]int{}}
	for run := range strings.FieldsFuncSeq(text, notInPath) {
		if strings.IndexByte(run, '/') >= 0 || strings.IndexByte(run, '.') >= 0 {
			m.add(run, m.end)
			m.end++
		}
	}
	return m
}

func notInPath(r rune) bool {
	if r >= utf8.RuneSelf {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return (r < 'a' || r > 'z') && (r < '-' || r > '9') && (r < 'A' || r > 'Z') && r != '_' // - . / and digits are neighbours
}

// add adds a run with a slash or a dot.
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

// of returns the place of the first mention of the file: by its whole path, with any
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
var runCommand = lazyregexp.New(`\b(?:node|tsx|ts-node|bun(?:[ \t]+run)?|deno[ \t]+run|python3?(?:\.\d+)?|uv[ \t]+run|bash|sh)((?:[ \t]+-\S*(?:[ \t]+[^-\s./"'\x60$\\]+)?)*)[ \t]+["']?([^\s"'\x60;|&)]*\.(?:py|[mc]?[jt]s|sh|bash))\b`)

// extensions has those of which a match of runCommand has one. Most lines have none.
var extensions = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".sh", ".bash"}

// findRuns returns the files that the instructions pass to an interpreter, and those that
// they start without one, each on a line.
func findRuns(instructions string) (runs, calls string) {
	var b, c strings.Builder
	for line := range strings.Lines(instructions) {
		if strings.IndexByte(line, '.') < 0 || !containsAny(line, extensions) {
			continue
		}
		for _, m := range runCommand.FindAllStringSubmatch(line, -1) {
			if !slices.ContainsFunc(strings.Fields(m[1]), isProgram) {
				b.WriteString(m[2] + "\n")
			}
		}
		for _, m := range callCommand.FindAllStringSubmatch(line, -1) {
			c.WriteString(m[1] + m[2] + "\n")
		}
	}
	return b.String(), c.String()
}

// callCommand matches a file at the start of a command that names its folder, and one
// that the text says to run.
var callCommand = lazyregexp.New(`(?:(?:^|[\x60;&|(])[ \t]*(?:\$[ \t]+)?["']?((?:\.{1,2}|~|\$\{?\w+\}?|\{\w+\})?/[^\s"'\x60;|&)]*)|(?i:\b(?:run|execute|invoke|call)[ \t]+(?:the[ \t]+)?(?:script[ \t]+)?["'\x60]?)([\w{}$~/-][\w{}$~./-]*))`)

// isProgram reports whether an option names the program, so that no file does.
func isProgram(option string) bool { return option == "-m" || option == "-c" || option == "-e" }
