package usagetext

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// usageMark matches the start of a usage text.
var usageMark = lazyregexp.New(`(?i)^[\s#*/"'(]*(?:usage|synopsis|syntax)\s*:?\s*(.*)$`)

// program matches the word that a usage line calls the script by: a file, $0, or
// the place of a value that was filled in.
var program = lazyregexp.New(`\.(?:py|sh|bash|js|mjs|cjs|ts|mts)['"\x60]?$|\$\{?0\}?|argv\[[01]\]|%\(?(?:prog|s)|^\{[^|]*$|…|__file__|basename`)

// interpreters start a command line of a script.
var interpreters = []string{"python", "python3", "python2", "bash", "sh", "node", "uv", "run", "npx", "tsx", "ts-node", "deno", "bun", "./", "$"}

// readUsage finds the usage lines of a text: the one behind "Usage:", and those that
// are indented below it and call the script.
func (t *Text) readUsage(lines []string) {
	for at := 0; at < len(lines); at++ {
		m := usageMark.FindStringSubmatch(lines[at])
		if m == nil {
			continue
		}
		rest := m[1]
		if isCommand(rest) {
			t.addLine(rest)
		}
		for at+1 < len(lines) && isUsageLine(lines[at+1], strings.TrimSpace(rest) == "") {
			at++
			rest = "-"
			t.addLine(lines[at])
		}
	}
}

// isUsageLine reports whether a line below "Usage:" is another one. First says that
// there is none yet.
func isUsageLine(line string, first bool) bool {
	text := strings.TrimLeft(line, " \t#*/")
	return text != "" && len(text) < len(line) && (isCommand(text) || first && usageMark.FindStringSubmatch(line) == nil && strings.ContainsAny(text, "<["))
}

// isCommand reports whether a text calls the script, or begins like a command line.
func isCommand(text string) bool {
	words := strings.Fields(text)
	if slices.ContainsFunc(words[:min(4, len(words))], program.MatchString) {
		return true
	}
	return len(words) > 1 && strings.IndexAny(words[1], "<[-") == 0 && len(words[0]) < 40
}

// addLine reads one usage line.
func (t *Text) addLine(line string) {
	words := elements(withoutProgram(line))
	read := len(t.lines)
	for len(words) > 0 {
		end := slices.Index(words, "|") // "add NAME | list"
		if end < 0 {
			end = len(words)
		}
		r := lineReader{}
		for i := range words[:end] {
			r.element(words[:end], i)
		}
		if len(r.found) > 0 && len(t.lines) < maxElements {
			t.lines = append(t.lines, r.found)
		}
		words = words[min(end+1, len(words)):]
	}
	if len(t.lines) > read {
		t.usage = append(t.usage, withoutProgram(line))
	}
}

// withoutProgram returns a line without the words that call the script.
func withoutProgram(line string) string {
	words := strings.Fields(line)
	at := slices.IndexFunc(words[:min(4, len(words))], program.MatchString)
	for at < 0 && len(words) > 1 && slices.Contains(interpreters, words[0]) {
		words = words[1:]
	}
	for at+1 < len(words) && program.MatchString(words[at+1]) && strings.IndexAny(words[at+1], "<[") != 0 && at >= 0 { // $(basename "$0")
		at++
	}
	return strings.Join(words[max(at, 0)+1:], " ")
}

// elements splits a line at spaces outside of brackets, up to the end of the
// command.
func elements(line string) []string {
	var all []string
	depth, from := 0, 0
	flush := func(to int) {
		if word := strings.TrimSpace(line[from:to]); word != "" {
			all = append(all, word)
		}
		from = to
	}
	for i := 0; i < len(line) && len(all) < maxElements; i++ {
		switch c := line[i]; {
		case strings.IndexByte("[(<{", c) >= 0:
			depth++
		case strings.IndexByte("])>}", c) >= 0:
			depth--
		case c == ' ' && depth <= 0:
			flush(i)
		case depth <= 0 && (c == '#' || c == ';' || c == '\\' || c == '&'):
			flush(i)
			return all
		}
	}
	flush(len(line))
	return all
}

// maxDepth bounds the brackets in each other.
const maxDepth = 16

// A lineReader collects the names of the positionals of one line.
type lineReader struct {
	found []element
	value bool // the next word is the value of an option
	depth int  // of groups in brackets, where each word behind an option is its value
}

// element reads one of the words of a line, or of a group in brackets.
func (r *lineReader) element(words []string, i int) {
	word := strings.TrimRight(strings.TrimSpace(words[i]), ",.…")
	switch {
	case r.value:
		r.value = false
	case word == "" || strings.ContainsAny(word[:1], "|>"):
	case word[0] == '[' && strings.HasSuffix(word, "]"), word[0] == '(' && strings.HasSuffix(word, ")"):
		r.group(word[1:len(word)-1], word)
	case word[0] == '-':
		r.option(word, words[i+1:])
	default:
		r.positional(word)
	}
}

// group reads the elements inside of brackets.
func (r *lineReader) group(inner, text string) {
	if r.depth == maxDepth {
		return
	}
	r.depth++
	words, found := elements(inner), len(r.found)
	for i := range words {
		r.element(words, i)
	}
	if len(words) == 1 && len(r.found) > found {
		r.found[found].text = text
	}
	r.value = false
	r.depth--
}

// option reads the flags of an option. The next word may be the placeholder of its value.
func (r *lineReader) option(word string, rest []string) {
	if !strings.Contains(word, "=") && len(rest) > 0 && (isPlaceholder(rest[0]) || r.depth > 0 && rest[0] != "|" && rest[0][0] != '-') {
		r.value = true
	}
}

// isPlaceholder reports whether a word stands for a value: <x>, X or "x".
func isPlaceholder(word string) bool {
	return word != "" && (word[0] == '<' || word[0] == '"' || word[0] == '\'' || strings.ToUpper(word) == word && isWord(rune(word[0])))
}

// positional adds a positional, unless the word says "the options".
func (r *lineReader) positional(word string) {
	name := PropertyName(word)
	switch {
	case name == "" || slices.Contains([]string{"options", "option", "flags", "opts"}, name) || strings.Contains(word, "--"):
		return
	case strings.Contains(word, "|"):
		var names []string
		for one := range strings.SplitSeq(strings.Trim(word, "<>{}[]()"), "|") {
			names = append(names, PropertyName(one))
		}
		name = strings.Join(names, "|")
	}
	r.found = append(r.found, element{name, word})
}
