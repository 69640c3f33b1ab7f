package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// normalizeName writes the name as the standard wants it.
func normalizeName(data []byte, strict bool) []edit {
	f, ok := findFront(data)
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

// offset is that of a line and column, each from 1, of what begins at start.
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

// isText reports whether YAML, of either version, reads a plain word as text.
func isText(word string) bool {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(word), &node); err != nil || len(node.Content) != 1 || node.Content[0].Tag != "!!str" {
		return false
	}
	return !slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, word)
}
