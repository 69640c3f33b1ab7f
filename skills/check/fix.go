package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// A Change is one repaired fault.
type Change struct {
	Line, Col int    // from 1, in the file before the change
	Message   string // the repair, in the past tense
	// Problem describes the fault; "" if loading the skill reports it.
	Problem string
}

// Fix returns a SKILL.md without the faults that have one certain remedy, and the
// changes. It removes a byte order mark and Windows line ends from the
// frontmatter, quotes values with a colon and normalizes the name. Names with
// underscores, which Colony allows, are normalized only if strict. No other byte changes.
// Fix is idempotent and does not modify data.
func Fix(data []byte, strict bool) ([]byte, []Change) {
	f, ok := split(data)
	if !ok {
		return data, nil
	}
	changes := slices.Concat(f.quoteColons(), f.normalizeName(strict), f.removeReturns(), f.removeMark())
	if len(changes) == 0 {
		return data, nil
	}
	return []byte(f.String()), changes
}

// quoteColons quotes the values that make the frontmatter invalid YAML, as loading does:
// only if the result is valid, and none of them may hold a comment.
func (f *file) quoteColons() (changes []Change) {
	fields := f.fields()
	text := strings.Join(fields, "")
	if _, err := decode(text); err == nil || hasOddBreaks(text) {
		return nil
	}
	lines := make([]string, len(fields))
	for i, line := range fields {
		lines[i] = withoutEnd(line)
	}
	repaired, changed := manifest.QuoteColons(lines)
	_, err := decode(strings.Join(repaired, "\n"))
	if err != nil || slices.ContainsFunc(changed, func(i int) bool { return strings.Contains(lines[i], " #") }) {
		return nil
	}
	for _, i := range changed {
		same := 0
		for lines[i][same] == repaired[i][same] {
			same++
		}
		changes = append(changes, Change{Line: f.open + 2 + i, Col: 1 + utf8.RuneCountInString(lines[i][:same]), Message: "quoted the value, which contains a colon"})
		fields[i] = repaired[i] + fields[i][len(strings.TrimRight(lines[i], " \t")):]
	}
	return changes
}

// normalizeName normalizes the name, where it is written plainly or in quotes.
func (f *file) normalizeName(strict bool) []Change {
	fields := f.fields()
	text := strings.Join(fields, "")
	mapping, err := decode(text)
	_, value, times := lookup(mapping, "name")
	if err != nil || hasOddBreaks(text) || times != 1 || value.Kind != yaml.ScalarNode || value.Tag != "!!str" || value.Line > len(fields) {
		return nil
	}
	name, normal := value.Value, Normalize(value.Value)
	if normal == "" || normal == name || !strict && colonyName.MatchString(name) {
		return nil
	}
	change := Change{Line: f.open + 1 + value.Line, Col: value.Column, Message: fmt.Sprintf("changed the name %q to %s", name, normal)}
	line, at := fields[value.Line-1], 0
	for range value.Column - 1 {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	if value.Style == yaml.DoubleQuotedStyle || value.Style == yaml.SingleQuotedStyle {
		at++
	} else if !isText(normal) {
		normal = "'" + normal + "'"
	}
	if at > len(line) || !strings.HasPrefix(line[at:], name) { // it is written in some other way
		return nil
	}
	fields[value.Line-1] = line[:at] + normal + line[at+len(name):]
	return []Change{change}
}

// isText reports whether YAML 1.1 and 1.2 both read a plain word as text.
func isText(word string) bool {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(word), &node); err != nil || len(node.Content) != 1 || node.Content[0].Tag != "!!str" {
		return false
	}
	return !slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, word)
}

// removeReturns ends the lines of the frontmatter with LF alone.
func (f *file) removeReturns() []Change {
	first, count := 0, 0
	for i, line := range f.lines {
		// Windows writes one CR; a line with several is something else.
		if text, ok := strings.CutSuffix(line, "\r\n"); ok && !strings.HasSuffix(text, "\r") {
			if f.lines[i] = text + "\n"; count == 0 {
				first = i + 1
			}
			count++
		}
	}
	if count == 0 {
		return nil
	}
	return []Change{{
		Line: first, Message: fmt.Sprintf("changed the line ends of the frontmatter, %d of them, to LF", count),
		Problem: "the frontmatter has Windows line ends, which some clients do not read",
	}}
}

// removeMark removes a byte order mark before a frontmatter: some clients look for
// the fence in the very first bytes.
func (f *file) removeMark() []Change {
	if f.mark == "" {
		return nil
	}
	f.mark = ""
	return []Change{{
		Line: 1, Col: 1, Message: "removed the byte order mark",
		Problem: "the file begins with a byte order mark, which some clients do not read past",
	}}
}
