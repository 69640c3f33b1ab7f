package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
	"gopkg.in/yaml.v3"
)

// paramTypes are the types that a parameter may declare, as in JSON Schema.
var paramTypes = []string{"string", "integer", "number", "boolean", "array", "object"}

// parseParams reads the value of `params` in each of its three shapes: a map
// of maps, a list of maps with a name, and `name: type`.
func parseParams(f fields) []skills.Param {
	node := f.get("params")
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.MappingNode:
		if isSchema(node) {
			return paramsOfSchema(f, node)
		}
		return paramsOfMap(f, node)
	case node.Kind == yaml.SequenceNode:
		return paramsOfList(f, node)
	}
	f.wrongType("params", "a map or a list of parameters")
	return nil
}

// maxParams bounds the parameters of an entry. A tool's schema of
// thousands helps nobody.
const maxParams = 256

func paramsOfMap(f fields, node *yaml.Node) []skills.Param {
	var params []skills.Param
	for _, entry := range newFields(node, f.report).list {
		params = appendParam(f, params, entry.key, entry.at, entry.node)
	}
	return params
}

// isSchema reports whether a map is a JSON Schema of an object, and not one of
// parameters that are called like its keywords.
func isSchema(node *yaml.Node) bool {
	f := newFields(node, discard)
	properties, kind, required := f.get("properties"), f.get("type"), f.get("required")
	if properties == nil || properties.Kind != yaml.MappingNode {
		return false
	}
	return kind != nil && kind.Kind == yaml.ScalarNode && kind.Value == "object" || required != nil && required.Kind == yaml.SequenceNode || f.get("$schema") != nil
}

// paramsOfSchema reads the properties of a JSON Schema as the parameters that they
// are.
func paramsOfSchema(f fields, node *yaml.Node) []skills.Param {
	object := newFields(node, f.report)
	f.report(skills.Note, f.pos("params"), "write the properties in params themselves", `"params" is a JSON Schema; its properties are read as the parameters`)
	params := paramsOfMap(f, object.get("properties"))
	for _, name := range object.words("required", strings.Fields) {
		at := slices.IndexFunc(params, func(p skills.Param) bool { return p.Name == name })
		if at < 0 {
			f.report(skills.Warning, object.pos("required"), "declare it in properties", "%q is required and no parameter", name)
			continue
		}
		params[at].Required = true
	}
	return params
}

func paramsOfList(f fields, node *yaml.Node) []skills.Param {
	var params []skills.Param
	for _, item := range node.Content {
		item = deref(item)
		at := posOf(item)
		if item.Kind == yaml.ScalarNode && item.Value != "" {
			params = appendParam(f, params, item.Value, at, nil)
			continue
		}
		name := newFields(item, discard).text("name")
		params = appendParam(f, params, name, at, item)
	}
	return params
}

func appendParam(f fields, params []skills.Param, name string, at Position, node *yaml.Node) []skills.Param {
	switch {
	case len(params) == maxParams:
		f.report(skills.Warning, at, "declare fewer", "parameter %q is one too many and is ignored; there may be %d", name, maxParams)
		return params
	case !skills.IsParamName(name):
		f.report(skills.Warning, at, "use letters, digits, - and _", "parameter %q cannot be passed as an option and is ignored", name)
		return params
	case slices.ContainsFunc(params, func(p skills.Param) bool { return p.Name == name }):
		f.report(skills.Warning, at, "keep one of them", "parameter %q is declared twice; the first counts", name)
		return params
	}
	return append(params, parseParam(f, name, at, node))
}

