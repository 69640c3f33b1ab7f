package usagetext

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// The limits of a text. Anything beyond is not read.
const (
	maxText     = 32 << 10 // bytes
	maxHelp     = 400      // bytes of one description
	maxElements = 64       // of one usage line
	maxEntries  = 256      // described arguments
)

// A Text is the contents of the usage texts of one script. The zero value is that of
// no text.
type Text struct {
	lines  [][]element       // the positionals of each usage line that has some
	help   map[string]string // by flag, or by the name of a positional or a command
	usage  []string          // the usage lines as they are
	below  [][]element       // the positionals of each entry in a list of commands, with its name
	behind bool              // it is for the arguments behind a command
}

// Command returns the text for the arguments behind a command: of the usage lines, those
// that begin with it.
func (t Text) Command(name string) Text {
	c := Text{help: t.help, behind: true}
	for _, line := range slices.Concat(t.lines, t.below) {
		if slices.Contains(strings.Split(line[0].name, "|"), PropertyName(name)) {
			c.lines = append(c.lines, line[1:])
		}
	}
	return c
}

// An element is a positional of a usage line.
type element struct{ name, text string }

// Usage returns the usage lines.
func (t Text) Usage() string { return truncate.String(strings.Join(t.usage, "; "), maxHelp) }

// Name returns the name of the positional at an index, from 0: that of all usage lines
// which have one there. It is "" where they differ or none has one.
func (t Text) Name(at int) string {
	name := t.element(at).name
	if strings.Contains(name, "|") { // the alternatives name no value
		return ""
	}
	return name
}

func (t Text) element(at int) element {
	var found element
	for _, line := range t.lines {
		switch {
		case at >= len(line):
		case found.name != "" && found.name != line[at].name:
			return element{}
		default:
			found = line[at]
		}
	}
	return found
}

// Help returns the description of an option, such as "--output", or of a positional by
// its name or its place, "$1"; "" where there is none.
func (t Text) Help(name string) string {
	if strings.HasPrefix(name, "-") {
		return t.help[name]
	}
	if t.behind && strings.HasPrefix(name, "$") {
		return ""
	}
	return t.help[key(name)]
}

// key returns the name that a positional's description has.
func key(name string) string {
	if strings.HasPrefix(name, "$") {
		return name
	}
	return PropertyName(name)
}

// PropertyName returns a placeholder in the letters of properties: "input_file" of
// "<input-file>", "input" of "INPUT.pdf", "" of one without letters.
func PropertyName(placeholder string) string {
	name := strings.Trim(placeholder, "<>[](){}\"'`,;:=|.…*")
	if at := strings.LastIndexByte(name, '.'); at > 0 && len(name)-at <= 6 {
		name = name[:at]
	}
	name = strings.ToLower(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !isWord(r) }), "_"))
	if strings.Trim(name, "0123456789_") == "" {
		return ""
	}
	return name
}

func isWord(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
