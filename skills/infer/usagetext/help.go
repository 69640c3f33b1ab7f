package usagetext

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// section matches the headline of a list of arguments.
var section = lazyregexp.New(`(?i)^\s*(?:positional |required |optional |command[- ]line )?(?:arguments?|args|parameters?|params|inputs?|where|options)(?: are)?\s*:\s*$`)

// entry matches a line that describes an argument: its flags or its name, the
// placeholders of its values, and the description.
var entry = lazyregexp.New("^(\\s*)(?:[-*•]\\s+)?([`<\\[]?-{0,2}[A-Za-z$][\\w.-]*[`>\\]]?(?:\\s*[,|/]\\s*--?[\\w-]+)*)((?:[ =][<\\[{]?[A-Z][A-Z0-9_.|:]*[>\\]}]?|[ =]<[^>]*>)*)`?(?:\\s*\\([^)]*\\))?(\\s*:\\s+|\\s+[-–—=]+>?\\s+|\\s{2,})(\\S.*)$")

// readHelp finds the lines that describe arguments. A plain word is the name of one
// only in a section of arguments.
func (t *Text) readHelp(lines []string) {
	inSection, inCommands, last, indent := false, false, []string(nil), 0
	for _, line := range lines {
		line = strings.ReplaceAll(strings.TrimRight(line, " "), "\t", "    ")
		text := strings.TrimLeft(line, " ")
		m := entry.FindStringSubmatch(line)
		switch {
		case section.MatchString(line):
			inSection, inCommands, last = true, false, nil
		case commands.MatchString(line):
			inSection, inCommands, last = false, true, nil
		case inCommands && command.MatchString(line) && (last == nil || len(line)-len(text) <= indent):
			last, indent = t.command(command.FindStringSubmatch(line)), len(line)-len(text)
		case text == "":
			last = nil
		case m != nil && (last == nil || len(m[1]) <= indent || m[2][0] == '-') && (inSection && m[1] != "" || isMarked(m[2])):
			last, indent = t.describe(m[2], m[5]), len(m[1])
		case len(line)-len(text) > indent && last != nil:
			for _, name := range last {
				t.help[name] = truncate.String(t.help[name]+" "+text, maxHelp)
			}
		default:
			inSection, inCommands, last = inSection && line != text, inCommands && line != text, nil
		}
	}
}

// commands matches the headline of a list of commands, and command an entry of it: the
// name, the placeholders of its arguments, and the description.
var (
	commands = lazyregexp.New(`(?i)^\s*(?:available )?(?:sub-?)?(?:commands?|actions?|operations?)(?: are)?\s*:\s*$`)
	command  = lazyregexp.New("^\\s+[`\"']?([a-zA-Z][\\w:-]*)((?: +(?:[<\\[{(\"'][^ ]*|[A-Z][A-Z0-9_]+|-[^ ]+))*)[`\"']?(?:\\s*:\\s+|\\s+[-–—=#]+>?\\s+|\\s{2,})(\\S.*)$")
)

// command adds an entry of a list of commands, and returns the name that it describes.
func (t *Text) command(m []string) []string {
	words, r := elements(m[2]), lineReader{found: []element{{PropertyName(m[1]), m[1]}}}
	for i := range words {
		r.element(words, i)
	}
	if len(t.below) < maxEntries {
		t.below = append(t.below, r.found)
	}
	return t.describe(m[1], m[3])
}

// isMarked reports whether the name of an entry cannot be a word of prose.
func isMarked(name string) bool { return strings.ContainsAny(name[:1], "-<$") }

// describe adds the description of an entry, and returns the names that it describes.
func (t *Text) describe(names, help string) (described []string) {
	if len(t.help) >= maxEntries {
		return nil
	}
	for _, name := range strings.FieldsFunc(names, func(r rune) bool { return strings.ContainsRune(",|/ `[]", r) }) {
		if !strings.HasPrefix(name, "-") {
			name = key(name)
		}
		if name != "" && t.help[name] == "" {
			t.help[name] = truncate.String(strings.TrimSpace(help), maxHelp)
			described = append(described, name)
		}
	}
	return described
}
