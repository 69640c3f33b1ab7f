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
	whole    map[string]int // the offset of the first mention, by path
	suffixes map[string]int // and by each part of the path behind a slash
	end      int            // an offset behind all others
}

// maxNested is the number of suffixes of a path.
const maxNested = 8

// findMentions returns the paths in a text: each run of characters of paths is one.
func findMentions(text string) mentions {
	m := mentions{whole: map[string]int{}, suffixes: map[string]int{}, end: len(text)}
	for at := 0; at < len(text); {
		length, separators := pathLength(text[at:])
		if separators {
			m.add(text[at:at+length], at)
		}
		at += length
		for at < len(text) && !isPath[text[at]] { // most of a text is ASCII
			if text[at] < utf8.RuneSelf {
				at++
				continue
			}
			r, size := utf8.DecodeRuneInString(text[at:])
			if inPath(r) {
				break
			}
			at += size
		}
	}
	return m
}

// pathLength returns the length of the run of characters of paths that a text begins
// with, and whether it has a slash or a dot.
func pathLength(text string) (length int, separators bool) {
	for length < len(text) {
		c := text[length]
		switch {
		case isPath[c]:
			separators = separators || c == '/' || c == '.'
			length++
			continue
		case c < utf8.RuneSelf:
			return length, separators
		}
		r, size := utf8.DecodeRuneInString(text[length:])
		if !inPath(r) {
			return length, separators
		}
		length += size
	}
	return length, separators
}

// isPath has the ASCII characters of paths.
var isPath = [256]bool{
	'/': true, '.': true, '-': true, '_': true,
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true, 'K': true, 'L': true, 'M': true,
	'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true, 'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true, 'j': true, 'k': true, 'l': true, 'm': true,
	'n': true, 'o': true, 'p': true, 'q': true, 'r': true, 's': true, 't': true, 'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
}

// inPath reports whether a character that is not ASCII may be in a path.
func inPath(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

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
var runCommand = lazyregexp.New(`\b(?:node|tsx|ts-node|bun(?:[ \t]+run)?|deno[ \t]+run|python3?(?:\.\d+)?|uv[ \t]+run|bash|sh)((?:[ \t]+-\S*(?:[ \t]+[^-\s./"'\x60$\\]+)?)*)[ \t]+["']?([^\s"'\x60;|&)]*\.(?:py|[mc]?[jt]s|sh|bash))\b`)

// mayRun reports whether a line has one of the extensions of which a match of runCommand
// has one. Most lines have none, and are not matched.
func mayRun(line string) bool {
	for {
		dot := strings.IndexByte(line, '.')
		if dot < 0 || dot == len(line)-1 {
			return false
		}
		line = line[dot+1:]
		for _, extension := range [...]string{"py", "js", "mjs", "cjs", "ts", "mts", "cts", "sh", "bash"} {
			if strings.HasPrefix(line, extension) {
				return true
			}
		}
	}
}

// findRuns returns the files that the instructions run, one a line.
func findRuns(instructions string) string {
	var b strings.Builder
	for line := range strings.Lines(instructions) {
		if !mayRun(line) {
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
