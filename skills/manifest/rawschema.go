package manifest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/invopop/jsonschema"
	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// objectSchema reads a JSON Schema that an author wrote of arguments, and keeps
// all of it. One that is not of an object, or cannot be used, is one of any
// object.
func (p entryReader) objectSchema(key string) *jsonschema.Schema {
	if s := p.authorSchema(key, "arguments are not checked"); s != nil {
		return s
	}
	return &jsonschema.Schema{Type: "object"}
}

// outputSchema reads the schema of a script's result; nil where there is none
// that can be used.
func (p entryReader) outputSchema() *jsonschema.Schema {
	return p.authorSchema("output_schema", "results are not checked")
}

// authorSchema reads the JSON Schema of an object; nil where there is none that
// can be used; the problem states the consequence so.
func (p entryReader) authorSchema(key, so string) *jsonschema.Schema {
	node := p.fields.get(key)
	if node == nil {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		p.fields.wrongType(key, "a JSON Schema")
		return nil
	}
	s, err := strangersSchema(node)
	switch {
	case err != nil:
		p.report(skills.Warning, p.fields.pos(key), "correct it", "%q is not a JSON Schema, so %s: %v", key, so, err)
		return nil
	case s.Type != "object":
		p.report(skills.Warning, p.fields.pos(key), `write "type": "object"`, "%q is not the schema of an object, so %s", key, so)
		return nil
	}
	return s
}

// strangersSchema returns the JSON Schema in a node, checked if it is that of an object.
func strangersSchema(node *yaml.Node) (*jsonschema.Schema, error) {
	if err := checkSchema(node, maxSchemaDepth); err != nil {
		return nil, err
	}
	s, err := rawSchema(node)
	if err != nil {
		return nil, err
	}
	if s.Type == "" && s.Extras["type"] == nil {
		s.Type = "object"
	}
	if s.Type == "object" {
		err = usable(s)
	}
	return s, err
}

// ParseToolSchema reads the schema of a tool of another MCP server. The error says why it
// cannot be used.
func ParseToolSchema(data []byte) (*jsonschema.Schema, error) {
	if len(data) > maxSchema {
		return nil, fmt.Errorf("it is larger than %d bytes", maxSchema)
	}
	node, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	s, err := strangersSchema(node)
	if err == nil && s.Type != "object" {
		err = errors.New("it is not the schema of an object")
	}
	return s, err
}

// maxSchema bounds the size of a schema, in bytes of JSON: every client reads it with
// every list of tools.
const maxSchema = 64 << 10

// usable returns why a schema cannot be served or checked against, or nil.
func usable(s *jsonschema.Schema) error {
	encoded, err := json.Marshal(s)
	switch {
	case err != nil:
		return err
	case len(encoded) > maxSchema:
		return fmt.Errorf("it is larger than %d bytes", maxSchema)
	}
	return schema.New(s).Err()
}

// maxSchemaDepth bounds the nesting of a schema. Each level costs a look at everything
// below it, here and where the schema is written.
const maxSchemaDepth = 64

// headerKey has a client copy an argument into a header of its request, where
// whatever stands between reads it. A skill does not decide that.
const headerKey = "x-mcp-header"

// checkSchema refuses a schema that is too deep or uses a key that skills may not
// set.
func checkSchema(node *yaml.Node, left int) error {
	if left == 0 {
		return fmt.Errorf("it nests more than %d deep", maxSchemaDepth)
	}
	for _, child := range node.Content {
		child = deref(child) // how much that may be is bounded for the whole file
		if child.Kind == yaml.ScalarNode && child.Value == headerKey {
			return fmt.Errorf("%s is not for a skill to use", headerKey)
		}
		if err := checkSchema(child, left-1); err != nil {
			return err
		}
	}
	return nil
}

// rawSchema returns a schema that is written as the node is: the keywords that
// are of use here in their fields, everything else among the extras.
func rawSchema(node *yaml.Node) (*jsonschema.Schema, error) {
	value, err := jsonValue(node)
	if err != nil {
		return nil, err
	}
	all, _ := value.(map[string]any)
	s := &jsonschema.Schema{Extras: all}
	take(all, "type", &s.Type)
	if all["description"] != "" { // an empty one would be left out
		take(all, "description", &s.Description)
	}
	take(all, "default", &s.Default)
	if values, ok := all["enum"].([]any); ok && len(values) > 0 {
		take(all, "enum", &s.Enum)
	}
	f := newFields(node, discard)
	if items := f.get("items"); items != nil && items.Kind == yaml.MappingNode && len(items.Content) > 0 {
		if s.Items, err = rawSchema(items); err != nil {
			return nil, err
		}
		delete(all, "items")
	}
	if properties := f.get("properties"); properties != nil && properties.Kind == yaml.MappingNode {
		if err := rawProperties(s, properties); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// rawProperties takes the properties in their order, where each is an object.
func rawProperties(s *jsonschema.Schema, node *yaml.Node) error {
	properties := jsonschema.NewProperties()
	for _, property := range newFields(node, discard).list {
		if property.node.Kind != yaml.MappingNode || len(property.node.Content) == 0 {
			return nil // true, false or {}, which stay with the extras
		}
		one, err := rawSchema(property.node)
		if err != nil {
			return err
		}
		properties.Set(property.key, one)
	}
	s.Properties = properties
	delete(s.Extras, "properties")
	if required, ok := s.Extras["required"].([]any); ok {
		for _, name := range required {
			if text, ok := name.(string); ok {
				s.Required = append(s.Required, text)
			}
		}
		if len(s.Required) == len(required) {
			delete(s.Extras, "required")
		} else {
			s.Required = nil
		}
	}
	return nil
}

// take moves a value of the extras into its field, where it is of its type.
func take[T any](extras map[string]any, key string, field *T) {
	if value, ok := extras[key].(T); ok {
		*field = value
		delete(extras, key)
	}
}
