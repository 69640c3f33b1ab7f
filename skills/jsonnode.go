package skills

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"gopkg.in/yaml.v3"
)

// parseJSON reads a JSON text into the nodes that manifests are read from, so
// that each key knows its line. (Not every JSON text is YAML: "\/" is not.)
func parseJSON(data []byte) (*yaml.Node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	// This checks the whole text, its depth included.
	if err := json.Unmarshal(data, new(any)); err != nil {
		line := 0
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line = lineAt(data, syntax.Offset)
		}
		return nil, reject(line, "correct the JSON", "it is not JSON: %v", err)
	}
	d := &jsonReader{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	d.decoder.UseNumber()
	return d.value()
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// jsonReader makes nodes of the tokens of a valid text.
type jsonReader struct {
	data    []byte
	decoder *json.Decoder
	line    int   // at offset
	offset  int64 // up to which lines were counted
}

func (d *jsonReader) value() (*yaml.Node, error) {
	token, err := d.decoder.Token()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{Kind: yaml.ScalarNode, Line: d.countLines()}
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

// countLines returns the line of the token that was read last.
func (d *jsonReader) countLines() int {
	next := d.decoder.InputOffset()
	d.line += bytes.Count(d.data[d.offset:next], []byte("\n"))
	d.offset = next
	return d.line + 1
}