func parseParam(f fields, name string, at Position, node *yaml.Node) skills.Param {
	param := skills.Param{Name: name, Schema: &jsonschema.Schema{}}
	if node == nil || isNull(node) {
		param.Schema.Type = "string"
		return param
	}
	if node.Kind == yaml.ScalarNode {
		param.Schema.Type = paramType(f, name, at, node.Value)
		describeAny(param.Schema)
		return param
	}
	p := newFields(node, func(s skills.Severity, at Position, remedy, format string, args ...any) {
		f.report(s, at, remedy, "parameter %q: %s", name, fmt.Sprintf(format, args...))
	})
	param.Required = p.boolean("required", false)
	s := param.Schema
	s.Type = paramType(f, name, p.pos("type"), p.text("type"))
	s.Description = p.text("description")
	s.Enum = p.values("enum")
	s.Minimum, s.Maximum = p.bound("minimum"), p.bound("maximum")
	s.Pattern = p.pattern("pattern")
	switch format := p.text("format"); format {
	case "path":
		// Clients know nothing of this format, and some refuse unknown ones, so the
		// schema omits it.
		param.Path = true
	default:
		s.Format = format
	}
	if items := p.get("items"); items != nil {
		s.Items = parseItems(p, items)
	}
	if low, high := s.Minimum, s.Maximum; low != "" && high != "" && above(low, high) {
		p.report(skills.Warning, p.pos("minimum"), "exchange them", "no value is allowed: minimum %s is above maximum %s", low, high)
	} else {
		s.Default = p.defaultValue(param)
	}
	if param.Required && s.Default != nil {
		p.report(skills.Warning, p.pos("default"), "leave out required, or the default", "it is required, so that its default never counts")
	}
	describeAny(s)
	return param
}

func above(low, high json.Number) bool {
	l, errLow := low.Float64()
	h, errHigh := high.Float64()
	return errLow == nil && errHigh == nil && l > h
}

// describeAny keeps a schema from being empty: it would be written as true,
// which some clients refuse.
func describeAny(s *jsonschema.Schema) {
	if s.Type == "" && s.Description == "" {
		s.Description = "Any value."
	}
}

// paramType returns a type of JSON Schema, or "" for one that is not known and
// so is not checked.
func paramType(f fields, name string, at Position, declared string) string {
	if declared == "" {
		return "string"
	}
	if slices.Contains(paramTypes, declared) {
		return declared
	}
	f.report(skills.Warning, at, "use one of "+skills.Enumerate(paramTypes, "or"), "parameter %q has the unknown type %q, so its value is not checked", name, declared)
	return ""
}

// parseItems reads the schema of an array's items: a map, or a type's name.
func parseItems(p fields, node *yaml.Node) *jsonschema.Schema {
	if node.Kind == yaml.ScalarNode {
		return &jsonschema.Schema{Type: paramType(p, "items", p.pos("items"), node.Value)}
	}
	items := newFields(node, p.report)
	s := &jsonschema.Schema{Description: items.text("description"), Enum: items.values("enum")}
	if declared := items.text("type"); declared != "" {
		s.Type = paramType(p, "items", items.pos("type"), declared)
	}
	s.Minimum, s.Maximum = items.bound("minimum"), items.bound("maximum")
	s.Pattern = items.pattern("pattern")
	return s
}

func (f fields) values(key string) []any {
	n := f.get(key)
	if n == nil {
		return nil
	}
	value, err := jsonValue(n)
	values, ok := value.([]any)
	if err != nil || !ok || len(values) == 0 {
		f.wrongType(key, "a list of values")
		return nil
	}
	return values
}

// bound returns a number as it is written, in JSON's terms.
func (f fields) bound(key string) json.Number {
	n := f.get(key)
	if n == nil {
		return ""
	}
	switch value := convertScalar(n).(type) {
	case int64, float64:
		return json.Number(fmt.Sprint(value))
	}
	f.wrongType(key, "a number")
	return ""
}

func (f fields) pattern(key string) string {
	pattern := f.text(key)
	if _, err := schema.Pattern(pattern); err != nil {
		f.report(skills.Warning, f.pos(key), "write a small regular expression of RE2's syntax", "%q is not a regular expression that can be used and is ignored", truncate.String(pattern, maxEcho))
		return ""
	}
	return pattern
}

// defaultValue returns the default where it is one that would be accepted.
func (f fields) defaultValue(param skills.Param) any {
	n := f.get("default")
	if n == nil {
		return nil
	}
	value, err := jsonValue(n)
	if err != nil {
		f.wrongType("default", "a value")
		return nil
	}
	if err := schema.New(skills.Flags{param}.Schema()).CheckArguments(map[string]any{param.Name: value}); err != nil {
		f.report(skills.Warning, f.pos("default"), "give a default that the parameter accepts", "the default is ignored: %v", err)
		return nil
	}
	return value
}
