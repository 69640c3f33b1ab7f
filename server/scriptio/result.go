// Package scriptio parses the output of scripts that is for the server: the result object
// on standard output, and progress and log lines on standard error. docs/skill-abi.md
// describes these formats for authors.
//
// Start with [ParseResult], [ParseProgress] and [ParseLog].
package scriptio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// key is the only key of a result object at the top.
const key = "mcp"

// A Result is a script's result object.
type Result struct {
	Items []Item // in order
	// Structured is a JSON object; nil where there is none.
	Structured json.RawMessage
	// IsError says that the script reports a failure.
	IsError bool
}

// maxItems is the number of items of one result.
const maxItems = 256

// ParseResult parses a complete standard output. It returns nil if that is no result
// object. The error describes a malformed one to the script's author.
func ParseResult(stdout []byte) (*Result, error) {
	said, ok := object(stdout)
	if !ok {
		return nil, nil
	}
	for name := range said {
		if !slices.Contains([]string{"content", "structuredContent", "isError"}, name) {
			return nil, fmt.Errorf("%q is not known in a result object: it has content, structuredContent and isError (a skill that asks declares asks in its SKILL.md)", name)
		}
	}
	r := &Result{}
	if raw := said["isError"]; raw != nil && json.Unmarshal(raw, &r.IsError) != nil {
		return nil, errors.New("isError is not true or false")
	}
	if raw := said["structuredContent"]; raw != nil {
		if !bytes.HasPrefix(raw, []byte("{")) {
			return nil, errors.New("structuredContent is not an object")
		}
		if _, err := schema.Decode(raw); err != nil {
			return nil, fmt.Errorf("structuredContent cannot be used: %w", err)
		}
		r.Structured = raw
	}
	var err error
	r.Items, err = parseItems(said["content"])
	return r, err
}

// object returns the members of the inner object of {"mcp": {…}}.
func object(stdout []byte) (map[string]json.RawMessage, bool) {
	stdout = bytes.TrimSpace(stdout)
	if !bytes.HasPrefix(stdout, []byte("{")) { // which is most output: not to be decoded for it
		return nil, false
	}
	var top, said map[string]json.RawMessage
	if json.Unmarshal(stdout, &top) != nil || !slices.Equal(slices.Collect(maps.Keys(top)), []string{key}) {
		return nil, false
	}
	return said, json.Unmarshal(top[key], &said) == nil && said != nil
}

func parseItems(raw json.RawMessage) ([]Item, error) {
	if raw == nil {
		return nil, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, errors.New("content is not a list")
	}
	if len(all) > maxItems {
		return nil, fmt.Errorf("content has %d items, more than %d", len(all), maxItems)
	}
	items := make([]Item, len(all))
	for i, raw := range all {
		var err error
		if items[i], err = parseItem(raw); err != nil {
			return nil, fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	return items, nil
}

// begun matches the beginning of a line that is for the server.
var begun = lazyregexp.New(`(?m)^[ \t]{0,64}\{[ \t]*"mcp"[ \t]*:[ \t]*(?:\{[ \t]*"(ask|requests|call)")?`)

// Meant reports whether output in which [ParseResult] finds no result object has a line
// that begins like one (result), like a question, or like a call.
func Meant(stdout []byte) (result, question, call bool) {
	for _, line := range begun.FindAllSubmatch(stdout, -1) {
		switch string(line[1]) {
		case "":
			result = true
		case "call":
			call = true
		default:
			question = true
		}
	}
	return result, question, call
}
