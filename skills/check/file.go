package check

import (
	"errors"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxFile is the largest file that is looked at, in bytes, as for loading.
const maxFile = 1 << 20

// A file is a SKILL.md that was split at its frontmatter.
type file struct {
	mark  string   // the byte order mark, or ""
	lines []string // with their ends, up to the closing fence
	open  int      // the index of the opening fence
	body  string   // the text below the closing fence
}

const byteOrderMark = "\ufeff"

// split finds the frontmatter as loading does: after a byte order mark and blank lines.
// ok is false if the file has none that is closed, or is not text.
func split(data []byte) (f file, ok bool) {
	text := string(data)
	if len(data) > maxFile || !utf8.Valid(data) || strings.ContainsRune(text, 0) {
		return file{}, false
	}
	f.open = -1
	if rest, marked := strings.CutPrefix(text, byteOrderMark); marked {
		f.mark, text = byteOrderMark, rest
	}
	at := 0
	for line := range strings.Lines(text) {
		f.lines = append(f.lines, line)
		at += len(line)
		fence := strings.TrimRight(withoutEnd(line), " \t") == "---"
		switch {
		case fence && f.open >= 0:
			f.body = text[at:]
			return f, true
		case fence:
			f.open = len(f.lines) - 1
		case f.open < 0 && strings.TrimSpace(line) != "":
			return file{}, false
		}
	}
	return file{}, false
}

// String returns the text of the file.
func (f file) String() string { return f.mark + strings.Join(f.lines, "") + f.body }

// fields returns the lines between the fences.
func (f file) fields() []string { return f.lines[f.open+1 : len(f.lines)-1] }

// withoutEnd returns a line without its end.
func withoutEnd(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}

// hasOddBreaks reports whether a text has line ends that only YAML knows: its
// line numbers then differ from those that people count.
func hasOddBreaks(text string) bool {
	return strings.ContainsAny(strings.ReplaceAll(text, "\r\n", ""), "\r\u0085\u2028\u2029")
}

var errNoMapping = errors.New("it is not a mapping")

// decode returns the mapping node of YAML fields, nil if there are none.
func decode(text string) (*yaml.Node, error) {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "\r\n", "\n")), &node); err != nil {
		return nil, err
	}
	if len(node.Content) == 0 {
		return nil, nil
	}
	if node.Content[0].Kind != yaml.MappingNode {
		return nil, errNoMapping
	}
	return node.Content[0], nil
}

// lookup returns the key and the value of the last field of a name, and the number
// of fields of that name.
func lookup(fields *yaml.Node, name string) (key, value *yaml.Node, times int) {
	if fields == nil {
		return nil, nil, 0
	}
	for i := 0; i+1 < len(fields.Content); i += 2 {
		if fields.Content[i].Value == name {
			key, value = fields.Content[i], fields.Content[i+1]
			times++
		}
	}
	return key, value, times
}

func deref(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}
