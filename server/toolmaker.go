package server

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

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
	runs                     bool      // each call starts or ends something: clients must not repeat it
	writes                   bool      // it may change existing data
	granted                  bool      // it may do whatever a skill is granted
	meta                     *mcp.Meta // nil is none
	strict                   bool      // other arguments are refused
	hidden                   []string  // arguments that are not offered
	// arguments replace those of A, strict and hidden, for tools that share theirs.
	arguments *arguments[A]
	// handle answers a call. A result that is no *mcp.CallToolResult is returned as
	// JSON, as text and as structure.
	handle func(r *request, args A) (any, error)
}

// tool returns the tool as mcp-go registers it.
func (t fixedTool[A]) tool(m *toolMaker) mcpserver.ServerTool {
	if t.arguments == nil {
		t.arguments = newArguments[A](t.strict, t.hidden...)
	}
	annotations := mcp.ToolAnnotation{Title: t.title, ReadOnlyHint: hint(!t.writes), DestructiveHint: hint(t.granted), OpenWorldHint: hint(t.granted)}
	if !t.runs {
		annotations.IdempotentHint = hint(true)
	}
	tool, err := m.tool(mcp.Tool{Name: t.name, Description: t.description, Annotations: annotations, Meta: t.meta}, t.arguments.document, func(r *request) (*mcp.CallToolResult, error) {
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
	names    []string // of the properties
	schema   *schema.Schema
}

// newArguments returns the arguments of T's schema, which is compiled once. Strict ones
// refuse others; those that are hidden are not in the schema.
func newArguments[T any](strict bool, hidden ...string) *arguments[T] {
	document := schemaOf[T]()
	if strict {
		document.AdditionalProperties = jsonschema.FalseSchema
	}
	for _, name := range hidden {
		document.Properties.Delete(name)
	}
	a := &arguments[T]{document: document, schema: schema.New(document)}
	for p := document.Properties.Oldest(); p != nil; p = p.Next() {
		a.names = append(a.names, p.Key)
	}
	return a
}

// decode validates a call's arguments and decodes them. A number that was written
// as a text, as some models do, becomes one.
func (a *arguments[T]) decode(given map[string]any) (T, error) {
	var args T
	for p := a.document.Properties.Oldest(); p != nil; p = p.Next() {
		if text, ok := given[p.Key].(string); ok && (p.Value.Type == "integer" || p.Value.Type == "number") {
			if n, err := skills.DecodeJSON(text); err == nil && reflect.TypeOf(n) == reflect.TypeFor[json.Number]() {
				given[p.Key] = n
			}
		}
	}
	_, err := schema.Misspelt(a.names, given)
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

// schemaOf reflects the schema of a fixed tool's arguments.
func schemaOf[T any]() *jsonschema.Schema {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, AllowAdditionalProperties: true}
	schema := r.Reflect(new(T))
	schema.Version = ""
	return schema
}

func hint(b bool) *bool { return &b }

// maxResultChars bounds the result of a run, for clients with a lower limit of their
// own: 48 KB of stdout, as much of stderr, as much of texts in files, and the
// growth by quoting.
const maxResultChars = 4 * result.MaxText

// largeResult returns metadata that asks a client not to cut a result: everything that
// is too much for a model is cut already.
func largeResult() *mcp.Meta {
	return mcp.NewMetaFromMap(map[string]any{"anthropic/maxResultSizeChars": maxResultChars})
}

// reply returns a result whose text is its structure as JSON.
func reply(structured any) (*mcp.CallToolResult, error) {
	text, err := json.Marshal(structured)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(string(text))}, StructuredContent: structured}, nil
}
