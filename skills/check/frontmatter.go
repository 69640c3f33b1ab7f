package check

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxFile is the largest file that is looked at, in bytes, as for loading.
const maxFile = 1 << 20

// frontmatter holds the position of a file's frontmatter, as byte offsets.
type frontmatter struct {
	open  int // after the line of the opening fence
	close int // at the closing fence; -1 where there is none
	end   int // after the line of the closing fence
	lines int // in the file up to open
}

// findFrontmatter finds the frontmatter as loading does: after a byte order mark
// and blank lines. ok is false if the file has none, or is not text.
func findFrontmatter(data []byte) (f frontmatter, ok bool) {
	if len(data) > maxFile || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return frontmatter{}, false
	}
	at := len(data) - len(bytes.TrimPrefix(data, []byte(byteOrderMark)))
	for at < len(data) {
		line, next := lineAt(data, at)
		at = next
		f.lines++
		if isFence(line) {
			return f.to(data, at), true
		}
		if len(bytes.TrimSpace(line)) > 0 {
			break
		}
	}
	return frontmatter{}, false
}

// to returns f from the offset open to the closing fence, if there is one.
func (f frontmatter) to(data []byte, open int) frontmatter {
	f.open, f.close = open, -1
	for at := open; at < len(data); {
		line, next := lineAt(data, at)
		if isFence(line) {
			f.close, f.end = at, next
			break
		}
		at = next
	}
	return f
}

const byteOrderMark = "\ufeff"

// lineAt returns the line that begins at an offset, without its line end, and the
// offset of the next line.
func lineAt(data []byte, at int) (line []byte, next int) {
	next = len(data)
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		next = at + i + 1
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(data[at:next], []byte("\n")), []byte("\r")), next
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t")) == "---" }

// hasOddBreaks reports whether a text has line ends that only YAML knows: its
// line numbers then differ from those that people count.
func hasOddBreaks(text []byte) bool {
	return bytes.ContainsAny(bytes.ReplaceAll(text, []byte("\r\n"), nil), "\r\u0085\u2028\u2029")
}

var errNoMapping = errors.New("it is not a mapping")

// decode returns the mapping node of YAML fields, nil if there are none.
func decode(text []byte) (*yaml.Node, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), &node); err != nil {
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
