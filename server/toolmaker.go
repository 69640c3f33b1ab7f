package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// A fixedTool is a tool that exists for every catalog. A is a struct whose
// JSON fields are its arguments, and from which its schema is reflected.
type fixedTool[A any] struct {
	name, title, description string
	writes                   bool // it may change existing data
	granted                  bool // it may do whatever a skill is granted
	meta                     map[string]any
	returns                  any      // the zero value of its structure; nil where a result may lack one
	hidden                   []string // arguments that are not offered
	// arguments replace those of A and hidden, for tools that share theirs.
	arguments *arguments[A]
	// handle answers a call. A result that is no *mcp.CallToolResult is returned as
	// JSON, as text and as structure.
	handle func(r *request, args A) (any, error)
}

// tool returns the tool as mcp-go registers it.
func (t fixedTool[A]) tool(m *toolMaker) mcpserver.ServerTool {
	if t.arguments == nil {
		t.arguments = newArguments[A](t.hidden...)
	}
	annotations := mcp.ToolAnnotation{Title: t.title, ReadOnlyHint: hint(!t.writes), DestructiveHint: hint(t.granted), OpenWorldHint: hint(t.granted)}
	listed := mcp.Tool{Name: t.name, Description: t.description, Annotations: annotations}
	if t.meta != nil {
		listed.Meta = mcp.NewMetaFromMap(t.meta)
	}
	if t.returns != nil {
		listed.RawOutputSchema = encoded(outputSchema(t.returns))
	}
	tool, err := m.tool(listed, t.arguments.document, func(r *request) (*mcp.CallToolResult, error) {
		args, err := t.arguments.decode(r.args)
		if err != nil {
			return nil, err
		}
		answer, err := t.handle(r, args)
		if err != nil {
			return nil, err
		}
		if result, whole := answer.(*mcp.CallToolResult); whole {
			return result, nil
		}
		return reply(answer)
	})
	if err != nil { // the schema is reflected from a type of this package
		panic(err)
	}
	return tool
}

// maxToolSchema is how large a tool's schema may be, in bytes. It is of texts that
// a skill's author wrote.
const maxToolSchema = 96 << 10

// A toolMaker makes tools. Their handlers see the view that is published when they are
// called.
type toolMaker struct {
	view func() *view
	failures
}

// tool returns a tool with a schema, which handle checks the arguments against. The
// error is that its schema is too large, or cannot be encoded.
func (m *toolMaker) tool(t mcp.Tool, schema *jsonschema.Schema, handle handler) (mcpserver.ServerTool, error) {
	encoded, err := json.Marshal(schema)
	if err != nil {
		return mcpserver.ServerTool{}, fmt.Errorf("encode the schema of tool %s: %w", t.Name, err)
	}
	if len(encoded) > maxToolSchema {
		return mcpserver.ServerTool{}, fmt.Errorf("the schema of tool %s is larger than %d bytes", t.Name, maxToolSchema)
	}
	t.RawInputSchema = encoded
	t.Title = t.Annotations.Title // clients of 2025-06-18 and later show this one
	return mcpserver.ServerTool{Tool: t, Handler: func(ctx context.Context, in mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := m.call(ctx, in, t.Name, handle)
		if err != nil {
			return m.answer(err)
		}
		return result, nil
	}}, nil
}

// call decodes a request for a tool and has it handled.
func (m *toolMaker) call(ctx context.Context, in mcp.CallToolRequest, name string, handle handler) (*mcp.CallToolResult, error) {
	args, err := decodeArguments(in)
	if err != nil {
		return nil, err
	}
	r := newRequest(ctx, in.Params.Meta, m.view())
	r.args, r.retry = args, retry{"tools/call", name, args, in.Params.MultiRoundTripParams}
	return handle(r)
}

// arguments check the arguments of a call and decode them into a T.
type arguments[T any] struct {
	document *jsonschema.Schema
	names    []string // of all properties, also of those that clients do not see
	schema   *schema.Schema
}

