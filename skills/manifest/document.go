package manifest

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"gopkg.in/yaml.v3"
)

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
var anyKey = lazyregexp.New(`^(\s*(?:- )?)[A-Za-z0-9_.-]+:`)

// shift moves the positions of a node, and of those below it, by lines.
func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, child := range node.Content {
		shift(child, lines)
	}
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

// repairs reports frontmatter that is not at the top, and the lines that were
// quoted to read them.
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

// parseYAML reads a file that is YAML as a whole, into a mapping. It refuses a file
// whose aliases expand to more values than one manifest may have: each of 64 tools
// could expand the same list again.
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
	if _, err := jsonValue(node); err != nil {
		return nil, Errorf(Position{Line: 1}, "use fewer aliases", "the file is too large: %v", err)
	}
	return node, nil
}

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

// decodeYAML reads one document. Text behind it, such as a field that is indented
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
var yamlLine = lazyregexp.New(`line (\d+): `)

// fromParser matches the errors of the library's parser, which count lines from
// 0; those of its scanner count from 1.
var fromParser = lazyregexp.New(`^did not find expected ('|key|node content|<)`)

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

// Numbers of YAML 1.2's core schema. The library knows those of YAML 1.1 as well:
// to it 0755 is 493, and 1_000 is no text.
var (
	coreInt   = lazyregexp.New(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`)
	coreFloat = lazyregexp.New(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	zeros     = lazyregexp.New(`^([-+]?)0+([0-9])`)
)

// coreNumbers gives the plain scalars of a node the types that other readers of
// YAML see.
func coreNumbers(node *yaml.Node) {
	for _, child := range node.Content {
		coreNumbers(child)
	}
	switch {
	case node.Kind != yaml.ScalarNode || node.Style != 0:
	case node.Tag == "!!int" && !coreInt.MatchString(node.Value),
		node.Tag == "!!float" && !coreFloat.MatchString(node.Value) && !strings.HasPrefix(strings.TrimLeft(node.Value, "+-"), "."):
		node.Tag = "!!str"
	case node.Tag == "!!int":
		node.Value = zeros.ReplaceAllString(node.Value, "$1$2")
	}
}
