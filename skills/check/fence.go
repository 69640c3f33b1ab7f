package check

import (
	"bytes"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// fieldLine matches a line that begins a field at the margin.
var fieldLine = lazyregexp.New(`^([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]|$)`)

// isKnown reports whether a key occurs in frontmatter: a dialect defines it, or it
// is common. "Note" is a word of a text.
func isKnown(key string) bool {
	return manifest.DialectOf(key) != "" || key == "version" || key == "author" || key == "tags"
}

// closeFrontmatter adds a missing closing fence if its line is certain: after
// fields that are all known, and before a blank line, a heading or the end of the
// file, with no more fields below it.
func closeFrontmatter(data []byte) []edit {
	f, ok := findFrontmatter(data)
	if !ok || f.close >= 0 {
		return nil
	}
	end, lines, ok := fieldsEnd(data, f.open)
	if !ok || hasOddBreaks(data) || !isBody(data[end:]) || !areFields(data[f.open:end]) {
		return nil
	}
	change := &Change{Line: f.lines + lines + 1, Col: 1, Message: `added the line "---" below the last field`}
	switch text := data[f.open:end]; {
	case !bytes.HasSuffix(text, []byte("\n")):
		return []edit{{end, end, "\n---\n", change}}
	case bytes.HasSuffix(text, []byte("\r\n")):
		return []edit{{end, end, "---\r\n", change}}
	}
	return []edit{{end, end, "---\n", change}}
}

// fieldsEnd returns the end of the fields that begin at an offset, and the number
// of their lines. ok is false if there is anything else among them.
func fieldsEnd(data []byte, at int) (end, lines int, ok bool) {
	for at < len(data) {
		line, next := lineAt(data, at)
		if len(bytes.TrimSpace(line)) == 0 || bytes.HasPrefix(line, []byte("#")) {
			break
		}
		m := fieldLine.FindSubmatch(line)
		switch {
		case m != nil && isKnown(string(m[1])):
		case m == nil && lines > 0 && (line[0] == ' ' || bytes.HasPrefix(line, []byte("- "))): // of the field above
		default:
			return 0, 0, false
		}
		at = next
		lines++
	}
	return at, lines, lines > 0
}

// isBody reports whether a text can only be Markdown: no line of it can continue
// the fields above it.
func isBody(text []byte) bool {
	for at := 0; at < len(text); {
		line, next := lineAt(text, at)
		at = next
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		return line[0] != ' ' && line[0] != '\t' && !bytes.HasPrefix(line, []byte("- ")) && !fieldLine.Match(line)
	}
	return true
}

// areFields reports whether a text is YAML that names or describes a skill,
// perhaps only with its colons quoted.
func areFields(text []byte) bool {
	whole := slices.Concat([]byte("---\n"), bytes.TrimSuffix(text, []byte("\n")), []byte("\n---\n"))
	whole, _ = apply(whole, quoteColons(whole))
	f, ok := findFrontmatter(whole)
	if !ok || f.close < 0 {
		return false
	}
	fields, err := decode(whole[f.open:f.close])
	if err != nil {
		return false
	}
	for _, name := range []string{"name", "description"} {
		if _, value, _ := lookup(fields, name); value != nil && value.Kind == yaml.ScalarNode && value.Value != "" {
			return true
		}
	}
	return false
}
