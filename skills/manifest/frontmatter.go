package manifest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// parseDocument splits a file into frontmatter and text. It tolerates a byte order
// mark, CRLF, space behind a fence, blank lines and HTML comments before the first one,
// and no frontmatter at all.
func parseDocument(data []byte) (*document, error) {
	text, err := plainText(data)
	if err != nil {
		return nil, err
	}
	lines, first := strings.Split(text, "\n"), linesBefore(text)
	if first >= len(lines) || !isFence(lines[first]) {
		return &document{body: text}, nil
	}
	front := lines[first+1:]
	n := slices.IndexFunc(front, isFence)
	if n < 0 {
		return nil, Errorf(Position{first + 1, 1}, `add a line "---" below the last field`, "the frontmatter is not closed")
	}
	doc := &document{offset: first + 1, late: first > 0, body: strings.Join(front[n+1:], "\n"), bodyAt: first + n + 2}
	doc.oddBreaks = slices.ContainsFunc(front[:n], func(line string) bool { return strings.ContainsAny(line, "\r\u0085\u2028\u2029") })
	return doc, doc.decode(append(slices.Clip(front[:n]), "")) // the last line has an end, which a block of text keeps
}

func isFence(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// Frontmatter returns the frontmatter of a SKILL.md as JSON values, as any reader
// of YAML 1.2 sees it: the file must begin with it, nothing of it is repaired, and a
// key that is there twice, or a value that JSON does not have, is an error.
func Frontmatter(data []byte) (map[string]any, error) {
	doc, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	if doc.front == nil || doc.late {
		return nil, Errorf(Position{Line: 1}, `begin the file with name and description between two lines "---"`, "the file does not begin with frontmatter")
	}
	if repaired := slices.Concat(doc.repaired, doc.requoted); len(repaired) > 0 {
		return nil, Errorf(repaired[0], "quote the value", "the frontmatter is YAML only after repair")
	}
	if doc.oddBreaks {
		return nil, Errorf(Position{Line: 1}, "end lines with a line feed", "the frontmatter has line breaks that not every reader of YAML knows")
	}
	if err := checkJSON(doc.front); err != nil {
		return nil, err
	}
	return doc.values()
}

// checkJSON returns an error for YAML that has no equal in JSON, or that readers of YAML
// do not agree on.
func checkJSON(node *yaml.Node) error {
	keys := map[string]bool{}
	if node.Kind == yaml.ScalarNode && node.Style == 0 && number(node.Value) == math.Inf(1) {
		return Errorf(posOf(node), "quote it", "JSON has no number %s", node.Value)
	}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			switch {
			case child.Kind != yaml.ScalarNode || fmt.Sprint(convertScalar(child)) != child.Value:
				return Errorf(posOf(child), "quote it", "a key is not text")
			case keys[child.Value]:
				return Errorf(posOf(child), "keep one of them", "%s is there twice", show(child.Value))
			}
			keys[child.Value] = true
		}
		if err := checkJSON(child); err != nil {
			return err
		}
	}
	return nil
}

// hasKey reports whether one of a mapping's keys is wanted.
func hasKey(mapping *yaml.Node, wanted func(string) bool) bool {
	for i := 0; mapping != nil && i+1 < len(mapping.Content); i += 2 {
		if wanted(mapping.Content[i].Value) {
			return true
		}
	}
	return false
}

func isKey(key string) func(string) bool { return func(k string) bool { return k == key } }

// linesBefore counts the lines before a text's first that is neither blank nor
// part of an HTML comment.
func linesBefore(text string) int {
	at := 0
	for {
		rest := strings.TrimLeftFunc(text[at:], isInvisible)
		if rest == "" {
			return strings.Count(text, "\n") + 1
		}
		at = len(text) - len(rest)
		end := strings.Index(rest, "-->")
		if !strings.HasPrefix(rest, "<!--") || end < 0 {
			return strings.Count(text[:at], "\n")
		}
		at += end + len("-->")
	}
}

func isInvisible(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// lost returns the lines of restricting fields outside of the frontmatter, by
// their keys. Below a frontmatter with a name or a description there is text,
// which may speak of such fields.
func (d *document) lost() map[string]int {
	if hasKey(d.front, isKey("name")) || hasKey(d.front, isKey("description")) {
		return nil
	}
	return lostIn(d.body, d.bodyAt)
}
