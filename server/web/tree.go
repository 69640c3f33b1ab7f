package web

import (
	"bytes"
	"encoding/json"
	"io"
)

// A node is a JSON value as a part of a tree.
type node struct {
	Key   string // its name or index in the value around
	Value string // of a value that is no object and no list, as JSON prints it
	Text  bool   // Value is that of a string
	Kind  string // "object" or "list"; "" is neither
	Parts []node
	Open  bool
}

// Bounds of a tree. A larger value is shown as text.
const (
	maxNodes     = 2000
	maxTreeDepth = 24
)

// newTree returns the tree of a JSON document; nil for other texts, and for a value that is
// neither an object nor a list.
func newTree(document []byte) *node {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	left := maxNodes
	root, ok := readNode(d, 0, &left)
	if _, err := d.Token(); !ok || err != io.EOF || root.Kind == "" {
		return nil
	}
	return &root
}

// readNode reads a value. ok is false for one that is wrong or beyond the bounds.
func readNode(d *json.Decoder, depth int, left *int) (n node, ok bool) {
	token, err := d.Token()
	if *left--; err != nil || *left < 0 || depth > maxTreeDepth {
		return n, false
	}
	switch t := token.(type) {
	case json.Delim:
		n.Open = depth < 2
		return n, n.read(t, d, depth, left)
	case string:
		n.Value, n.Text = t, true
	case nil:
		n.Value = "null"
	default:
		text, err := json.Marshal(t)
		n.Value = string(text)
		return n, err == nil
	}
	return n, true
}

// read reads the parts of an object or a list up to its end.
func (n *node) read(begin json.Delim, d *json.Decoder, depth int, left *int) bool {
	n.Kind = map[json.Delim]string{'{': "object", '[': "list"}[begin]
	for d.More() {
		key := ""
		if n.Kind == "object" {
			name, err := d.Token()
			if err != nil {
				return false
			}
			key = name.(string) // the decoder refuses others
		}
		part, ok := readNode(d, depth+1, left)
		if !ok {
			return false
		}
		part.Key = key
		n.Parts = append(n.Parts, part)
	}
	_, err := d.Token()
	return err == nil
}
