package scriptio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

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

// An Item is one content of a result: a content as it is, or a file in /out.
type Item struct {
	// Content is nil where Path names a file. It is annotated.
	Content mcp.Content
	// Data is what an image or a sound, or an embedded resource that is no text,
	// decodes to.
	Data []byte

	// Path is that of a file, below /out.
	Path string
	// Type and MIMEType say how the file is to be shown, "" as it would be.
	Type, MIMEType string

	annotations *mcp.Annotations
	meta        *mcp.Meta
}

// Annotate returns a content with the annotations that the script has written, and
// its _meta.
func (i *Item) Annotate(content mcp.Content) mcp.Content {
	switch c := content.(type) {
	case mcp.TextContent:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	case mcp.ImageContent:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	case mcp.AudioContent:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	case mcp.EmbeddedResource:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	case mcp.ResourceLink:
		c.Annotations, c.Meta = i.annotations, i.meta
		return c
	}
	return content
}

func parseItem(raw json.RawMessage) (Item, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && bytes.HasPrefix(raw, []byte(`"`)) {
		return Item{Content: mcp.NewTextContent(text)}, nil
	}
	var w wire
	if !bytes.HasPrefix(raw, []byte("{")) {
		return Item{}, errors.New("it is neither a text nor an object")
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return Item{}, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if err := w.checkAnnotations(); err != nil {
		return Item{}, err
	}
	read := w.content
	if w.Path != nil {
		read = w.file
	}
	item, err := read()
	if err != nil {
		return Item{}, err
	}
	item.annotations, item.meta = w.Annotations, w.Meta
	item.Content = item.Annotate(item.Content)
	return item, nil
}