// newArguments returns the arguments of T's schema, which is compiled once. Clients do not
// see the hidden ones.
func newArguments[T any](hidden ...string) *arguments[T] {
	document := schemaOf(new(T))
	document.AdditionalProperties = jsonschema.FalseSchema
	a := &arguments[T]{document: document, schema: schema.New(schemaOf(new(T)))}
	for p := document.Properties.Oldest(); p != nil; p = p.Next() {
		a.names = append(a.names, p.Key)
	}
	for _, name := range hidden {
		document.Properties.Delete(name)
	}
	return a
}

// otherLimit is the name of the argument limit in Colony's search_skills.
const otherLimit = "max_results"

// decode validates a call's arguments and decodes them. A number that was written
// as a text, as some models do, becomes one. Absent are null, as for skills, and an optional "".
func (a *arguments[T]) decode(given map[string]any) (T, error) {
	var args T
	maps.DeleteFunc(given, func(name string, value any) bool {
		return value == nil || value == "" && !slices.Contains(a.document.Required, name)
	})
	if n, other := given[otherLimit]; other && given["limit"] == nil && slices.Contains(a.names, "limit") {
		given["limit"] = n
		delete(given, otherLimit)
	}
	for p := a.document.Properties.Oldest(); p != nil; p = p.Next() {
		if text, ok := given[p.Key].(string); ok && (p.Value.Type == "integer" || p.Value.Type == "number") {
			if n, err := skills.DecodeJSON(text); err == nil && reflect.TypeOf(n) == reflect.TypeFor[json.Number]() {
				given[p.Key] = n
			}
		}
	}
	err := a.known(given)
	if err == nil {
		err = a.schema.CheckArguments(given)
	}
	if err == nil {
		err = json.Unmarshal(encoded(given), &args)
	}
	if err != nil {
		return args, &run.Error{Code: run.InvalidParam, Message: err.Error(), Err: err}
	}
	return args, nil
}

// known returns an error if an argument is none of the properties: left out without a word,
// it would have the tool do something else than was meant.
func (a *arguments[T]) known(given map[string]any) error {
	unknown, err := schema.Misspelt(a.names, given)
	if err != nil || len(unknown) == 0 {
		return err
	}
	offered := []string{}
	for p := a.document.Properties.Oldest(); p != nil; p = p.Next() {
		offered = append(offered, p.Key)
	}
	advice := "there are " + cmp.Or(strings.Join(offered, ", "), "none")
	if slices.Contains(offered, "params") {
		advice = `those of the skill go into "params"`
	}
	return fmt.Errorf("there is no parameter %q; %s", unknown[0], advice)
}

// schemaOf reflects the schema of a struct.
func schemaOf(value any) *jsonschema.Schema {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, AllowAdditionalProperties: true}
	schema := r.Reflect(value)
	schema.Version = ""
	return schema
}

// outputSchema reflects the schema of a tool's structure, with the names and types of its
// fields only: it is a part of tools/list. None is required, since a failed call has an error
// in their place.
func outputSchema(value any) *jsonschema.Schema {
	fields := jsonschema.NewProperties()
	for p := schemaOf(value).Properties.Oldest(); p != nil; p = p.Next() {
		field := &jsonschema.Schema{Type: p.Value.Type}
		if p.Value.Items != nil {
			field.Items = &jsonschema.Schema{Type: p.Value.Items.Type}
		}
		fields.Set(p.Key, field)
	}
	return &jsonschema.Schema{Type: "object", Properties: fields}
}

func hint(b bool) *bool { return &b }

// maxResultChars bounds the result of a run, for clients with a lower limit of their
// own: 48 KB of stdout, as much of stderr, as much of texts in files, and the
// growth by quoting.
const maxResultChars = 4 * result.MaxText

// Metadata of tools, as Claude Code documents them.
const (
	alwaysLoad  = "anthropic/alwaysLoad"         // bool: a client that loads tools on demand has it from the start
	resultChars = "anthropic/maxResultSizeChars" // int: the client cuts no shorter result: all that is too much for a model is cut already
)

// reply returns a result whose text is its structure as JSON.
func reply(structured any) (*mcp.CallToolResult, error) {
	text, err := json.Marshal(structured)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(string(text))}, StructuredContent: structured}, nil
}
