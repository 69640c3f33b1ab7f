package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/tasks"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// request is a call of a tool, a prompt or a resource, decoded.
type request struct {
	ctx       context.Context
	args      map[string]any
	principal identity.Principal // that the request acts for
	token     mcp.ProgressToken
	view      *view // one catalog for the whole call
	retry     retry
	task      *tasks.Task // that the call may become; nil is none
}

// request is the beginning of any answer: who asks, and what there is by then.
func (s *Server) request(ctx context.Context, meta *mcp.Meta) request {
	r := request{ctx: ctx, principal: principal(ctx), view: s.view.Load()}
	if meta != nil {
		r.token = meta.ProgressToken
	}
	return r
}

// handler answers a call with a result, or with an error that becomes one.
type handler func(r request) (*mcp.CallToolResult, error)

// fixedTool makes a tool of ours, whose arguments are checked against the schema
// and decoded into a T.
func fixedTool[T any](s *Server, t mcp.Tool, document *jsonschema.Schema, handle func(r request, args T) (*mcp.CallToolResult, error)) mcpserver.ServerTool {
	return typedTool(s, t, newArguments[T](document), handle)
}

// typedTool makes a tool of arguments that several tools may share.
func typedTool[T any](s *Server, t mcp.Tool, a *arguments[T], handle func(r request, args T) (*mcp.CallToolResult, error)) mcpserver.ServerTool {
	tool, err := s.tool(t, a.document, func(r request) (*mcp.CallToolResult, error) {
		args, err := a.decode(r.args)
		if err != nil {
			return nil, err
		}
		return handle(r, args)
	})
	if err != nil { // the schema is reflected from a type of this package
		panic(err)
	}
	return tool
}

// maxToolSchema is how large a tool's schema may be, in bytes. It is of texts that
// a skill's author wrote.
const maxToolSchema = 96 << 10

// maxResultChars is about what a run's result has for a model at the most, which
// clients with a lower limit of their own are told: 48 KB of stdout, as much of
// stderr, as much of texts in files, and what quoting adds.
const maxResultChars = 4 * maxText

// largeResult tells a client that a result is worth its length: what is too much
// for a model is cut already.
func largeResult() *mcp.Meta {
	return mcp.NewMetaFromMap(map[string]any{"anthropic/maxResultSizeChars": maxResultChars})
}

// tool makes a tool with a schema, which the handler checks the arguments
// against.
func (s *Server) tool(t mcp.Tool, schema *jsonschema.Schema, handle handler) (mcpserver.ServerTool, error) {
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
		r := s.request(ctx, in.Params.Meta)
		var result *mcp.CallToolResult
		args, err := decodeArguments(in)
		if err == nil {
			r.args, r.retry = args, retry{"tools/call", t.Name, args, in.Params.MultiRoundTripParams}
			result, err = handle(r)
		}
		if err != nil {
			return s.refused(err)
		}
		return result, nil
	}}, nil
}

// decodeArguments keeps numbers as they were written: an integer above 2^53
// arrives whole.
func decodeArguments(in mcp.CallToolRequest) (map[string]any, error) {
	raw := in.Params.RawArguments
	if len(raw) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return map[string]any{}, nil
	}
	return decodeObject(raw)
}

func decodeObject(raw []byte) (map[string]any, error) {
	value, err := skills.DecodeJSON(string(raw))
	args, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, &run.Error{Code: run.InvalidParam, Message: "the arguments must be a JSON object"}
	}
	return args, nil
}

// arguments are those of one tool of ours, decoded into a T.
type arguments[T any] struct {
	document *jsonschema.Schema
	names    []string // of the properties
	schema   *schema.Schema
}

// newArguments returns the arguments of a schema, which is compiled once.
func newArguments[T any](document *jsonschema.Schema) *arguments[T] {
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
		err = decodeInto(&args, given)
	}
	if err != nil {
		return args, &run.Error{Code: run.InvalidParam, Message: err.Error(), Err: err}
	}
	return args, nil
}

// decodeInto decodes arguments into a struct. It ignores those that differ from a
// field's name in case, which encoding/json would take.
func decodeInto[T any](args *T, given map[string]any) error {
	known := map[string]any{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if value, ok := given[name]; ok {
			known[name] = value
		}
	}
	encoded, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, args)
}

// schemaOf reflects the schema of a fixed tool's arguments.
func schemaOf[T any]() *jsonschema.Schema {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, AllowAdditionalProperties: true}
	schema := r.Reflect(new(T))
	schema.Version = ""
	return schema
}

// strict refuses other arguments: instructions have nobody to pass them on to.
func strict(schema *jsonschema.Schema) *jsonschema.Schema {
	schema.AdditionalProperties = jsonschema.FalseSchema
	return schema
}

func hint(b bool) *bool { return &b }

// readOnly annotates tools that change nothing and reach nothing.
func readOnly(title string) mcp.ToolAnnotation {
	return mcp.ToolAnnotation{Title: title, ReadOnlyHint: hint(true), DestructiveHint: hint(false), IdempotentHint: hint(true), OpenWorldHint: hint(false)}
}
