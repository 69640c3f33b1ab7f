package manifest

import (
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// parseDocument splits a file into frontmatter and text. It tolerates a byte order
// mark, CRLF, space behind a fence, the text that [findLate] skips before the first
// one, and no frontmatter at all.
func parseDocument(data []byte) (*document, error) {
	text, err := plainText(data)
	if err != nil {
		return nil, err
	}
	first, rest := 1, text
	line, rest, more := strings.Cut(rest, "\n")
	for more && strings.TrimSpace(line) == "" {
		first++
		line, rest, more = strings.Cut(rest, "\n")
	}
	if !isFence(line) {
		doc, err := findLate(text)
		if doc == nil && err == nil {
			doc = &document{body: text}
		}
		return doc, err
	}
	var front []string
	for more {
		line, rest, more = strings.Cut(rest, "\n")
		if isFence(line) {
			doc := &document{offset: first, late: first > 1, blank: true, body: rest, bodyAt: first + len(front) + 1}
			return doc, doc.decode(front)
		}
		front = append(front, line)
	}
	return nil, unclosed(first)
}

func isFence(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// Frontmatter returns the frontmatter of a SKILL.md as JSON values, as any reader
// of the Agent Skills standard sees it: the file must begin with it, and nothing
// of it is repaired.
func Frontmatter(data []byte) (map[string]any, error) {
	doc, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	if doc.front == nil || doc.late {
		return nil, Errorf(Position{Line: 1}, `begin the file with name and description between two lines "---"`, "the file does not begin with frontmatter")
	}
	if repaired := slices.Concat(doc.repaired, doc.requoted, doc.indented); len(repaired) > 0 {
		return nil, Errorf(repaired[0], "quote the value", "the frontmatter is YAML only after repair")
	}
	coreNumbers(doc.front)
	return doc.values()
}

func unclosed(line int) error {
	return Errorf(Position{line, 1}, `add a line "---" below the last field`, "the frontmatter is not closed")
}

// findLate looks for frontmatter in a text that does not begin with it. Other
// clients ignore it, but it may be the only place that restricts the skill.
// It is certain behind nothing but blank lines, HTML comments and the opening of
// a code block; behind other text it needs a name and a description, which two
// horizontal rules do not have between them. It returns nil where there is none,
// and an error where it is not YAML.
func findLate(text string) (*document, error) {
	lines := strings.Split(text, "\n")
	start := linesBefore(text)
	if start < len(lines) && isCodeFence(lines[start]) {
		doc, err := inCodeBlock(lines, start)
		if doc != nil || err != nil {
			return doc, err
		}
	}
	code := "" // the fence of the code block that the line is in
	for i := start; i < len(lines); i++ {
		switch {
		case code != "":
			if closesCode(lines[i], code) {
				code = ""
			}
		case isCodeFence(lines[i]):
			code = codeFence(lines[i])
		case opensComment(lines[i]):
			if n := slices.IndexFunc(lines[i+1:], func(line string) bool { return strings.Contains(line, "-->") }); n >= 0 {
				i += n + 1
			}
		case isLateFence(lines[i]) && (i == start || !isIndented(lines[i])):
			if doc, err := readLate(lines, i, isLateFence, i == start); doc != nil || err != nil {
				return doc, err
			}
		}
	}
	return nil, nil
}

// inCodeBlock reads frontmatter that a file shows as code, with its fences or
// without, in a block that opens on the line at.
func inCodeBlock(lines []string, at int) (*document, error) {
	inner := at + 1
	for inner < len(lines) && isBlank(lines[inner]) {
		inner++
	}
	if inner == len(lines) || !isLateFence(lines[inner]) {
		closes := func(line string) bool { return closesCode(line, codeFence(lines[at])) }
		return readLate(lines, at, closes, false)
	}
	doc, err := readLate(lines, inner, isLateFence, true)
	if doc != nil {
		body, closing := strings.TrimSpace(doc.body), codeFence(lines[at])
		body = strings.TrimPrefix(body, closing)
		doc.body = strings.TrimSuffix(body, closing)
	}
	return doc, err
}

// readLate reads the lines behind the one at open, up to one that closes them, as
// frontmatter. Where that is not sure, it needs a name and a description.
func readLate(lines []string, open int, closes func(string) bool, sure bool) (*document, error) {
	n := slices.IndexFunc(lines[open+1:], closes)
	front := lines[open+1:]
	if n >= 0 {
		front = front[:n]
	}
	named, described := slices.ContainsFunc(front, isField("name")), slices.ContainsFunc(front, isField("description"))
	switch {
	case !sure && !(named && described), n < 0 && !(sure && (named || described)):
		return nil, nil
	case n < 0:
		return nil, unclosed(open + 1)
	}
	end := open + 1 + n + 1
	doc := &document{offset: open + 1, late: true, body: strings.Join(lines[end:], "\n"), bodyAt: end}
	err := doc.decode(front)
	switch {
	case err != nil && sure && (named || described):
		return nil, err
	case err != nil, doc.front == nil, sure && !hasKey(doc.front, func(key string) bool { return DialectOf(key) != "" }):
		return nil, nil
	case !sure && !(hasKey(doc.front, isKey("name")) && hasKey(doc.front, isKey("description"))):
		return nil, nil
	}
	if before := lines[:open]; !sure && linesBefore(strings.Join(before, "\n")) < len(before) {
		doc.before = strings.Join(before, "\n")
		doc.body = doc.before + "\n" + doc.body
	}
	return doc, nil
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

// isField recognizes a line "key: value".
func isField(key string) func(string) bool {
	return func(line string) bool {
		before, _, ok := strings.Cut(line, ":")
		return ok && strings.Trim(before, " \t\"'") == key
	}
}

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

func isBlank(line string) bool { return strings.TrimFunc(line, isInvisible) == "" }

func isLateFence(line string) bool { return strings.TrimFunc(line, isInvisible) == "---" }

func isCodeFence(line string) bool { return codeFence(line) != "" }

// codeFence returns the fence that opens a code block, such as "```", in a list
// too, or "".
func codeFence(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, mark := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, mark))
		if n >= 3 && !(mark == "`" && strings.Contains(line[n:], mark)) {
			return line[:n]
		}
	}
	return ""
}

// closesCode reports whether a line ends the code block that fence has opened: a
// shorter fence, or one of the other kind, is part of the code.
func closesCode(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// isIndented reports whether Markdown takes a line for code.
func isIndented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
}

// opensComment reports whether a line begins an HTML comment that goes on below.
func opensComment(line string) bool {
	at := strings.LastIndex(line, "<!--")
	return at >= 0 && !strings.Contains(line[at:], "-->")
}

// lost returns the lines of restricting fields outside of the frontmatter, by
// their keys. Below a frontmatter with a name or a description there is text,
// which may speak of such fields.
func (d *document) lost() map[string]int {
	text, at := d.before, 0
	if !hasKey(d.front, isKey("name")) && !hasKey(d.front, isKey("description")) {
		text, at = d.body, d.bodyAt
	}
	return lostIn(text, at)
}
