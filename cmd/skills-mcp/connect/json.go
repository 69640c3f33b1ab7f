package connect

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"
)

// jsonFormat edits JSON, with comments and trailing commas.
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
	return f.put(data, name, written)
}

func (f jsonFormat) put(data []byte, name string, written any) ([]byte, error) {
	doc, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	section, entry, err := doc.find(f.section, name)
	switch {
	case err != nil:
	case entry != nil:
		err = doc.replace(entry, written)
	case section != nil:
		err = doc.insert(section.Value, name, written)
	default:
		err = doc.insert(doc.root, f.section, fields{{name, written}})
	}
	return doc.root.Pack(), err
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
	remove(section.Value.Value.(*hujson.Object), entry)
	return doc.root.Pack(), nil
}
