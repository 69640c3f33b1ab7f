// Package scriptio reads what a script says to the server beside plain output: the
// result object on its standard output, and the progress and log lines on its
// standard error. docs/skill-abi.md describes these forms for authors.
//
// Start with [ParseResult], [ParseProgress] and [ParseLog].
package scriptio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// key is the only one at the top of what a script says to the server.
const key = "mcp"

// A Result is what a script wants its caller to get.
type Result struct {
	Items []Item // in order
	// Structured is a JSON object; nil where there is none.
	Structured json.RawMessage
	// IsError says that the script counts its call as failed.
	IsError bool
}

// maxItems is how many contents one result may have.
const maxItems = 256

// ParseResult reads a whole standard output. It returns nil where that is no
// result object. The error says, for the script's author, what is wrong with
// one.
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

// object returns what {"mcp": {…}} holds.
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

// begun is how a line begins that says something to the server.
var begun = regexp.MustCompile(`(?m)^[ \t]{0,64}\{[ \t]*"mcp"[ \t]*:[ \t]*(?:\{[ \t]*"(ask|requests)")?`)

// Meant says what output that [ParseResult] finds nothing in was meant to be: a
// line of it begins as a result object does (result), or as a question.
func Meant(stdout []byte) (result, question bool) {
	for _, line := range begun.FindAllSubmatch(stdout, -1) {
		if line[1] != nil {
			question = true
		} else {
			result = true
		}
	}
	return result, question
}
