package elicit

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// shapesJSON are the schemas of requests and answers. Forms are the restricted ones of
// MCP's elicitation, flat and bounded. A model is asked without tools, and without the
// context of the client's other servers, which is not for the skill.
//
//go:embed shapes.json
var shapesJSON []byte

// shapes are the compiled schemas by name.
var shapes = sync.OnceValue(func() map[string]*schema.Schema {
	var document struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	err := json.Unmarshal(shapesJSON, &document)
	all := map[string]*schema.Schema{}
	for name := range document.Defs {
		if err == nil {
			all[name], err = schema.Compile(shapesJSON, "#/$defs/"+name)
		}
	}
	if err != nil {
		panic(err) // the file is this package's own
	}
	return all
})

func checkShape(name string, data []byte) error { return shapes()[name].Check(data) }

// compileForm returns the schema of a form, whose fields must be ones that clients show.
func compileForm(data []byte) (*schema.Schema, error) {
	if err := checkShape("form", data); err != nil {
		return nil, fmt.Errorf("the schema is not that of a form: %w", err)
	}
	var form struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, err
	}
	for _, name := range keys(form.Properties) {
		if err := checkField(form.Properties[name]); err != nil {
			return nil, fmt.Errorf("the form cannot have the field %q: %w", name, err)
		}
	}
	compiled, err := schema.Compile(data, "")
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	return compiled, nil
}

// checkField checks one field of a form.
func checkField(data []byte) error {
	var field map[string]any
	if err := json.Unmarshal(data, &field); err != nil {
		return err
	}
	switch kind, _ := field["type"].(string); kind {
	case "string", "number", "boolean", "array":
		return checkShape(kind, data)
	case "integer":
		return checkShape("number", data)
	}
	return errors.New(`its "type" is not string, number, integer, boolean or array`)
}

func keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
