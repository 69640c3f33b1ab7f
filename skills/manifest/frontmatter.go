package manifest

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// maxManifest is the largest SKILL.md or plugin.json that is read, in bytes.
const MaxSize = 1 << 20

// A document is a Markdown file with YAML frontmatter, taken apart.
type document struct {
	front    *yaml.Node // the mapping; nil without frontmatter
	offset   int        // lines in the file before the frontmatter's first
	late     bool       // the frontmatter does not begin the file
	blank    bool       // nothing but blank lines are before it
	before   string     // text before it
	body     string     // with the text before, if there is any
	bodyAt   int        // lines in the file before the body
	repaired []Position // fields that were quoted for their colons to make them YAML
	requoted []Position // fields that were quoted because they look like lists or aliases
	indented []Position // first lines of texts that were indented
}

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

func unclosed(line int) error {
	return Errorf(Position{line, 1}, `add a line "---" below the last field`, "the frontmatter is not closed")
}

// plainText returns a file without byte order mark and carriage returns.
func plainText(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return "", Errorf(Position{Line: invalidLine(data)}, "save the file as UTF-8", "it is not valid UTF-8")
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", Errorf(Position{Line: 1 + bytes.Count(data[:i], []byte("\n"))}, "remove the NUL byte", "it contains a NUL byte")
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

// parseYAML reads a file that is YAML as a whole, into a mapping.
func parseYAML(data []byte) (*yaml.Node, error) {
	text, err := plainText(data)
	if err != nil {
		return nil, err
	}
	doc := &document{}
	lines := strings.Split(text, "\n")
	node, err := decodeYAML(lines)
	switch {
	case err != nil:
		return nil, doc.syntaxError("the file", lines, err)
	case node == nil || node.Kind != yaml.MappingNode:
		return nil, Errorf(Position{Line: 1}, `write each field as "key: value"`, "the file is not a mapping")
	}
	return node, nil
}

func isFence(line string) bool { return strings.TrimRight(line, " \t") == "---" }

func invalidLine(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line
}

// decode reads the frontmatter, if need be after repairing it.
func (d *document) decode(lines []string) error {
	node, err := decodeYAML(lines)
	if err == nil && hasEmptyBlock(node) {
		indented, moved := indentBlocks(lines)
		if again, stillBad := decodeYAML(indented); len(moved) > 0 && stillBad == nil {
			node, d.indented = again, d.keysAt(lines, moved)
		}
	}
	if err != nil {
		repaired, changed := quoteColons(lines)
		again, stillBad := decodeYAML(repaired)
		if len(changed) == 0 || stillBad != nil {
			indented, moved := indentBlocks(lines)
			repaired, changed = quoteColons(indented)
			if again, stillBad = decodeYAML(repaired); len(moved) == 0 || stillBad != nil {
				return d.syntaxError("the frontmatter", lines, err)
			}
			d.indented = d.keysAt(lines, moved)
		}
		node = again
		for _, i := range changed {
			if plainField.MatchString(lines[i]) {
				d.repaired = append(d.repaired, d.keyAt(lines, i))
			} else {
				d.requoted = append(d.requoted, d.keyAt(lines, i))
			}
		}
	}
	if node == nil { // an empty frontmatter
		return nil
	}
	shift(node, d.offset)
	if node.Kind != yaml.MappingNode {
		return Errorf(posOf(node), `write each field as "key: value"`, "the frontmatter is not a mapping")
	}
	d.front = node
	return nil
}

// keysAt returns the positions of the keys that begin lines of the frontmatter.
func (d *document) keysAt(lines []string, indices []int) (all []Position) {
	for _, i := range indices {
		all = append(all, d.keyAt(lines, i))
	}
	return all
}

// keyAt returns the position of the key that begins a line; of other text it is
// the line's.
func (d *document) keyAt(lines []string, i int) Position {
	at := Position{Line: d.offset + i + 1}
	if m := anyKey.FindStringSubmatch(lines[i]); m != nil {
		at.Col = utf8.RuneCountInString(m[1]) + 1
	}
	return at
}

// anyKey matches the beginning of a line "key:", or of "- key:".
var anyKey = regexp.MustCompile(`^(\s*(?:- )?)[A-Za-z0-9_.-]+:`)

// shift moves the positions of a node, and of those below it, by lines.
func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, child := range node.Content {
		shift(child, lines)
	}
}

