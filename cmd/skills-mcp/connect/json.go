package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFormat is JSON, with comments and trailing commas where a file has them.
type jsonFormat struct {
	section string
}

func (f jsonFormat) within() string { return f.section }

func (f jsonFormat) snippet(name string, entry fields) []byte {
	return []byte(encode(fields{{f.section, fields{{name, entry}}}}, "", "  ") + "\n")
}

func (f jsonFormat) tree(data []byte) (map[string]any, error) {
	if _, err := parseJSON(data); err != nil {
		return nil, err
	}
	if empty(data) {
		return map[string]any{}, nil
	}
	standard, err := hujson.Standardize(slices.Clone(data)) // it blanks comments in place
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(standard))
	decoder.UseNumber()
	var tree map[string]any
	return tree, decoder.Decode(&tree)
}

func (f jsonFormat) text(data []byte, name string) string {
	doc, err := parseJSON(data)
	if err != nil {
		return ""
	}
	_, entry, err := doc.find(f.section, name)
	if err != nil || entry == nil {
		return ""
	}
	return string(doc.data[entry.Name.StartOffset:entry.Value.EndOffset])
}

func (f jsonFormat) set(data []byte, name string, written fields) ([]byte, error) {
	doc, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	section, entry, err := doc.find(f.section, name)
	switch {
	case err != nil:
		return nil, err
	case entry != nil:
		return doc.replace(*entry, written), nil
	case section != nil:
		return doc.insert(section.Value, name, written), nil
	}
	return doc.insert(doc.root, f.section, fields{{name, written}}), nil
}

func (f jsonFormat) remove(data []byte, name string) ([]byte, error) {
	doc, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	section, entry, err := doc.find(f.section, name)
	if err != nil || entry == nil {
		return data, err
	}
	return doc.delete(section.Value, name)
}

// A jsonDoc is a file whose values know where they are.
type jsonDoc struct {
	data []byte
	root hujson.Value // an object
}

// maxDepth is how deep a file may be nested; its parser calls itself for each.
const maxDepth = 1000

func parseJSON(data []byte) (*jsonDoc, error) {
	if empty(data) {
		data = []byte("{}" + newline(data))
	}
	if depth(data) > maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d", maxDepth)
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, fmt.Errorf("line %d: it is not an object", line(data, root.StartOffset))
	}
	return &jsonDoc{data, root}, nil
}

// empty reports whether there are blanks alone, as in a file just made.
func empty(data []byte) bool { return len(bytes.Trim(data, " \t\r\n")) == 0 }

// depth is how deep the brackets of a file are nested, those in strings and
// comments left out.
func depth(data []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = skipString(data, i) - 1
		case c == '/' && bytes.HasPrefix(data[i:], []byte("//")):
			i = skipTo(data, i, "\n") - 1
		case c == '/' && bytes.HasPrefix(data[i:], []byte("/*")):
			i = skipTo(data, i+2, "*/") - 1
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// skipString returns the offset after the string that begins at i, with the
// quote that is there and escapes.
func skipString(data []byte, i int) int {
	quote := data[i]
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(data)
}

// skipTo returns the offset after the next mark, or the end.
func skipTo(data []byte, i int, mark string) int {
	if at := bytes.Index(data[i:], []byte(mark)); at >= 0 {
		return i + at + len(mark)
	}
	return len(data)
}

func line(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }

// find returns the section and the entry; nil for what is not there.
func (d *jsonDoc) find(section, name string) (in, entry *hujson.ObjectMember, err error) {
	if in, err = d.member(d.root, section); err != nil || in == nil {
		return nil, nil, err
	}
	if _, ok := in.Value.Value.(*hujson.Object); !ok {
		return nil, nil, fmt.Errorf("line %d: %q is not an object; fix it by hand", line(d.data, in.Value.StartOffset), section)
	}
	entry, err = d.member(in.Value, name)
	return in, entry, err
}

// member returns what an object has by a key. Of two with one key readers take
// one or the other, so that is an error.
func (d *jsonDoc) member(object hujson.Value, key string) (*hujson.ObjectMember, error) {
	var found *hujson.ObjectMember
	members := object.Value.(*hujson.Object).Members
	for i := range members {
		if members[i].Name.Value.(hujson.Literal).String() != key {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("line %d: %q is there a second time; take one out", line(d.data, members[i].Name.StartOffset), key)
		}
		found = &members[i]
	}
	return found, nil
}
