package skills

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxManifest is the largest SKILL.md or plugin.json that is read, in bytes.
const maxManifest = 1 << 20

// A document is a Markdown file with YAML frontmatter, taken apart.
type document struct {
	front    *yaml.Node // the mapping; nil without frontmatter
	offset   int        // lines in the file before the frontmatter's first
	late     bool       // the frontmatter does not begin the file
	blank    bool       // nothing but blank lines are before it
	before   string     // text before it
	body     string     // with the text before, if there is any
	bodyAt   int        // lines in the file before the body
	repaired []int      // lines of the file that were quoted for their colons to make them YAML
	requoted []int      // lines that were quoted because they look like lists or aliases
}

// parseDocument takes a file apart. It tolerates a byte order mark, CRLF, what
// [findLate] does before the fence and space behind one, and no frontmatter at all.
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
	err := reject(line, `add a line "---" below the last field`, "the frontmatter is not closed")
	err.col = 1
	return err
}

// plainText returns a file without byte order mark and carriage returns.
func plainText(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return "", reject(invalidLine(data), "save the file as UTF-8", "it is not valid UTF-8")
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", reject(1+bytes.Count(data[:i], []byte("\n")), "remove the NUL byte", "it contains a NUL byte")
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
	node, err := decodeYAML(strings.Split(text, "\n"))
	switch {
	case err != nil:
		return nil, doc.syntaxError("the file", err)
	case node == nil || node.Kind != yaml.MappingNode:
		return nil, reject(1, `write each field as "key: value"`, "the file is not a mapping")
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
	if err != nil {
		repaired, changed := quoteColons(lines)
		again, stillBad := decodeYAML(repaired)
		if len(changed) == 0 || stillBad != nil {
			return d.syntaxError("the frontmatter", err)
		}
		node = again
		for _, i := range changed {
			if plainField.MatchString(lines[i]) {
				d.repaired = append(d.repaired, d.offset+i+1)
			} else {
				d.requoted = append(d.requoted, d.offset+i+1)
			}
		}
	}
	if node == nil { // an empty frontmatter
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return reject(d.offset+node.Line, `write each field as "key: value"`, "the frontmatter is not a mapping")
	}
	d.front = node
	return nil
}

// values returns the whole frontmatter as JSON values.
func (d *document) values() (map[string]any, error) {
	value, err := jsonValue(d.front)
	if err != nil {
		return nil, reject(d.offset, "use fewer aliases", "the frontmatter is too large: %v", err)
	}
	values, _ := value.(map[string]any)
	return values, nil
}

// repairs tells where the frontmatter was found, if not at the top, and of the
// lines that were quoted to read them.
func (d *document) repairs(report reportFunc) {
	if d.late && d.front != nil {
		severity := Warning
		if d.blank {
			severity = Note
		}
		report(severity, d.offset, "move it to the top of the file", "the frontmatter does not begin the file, so other clients do not read it")
	}
	for _, line := range d.repaired {
		report(Warning, line, "quote the value", "a value with a colon is not quoted; it was read as if it were")
	}
	for _, line := range d.requoted {
		report(Warning, line, "quote the value", "a value that looks like a list or an alias is not quoted; it was read as if it were")
	}
}

func decodeYAML(lines []string) (*yaml.Node, error) {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")), &node); err != nil {
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

// syntaxError places an error of the YAML library in the file.
func (d *document) syntaxError(what string, err error) error {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if m := yamlLine.FindStringSubmatchIndex(message); m != nil {
		n, _ := strconv.Atoi(message[m[2]:m[3]])
		line, message = d.offset+n, message[:m[0]]+message[m[1]:]
		if fromParser.MatchString(message) {
			line++
		}
	}
	return reject(line, "quote values that contain : # or quotes, and indent with spaces", "%s is not YAML: %s", what, message)
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
	for i, line := range lines {
		m, flow := plainField.FindStringSubmatch(line), false
		if m == nil {
			m, flow = flowField.FindStringSubmatch(line), true
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

// Frontmatter returns the frontmatter of a SKILL.md as JSON values, as any reader
// of the Agent Skills standard sees it: the file must begin with it, and nothing
// of it is repaired.
func Frontmatter(data []byte) (map[string]any, error) {
	doc, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	if doc.front == nil || doc.late {
		return nil, reject(1, `begin the file with name and description between two lines "---"`, "the file does not begin with frontmatter")
	}
	if repaired := append(doc.repaired, doc.requoted...); len(repaired) > 0 {
		return nil, reject(repaired[0], "quote the value", "the frontmatter is YAML only after repair")
	}
	coreNumbers(doc.front)
	return doc.values()
}
