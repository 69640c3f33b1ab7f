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
	front     *yaml.Node // the mapping; nil without frontmatter
	offset    int        // lines in the file before the frontmatter's first
	late      bool       // the frontmatter does not begin the file
	oddBreaks bool       // the frontmatter has line breaks of YAML 1.1
	body      string
	bodyAt    int        // lines in the file before the body
	repaired  []Position // fields that were quoted for their colons to make them YAML
	requoted  []Position // fields that were quoted because they look like lists or aliases
}

// decode reads the frontmatter, if need be after repairing it.
func (d *document) decode(lines []string) error {
	node, err := decodeYAML(lines)
	if err != nil {
		repaired, changed := QuoteColons(lines)
		again, stillBad := decodeYAML(repaired)
		if len(changed) == 0 || stillBad != nil {
			return d.syntaxError("the frontmatter", lines, err)
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
		report(skills.Note, Position{Line: d.offset}, "move it to the top of the file", "the frontmatter does not begin the file, so other clients do not read it")
	}
	for _, at := range d.repaired {
		report(skills.Warning, at, "quote the value", "a value with a colon is not quoted; it was read as if it were")
	}
	for _, at := range d.requoted {
		report(skills.Warning, at, "quote the value", "a value that looks like a list or an alias is not quoted; it was read as if it were")
	}
}

// plainText returns a file without byte order mark and carriage returns.
func plainText(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return "", Errorf(Position{Line: 1 + bytes.Count(data[:bytes.IndexRune(data, utf8.RuneError)], []byte("\n"))}, "save the file as UTF-8", "it is not valid UTF-8")
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

// syntaxError places an error of the YAML library in the file.
func (d *document) syntaxError(what string, lines []string, err error) error {
	line, message := YAMLLine(err)
	if strings.HasSuffix(message, "that cannot start any token") && line <= len(lines) && strings.HasPrefix(strings.TrimLeft(lines[line-1], " "), "\t") {
		return Errorf(Position{Line: d.offset + line}, "indent with spaces", "%s is not YAML: a tab indents the line", what)
	}
	return Errorf(Position{Line: d.offset + line}, "quote values that contain : # or quotes, and indent with spaces", "%s is not YAML: %s", what, message)
}

// YAMLLine returns the line, from 1, that an error of the YAML library speaks of, and its
// message. The library names none where it means the first, and for control characters.
func YAMLLine(err error) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	m := yamlLine.FindStringSubmatchIndex(message)
	if m == nil {
		return 1, message
	}
	line, _ = strconv.Atoi(message[m[2]:m[3]])
	message = message[:m[0]] + message[m[1]:]
	if fromParser.MatchString(message) {
		line++
	}
	return line, message
}
