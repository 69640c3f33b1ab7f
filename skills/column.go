package skills

import (
	"errors"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// A key is where a key of a mapping stands.
type key struct {
	name string
	col  int
}

// columns are the keys of a manifest by their lines in the file, in the order in
// which they stand there.
type columns map[int][]key

// newColumns walks a manifest, each node once. offset is the number of lines in
// the file before the manifest's first.
func newColumns(root *yaml.Node, offset int) columns {
	c := columns{}
	c.add(root, offset)
	return c
}

func (c columns) add(node *yaml.Node, offset int) {
	if node == nil {
		return
	}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Column > 0 {
			line := offset + child.Line
			c[line] = append(c[line], key{child.Value, child.Column})
		}
		c.add(child, offset)
	}
}

// of returns the column of what a message about a line speaks of: a key of that
// line which it quotes or begins with, or else the first one. It is 0 where the
// line has none.
func (c columns) of(line int, message string) int {
	keys := c[line]
	if len(keys) == 0 {
		return 0
	}
	keys = keys[:min(len(keys), maxKeys)]
	for _, k := range keys {
		if strings.Contains(message, strconv.Quote(k.name)) {
			return k.col
		}
	}
	for _, k := range keys {
		if strings.HasPrefix(strings.TrimPrefix(message, "the "), k.name+" ") {
			return k.col
		}
	}
	return keys[0].col
}

// maxKeys is how many keys of one line are looked at. A manifest may be one line
// of very many.
const maxKeys = 100

// locate gives the problems of a manifest, the file at path, their columns, where
// they have a line and no column.
func locate(problems []Problem, path string, root *yaml.Node, offset int) {
	var c columns
	for i := range problems {
		p := &problems[i]
		if p.Path != path || p.Line == 0 || p.Col > 0 {
			continue
		}
		if c == nil { // most manifests have no problems
			c = newColumns(root, offset)
		}
		p.Col = c.of(p.Line, p.Message)
	}
}

// located gives a rejection its column likewise.
func located(err error, doc *document) error {
	var r *rejection
	if errors.As(err, &r) && r.line > 0 && r.col == 0 {
		r.col = newColumns(doc.front, doc.offset).of(r.line, r.message)
	}
	return err
}
