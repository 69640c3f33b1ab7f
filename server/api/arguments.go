package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// arguments are the parameters of an operation, or the fields of its body.
type arguments struct {
	document *jsonschema.Schema
	schema   *schema.Schema
	names    []string
}

// newArguments returns the arguments that a struct has as fields.
func newArguments(of any) *arguments {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, Mapper: enumerated}
	a := &arguments{document: r.Reflect(of)}
	a.schema = schema.New(a.document)
	for p := a.document.Properties.Oldest(); p != nil; p = p.Next() {
		a.names = append(a.names, p.Key)
	}
	return a
}

// parse returns the parameters of a query, of the types of the schema. a may be nil.
func (a *arguments) parse(query string) (map[string]any, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the query is malformed: %v", err)
	}
	args := map[string]any{}
	for name, all := range values {
		if a == nil {
			return nil, refuse(http.StatusBadRequest, "there is no parameter %q", name)
		}
		if len(all) > 1 {
			return nil, refuse(http.StatusBadRequest, "the parameter %q is there twice", name)
		}
		args[name] = a.value(name, all[0])
	}
	return args, nil
}

// value returns the text of a parameter as a value of its type, or as it is.
func (a *arguments) value(name, text string) any {
	p, ok := a.document.Properties.Get(name)
	switch {
	case !ok:
	case p.Type == "integer":
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			return float64(n)
		}
	case p.Type == "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	return text
}

// check returns the JSON of arguments, if the schema allows them.
func (a *arguments) check(given map[string]any) (json.RawMessage, error) {
	_, err := schema.Misspelt(a.names, given)
	if err == nil {
		err = a.schema.CheckArguments(given)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "%v", err)
	}
	return json.Marshal(given)
}

// object returns the values of a JSON object.
func object(text []byte) (map[string]any, error) {
	value, err := schema.Decode(text)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the body cannot be read: %v", err)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, refuse(http.StatusBadRequest, "the body must be a JSON object")
	}
	return fields, nil
}

// enumerated returns the schema of a type with few values, or of any object; nil is of
// another type.
func enumerated(t reflect.Type) *jsonschema.Schema {
	var values []any
	switch t {
	case reflect.TypeFor[run.Code]():
		values = []any{run.InvalidParam, run.NotFound, run.PermissionDenied, run.ApprovalRequired, run.Unavailable, run.Busy, run.Timeout, run.ExecutionError, run.InternalError}
	case reflect.TypeFor[policy.Timeout]():
		return &jsonschema.Schema{Type: "string"}
	case reflect.TypeFor[map[string]any]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: jsonschema.TrueSchema}
	case reflect.TypeFor[agents.Status]():
		values = []any{agents.Running, agents.Done, agents.Failed, agents.TimedOut, agents.Killed}
	case reflect.TypeFor[jobs.State]():
		values = []any{jobs.Running, jobs.Asking, jobs.Ended}
	default:
		return nil
	}
	return &jsonschema.Schema{Type: "string", Enum: values}
}