// hasEmptyBlock reports whether a field announces a block of text and has none: the
// text was not indented, and its lines with a colon became fields.
func hasEmptyBlock(node *yaml.Node) bool {
	if node == nil || node.Kind != yaml.MappingNode {
		return false
	}
	return slices.ContainsFunc(node.Content, func(n *yaml.Node) bool {
		return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	})
}

// values returns the whole frontmatter as JSON values.
func (d *document) values() (map[string]any, error) {
	value, err := jsonValue(d.front)
	if err != nil {
		return nil, Errorf(Position{Line: d.offset}, "use fewer aliases", "the frontmatter is too large: %v", err)
	}
	values, _ := value.(map[string]any)
	return values, nil
}

// repairs tells where the frontmatter was found, if not at the top, and of the
// lines that were quoted to read them.
func (d *document) repairs(report Report) {
	if d.late && d.front != nil {
		severity := skills.Warning
		if d.blank {
			severity = skills.Note
		}
		report(severity, Position{Line: d.offset}, "move it to the top of the file", "the frontmatter does not begin the file, so other clients do not read it")
	}
	for _, at := range d.repaired {
		report(skills.Warning, at, "quote the value", "a value with a colon is not quoted; it was read as if it were")
	}
	for _, at := range d.requoted {
		report(skills.Warning, at, "quote the value", "a value that looks like a list or an alias is not quoted; it was read as if it were")
	}
	for _, at := range d.indented {
		report(skills.Warning, at, "indent it with spaces", "a text below | or > is not indented; it was read as if it were")
	}
}

// decodeYAML reads one document. What follows it, such as a field that is indented
// less than the first, would be lost without a word, and may restrict the skill.
func decodeYAML(lines []string) (*yaml.Node, error) {
	var node, more yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(strings.Join(lines, "\n")))
	if err := decoder.Decode(&node); err != nil && err != io.EOF {
		return nil, err
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, fmt.Errorf("line %d: another document begins", more.Line)
	case err != io.EOF:
		return nil, err
	}
	if len(node.Content) == 0 {
		return nil, nil
	}
	return node.Content[0], nil
}

// yamlLine finds the line that an error of the YAML library speaks of.
var yamlLine = regexp.MustCompile(`line (\d+): `)

// fromParser matches the errors of the library's parser, which count lines from
// 0; those of its scanner count from 1.
var fromParser = regexp.MustCompile(`^did not find expected ('|key|node content|<)`)

// syntaxError places an error of the YAML library in the file. It names no line
// where it means the first, and for control characters.
func (d *document) syntaxError(what string, lines []string, err error) error {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), d.offset+1
	if strings.HasPrefix(message, "control characters") {
		for i, text := range lines {
			if at := strings.IndexFunc(text, isControl); at >= 0 {
				r, _ := utf8.DecodeRuneInString(text[at:])
				return Errorf(Position{Line: d.offset + i + 1}, "remove it", "%s contains the control character %U, which YAML does not allow", what, r)
			}
		}
	}
	if m := yamlLine.FindStringSubmatchIndex(message); m != nil {
		n, _ := strconv.Atoi(message[m[2]:m[3]])
		line, message = d.offset+n, message[:m[0]]+message[m[1]:]
		if fromParser.MatchString(message) {
			line++
		}
	}
	return Errorf(Position{Line: line}, "quote values that contain : # or quotes, and indent with spaces", "%s is not YAML: %s", what, message)
}

