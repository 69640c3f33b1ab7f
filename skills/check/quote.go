package check

import (
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// quoteColons quotes the values that make the frontmatter invalid YAML, as loading does:
// only if the result is valid, and none of them may hold a comment.
func quoteColons(data []byte) []edit {
	f, ok := findFrontmatter(data)
	if !ok || f.close < 0 || hasOddBreaks(data[f.open:f.close]) {
		return nil
	}
	if _, err := decode(data[f.open:f.close]); err == nil {
		return nil
	}
	lines := strings.Split(strings.ReplaceAll(string(data[f.open:f.close]), "\r\n", "\n"), "\n")
	repaired, changed := manifest.QuoteColons(lines)
	if _, err := decode([]byte(strings.Join(repaired, "\n"))); err != nil {
		return nil
	}
	var edits []edit
	for _, i := range changed {
		if strings.Contains(lines[i], " #") {
			return nil
		}
		edits = append(edits, replaced(data, f, i, lines[i], repaired[i]))
	}
	return edits
}

// replaced returns the edit that replaces the value of a line of the frontmatter, from 0.
func replaced(data []byte, f frontmatter, i int, before, now string) edit {
	at := f.open
	for range i {
		_, at = lineAt(data, at)
	}
	same := 0
	for before[same] == now[same] {
		same++
	}
	end := at + len(strings.TrimRight(before, " \t"))
	return edit{start: at + same, end: end, text: now[same:], change: &Change{
		Line: f.lines + i + 1, Col: 1 + utf8.RuneCount(data[at:at+same]), Message: "quoted the value, which contains a colon",
	}}
}
