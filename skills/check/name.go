package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// maxName is the longest name that the standard allows, in characters.
const maxName = 64

var (
	standardName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	// readable matches names that have one obvious normal form.
	readable = lazyregexp.New(`^[A-Za-z0-9 \t_./-]+$`)
	between  = lazyregexp.New(`[^a-z0-9]+`)
	// colonyName matches the names that Colony allows beyond the standard.
	colonyName = lazyregexp.New(`^[a-z0-9]+([-_][a-z0-9]+)*$`)
)

// IsName reports whether the Agent Skills standard allows a name: 1 to 64 of a-z,
// 0-9 and -, without a hyphen at either end or two in a row.
func IsName(name string) bool { return len(name) <= maxName && standardName.MatchString(name) }

// Normalize returns a name in the standard's form, "my-skill" for "My Skill". It
// returns "" if there is no obvious one: for letters beyond ASCII, and for names
// that remain too long.
func Normalize(name string) string {
	if !readable.MatchString(name) {
		return ""
	}
	normal := strings.Trim(between.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if !IsName(normal) {
		return ""
	}
	return normal
}

// normalizeName returns the edit that normalizes the name in the frontmatter.
func normalizeName(data []byte, strict bool) []edit {
	f, ok := findFrontmatter(data)
	if !ok || f.close < 0 || hasOddBreaks(data[f.open:f.close]) {
		return nil
	}
	fields, err := decode(data[f.open:f.close])
	if err != nil {
		return nil
	}
	_, value, times := lookup(fields, "name")
	if times != 1 || value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
		return nil
	}
	name, normal := value.Value, Normalize(value.Value)
	if normal == "" || normal == name || !strict && colonyName.MatchString(name) {
		return nil
	}
	at := offset(data, f.open, value.Line, value.Column)
	if value.Style == yaml.DoubleQuotedStyle || value.Style == yaml.SingleQuotedStyle {
		at++
	} else if !isText(normal) {
		normal = "'" + normal + "'"
	}
	if !bytes.HasPrefix(data[at:], []byte(name)) { // it is written in some other way
		return nil
	}
	return []edit{{at, at + len(name), normal, &Change{
		Line: f.lines + value.Line, Col: value.Column,
		Message: fmt.Sprintf("changed the name %q to %s", name, strings.Trim(normal, "'")),
	}}}
}

// offset returns the offset of a line and column, each from 1, counted from start.
func offset(data []byte, start, line, column int) int {
	for range line - 1 {
		_, start = lineAt(data, start)
	}
	for range column - 1 {
		_, size := utf8.DecodeRune(data[start:])
		start += size
	}
	return start
}

// isText reports whether YAML 1.1 and 1.2 both read a plain word as text.
func isText(word string) bool {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(word), &node); err != nil || len(node.Content) != 1 || node.Content[0].Tag != "!!str" {
		return false
	}
	return !slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, word)
}
