package check

import (
	"bytes"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// plainField matches "key: value" and "- key: value", where the value is text
// that is not quoted and has no meaning in YAML.
var plainField = lazyregexp.New(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)([^\s"'|>&*!%@{}\[\],#?\x60-].*?)[ \t]*$`)

const (
	maxQuoted = 50       // values of one file
	maxFields = 64 << 10 // bytes: each value costs a parse of all fields
)

// quoteColons quotes the values whose colon makes the frontmatter invalid YAML:
// only those at which the YAML library stops, and only if the result is valid.
// Loading quotes more, because it only has to read the values.
func quoteColons(data []byte) []edit {
	f, ok := findFrontmatter(data)
	if !ok || f.close < 0 || f.close-f.open > maxFields || hasOddBreaks(data[f.open:f.close]) {
		return nil
	}
	var edits []edit
	text, last := data[f.open:f.close], 0
	for range maxQuoted {
		_, err := decode(text)
		if err == nil {
			return edits
		}
		line := yamlLine(err)
		if line <= last || !strings.Contains(err.Error(), "mapping values are not allowed") {
			return nil
		}
		e, ok := quote(data, f, line)
		if !ok {
			return nil
		}
		edits, last = append(edits, e), line
		whole, _ := apply(data, edits)
		text = whole[f.open : f.close+len(whole)-len(data)]
	}
	return nil
}

// quote returns the edit that quotes the value in line n of the frontmatter.
func quote(data []byte, f frontmatter, n int) (edit, bool) {
	at := f.open
	for range n - 1 {
		_, at = lineAt(data, at)
	}
	line, _ := lineAt(data, at)
	m := plainField.FindSubmatchIndex(line)
	if m == nil {
		return edit{}, false
	}
	value := string(line[m[4]:m[5]])
	colon := strings.Contains(value, ": ") || strings.HasSuffix(value, ":")
	if !colon || strings.Contains(value, " #") { // which may be a comment
		return edit{}, false
	}
	return edit{
		start: at + m[4], end: at + m[5], text: "'" + strings.ReplaceAll(value, "'", "''") + "'",
		change: &Change{Line: f.lines + n, Col: 1 + len(bytes.Runes(line[:m[4]])), Message: "quoted the value, which contains a colon"},
	}, true
}