// isControl reports whether YAML allows a character nowhere, not even in quotes.
// Source: YAML 1.2.2, 5.1; the library allows no mark of byte order, either.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\r' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// plainField matches "key: value", where the value is plain text.
var plainField = regexp.MustCompile(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)([^\s"'|>&*!%@{\[#\x60].*)$`)

// flowField matches "key: [value" and "key: *value", where the value is plain text
// if YAML cannot read it: "[file] [line]" or "**/*.go".
var flowField = regexp.MustCompile(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)(\[[^\]\n]*\][ \t]*[^\s#,\]].*|\*[*./].*)$`)

// quoteColons quotes the plain values that contain a colon, which is what most
// of the broken frontmatter out there needs, and those that only look like
// lists or aliases. It returns the lines, and the indices of those that it
// changed.
func quoteColons(lines []string) (repaired []string, changed []int) {
	repaired = append(repaired, lines...)
	block := -1 // indentation of the field whose text this is
	for i, line := range lines {
		if block >= 0 && (strings.TrimSpace(line) == "" || indentOf(line) > block) {
			continue
		}
		block = -1
		if header := blockField.FindStringSubmatch(line); header != nil {
			block = len(header[1])
			continue
		}
		m, flow := plainField.FindStringSubmatch(line), false
		if m == nil {
			m, flow = flowField.FindStringSubmatch(line), true
		}
		if m == nil && !continues(lines[i:]) {
			m = sameLine.FindStringSubmatch(line)
		}
		if m == nil {
			continue
		}
		value := strings.TrimRight(m[2], " \t")
		if flow || strings.Contains(value, ": ") || strings.HasSuffix(value, ":") {
			repaired[i] = m[1] + "'" + strings.ReplaceAll(value, "'", "''") + "'"
			changed = append(changed, i)
		}
	}
	return repaired, changed
}

// blockField matches "key: |", with text below it, and sameLine "key: | text", which
// no YAML has.
var (
	blockField = regexp.MustCompile(`^(\s*(?:- )?)[A-Za-z0-9_.-]+:[ \t]+[|>][-+0-9]*[ \t]*(?:#.*)?$`)
	sameLine   = regexp.MustCompile(`^(\s*(?:- )?[A-Za-z0-9_.-]+:[ \t]+)[|>][-+]?[ \t]+([^\s#].*)$`)
	anyField   = regexp.MustCompile(`^[ \t]*[A-Za-z_][A-Za-z0-9_.-]*:(?:[ \t]|$)`)
)

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// continues reports whether the value of the first line goes on in the next.
func continues(lines []string) bool {
	return len(lines) > 1 && strings.TrimSpace(lines[1]) != "" && indentOf(lines[1]) > indentOf(lines[0])
}

// indentBlocks indents the texts below "key: |" that are not, up to the next
// field. It returns the lines, and the indices of the first that it changed of
// each text. It changes nothing where one of them may be a field that restricts
// the skill.
func indentBlocks(lines []string) (repaired []string, changed []int) {
	repaired = append(repaired, lines...)
	for i := 0; i < len(lines); i++ {
		header := blockField.FindStringSubmatch(lines[i])
		if header == nil {
			continue
		}
		base, first, restricts := 0, true, false
		for i++; i < len(lines); i++ {
			text, indent := strings.TrimLeft(lines[i], " \t"), indentOf(lines[i])
			if text == "" {
				continue
			}
			if indent <= len(header[1]) && anyField.MatchString(lines[i]) {
				break
			}
			restricts = restricts || len(restrictionsIn(text)) > 0
			if base == 0 {
				base = max(indent, len(header[1])+1)
			}
			if indent >= base && !strings.Contains(lines[i][:indent], "\t") {
				continue
			}
			repaired[i] = strings.Repeat(" ", max(indent, base)) + text
			if first {
				changed, first = append(changed, i), false
			}
		}
		if restricts && !first {
			return lines, nil
		}
		i--
	}
	return repaired, changed
}

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
