package manifest

import (
	"encoding/json"
	"errors"

	"github.com/titanous/json5"
	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// maxMetadata is the longest text that is read as JSON5, in bytes. It bounds how
// deep that can nest.
const maxMetadata = 64 << 10

// unquoted returns the value that a text holds as JSON or JSON5, or the node
// itself where it is no such text. The error is for one that was meant to be.
func unquoted(node *yaml.Node) (*yaml.Node, error) {
	if node.Kind != yaml.ScalarNode || isNull(node) {
		return node, nil
	}
	value, err := parseJSON5(node.Value)
	switch {
	case err == nil && value.Kind == yaml.MappingNode:
		locate(value, node)
		return value, nil
	case restricting.MatchString(node.Value):
		return nil, errors.New("it is neither a map nor JSON")
	}
	return node, nil
}

// locate gives a node, and those below it, the position of the text that holds
// them.
func locate(node, text *yaml.Node) {
	node.Line, node.Column = text.Line, text.Column
	for _, child := range node.Content {
		locate(child, text)
	}
}

// parseJSON5 reads JSON5, and so JSON. The nodes have positions in the text.
func parseJSON5(text string) (*yaml.Node, error) {
	if len(text) > maxMetadata {
		return nil, errors.New("it is too long")
	}
	var value any
	if err := json5.Unmarshal([]byte(text), &value); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(value) // which refuses Infinity and NaN
	if err != nil {
		return nil, err
	}
	return parseJSON(plain)
}

// restricting matches words of requirements in a text that is not readable.
var restricting = lazyregexp.New(`(?i)openclaw|moltbot|clawdbot|clawdis|requires|["']?os["']?\s*:`)
