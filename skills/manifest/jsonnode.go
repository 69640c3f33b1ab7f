package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// parseJSON reads a JSON text into the nodes that manifests are read from, so
// that each key knows its line. (Not every JSON text is YAML: "\/" is not.)
func parseJSON(data []byte) (*yaml.Node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	// This checks the whole text, its depth included.
	if err := json.Unmarshal(data, new(any)); err != nil {
		r := Errorf(Position{}, "correct the JSON", "it is not JSON: %v", err)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			r.at = placeAt(data, syntax.Offset)
		}
		return nil, r
	}
	d := &jsonReader{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	d.decoder.UseNumber()
	return d.value()
}

// placeAt returns the position of the character that ends at offset, the place of a
// syntax error.
func placeAt(data []byte, offset int64) Position {
	before := data[:max(0, min(offset, int64(len(data)))-1)]
	d := &jsonReader{data: before}
	d.count(int64(len(before)))
	return d.place()
}

// jsonReader makes nodes of the tokens of a valid text.
type jsonReader struct {
	data    []byte
	decoder *json.Decoder
	line    int   // at offset, from 0
	col     int   // at offset, from 0, in characters
	offset  int64 // up to which lines and characters were counted
}

func (d *jsonReader) value() (*yaml.Node, error) {
	d.skipSpace()
	token, err := d.decoder.Token()
	if err != nil {
		return nil, err
	}
	at := d.place()
	node := &yaml.Node{Kind: yaml.ScalarNode, Line: at.Line, Column: at.Col}
	switch t := token.(type) {
	case json.Delim:
		return d.collection(t, node)
	case string:
		node.Tag, node.Value = "!!str", t
	case bool:
		node.Tag, node.Value = "!!bool", strconv.FormatBool(t)
	case json.Number:
		node.Tag, node.Value = "!!float", t.String()
		if _, err := strconv.ParseInt(t.String(), 10, 64); err == nil {
			node.Tag = "!!int"
		}
	default:
		node.Tag = "!!null"
	}
	return node, nil
}

func (d *jsonReader) collection(open json.Delim, node *yaml.Node) (*yaml.Node, error) {
	node.Kind = yaml.SequenceNode
	if open == '{' {
		node.Kind = yaml.MappingNode // keys come as values do, in turn
	}
	for d.decoder.More() {
		item, err := d.value()
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, item)
	}
	_, err := d.decoder.Token() // the closing one
	return node, err
}

// skipSpace goes to where the next token begins.
func (d *jsonReader) skipSpace() {
	end := d.decoder.InputOffset()
	for end < int64(len(d.data)) && bytes.IndexByte([]byte(" \t\r\n,:"), d.data[end]) >= 0 {
		end++
	}
	d.count(end)
}

// place returns the position of the token that was read last.
func (d *jsonReader) place() Position { return Position{d.line + 1, d.col + 1} }

// count advances line and column to an offset.
func (d *jsonReader) count(until int64) {
	text := d.data[d.offset:until]
	d.line += bytes.Count(text, []byte("\n"))
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		d.col, text = 0, text[i+1:]
	}
	d.col += utf8.RuneCount(text)
	d.offset = until
}
