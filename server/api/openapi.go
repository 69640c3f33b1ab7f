package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A node is an object of the document.
type node map[string]any

// newDocument returns the OpenAPI document of operations.
func newDocument(all []operation) ([]byte, error) {
	c := components{}
	paths := map[string]node{}
	for _, o := range all {
		path := Path + strings.ReplaceAll(o.path, "...}", "}")
		if paths[path] == nil {
			paths[path] = node{}
		}
		paths[path][strings.ToLower(o.method)] = c.operation(&o)
	}
	c.schema(Problem{}, true)
	document, err := json.Marshal(node{
		"openapi": "3.1.0",
		"info": node{
			"title": "skills-mcp", "version": "1",
			"description": "The skills of a person, as MCP clients have them. A person's decisions need a session of the page that a person began.",
			"license":     node{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []node{{"url": "/"}},
		"paths":   paths,
		"components": node{
			"schemas":   c,
			"responses": node{"Problem": node{"description": "An error", "content": node{"application/problem+json": node{"schema": reference("schemas/Problem"), "example": exampleProblem()}}}},
			"securitySchemes": node{
				"bearer":   node{"type": "http", "scheme": "bearer", "description": "the token that the server reads or has made; without one it was started with --no-token"},
				"session":  node{"type": "apiKey", "in": "cookie", "name": "skills-mcp-8765", "description": "of a browser that has signed in on the page; its name ends with the port"},
				"approval": node{"type": "apiKey", "in": "header", "name": tokenHeader, "description": "the token of policy.script_token"},
			},
		},
	})
	return bytes.ReplaceAll(document, []byte(`"#/$defs/`), []byte(`"#/components/schemas/`)), err
}

func reference(to string) node { return node{"$ref": "#/components/" + to} }

func exampleProblem() Problem {
	return Problem{Type: "about:blank", Title: "Forbidden", Status: 403, Detail: "a person has to confirm this call first", Code: run.ApprovalRequired, Retryable: true, Approval: &Pending{ID: "a1", Href: Path + "approvals/a1"}}
}

// components are the named schemas.
type components map[string]*jsonschema.Schema

// schema returns a reference to the schema of a value's type. An open one allows further
// fields.
func (c components) schema(of any, open bool) node {
	r := jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: open, Namer: schemaName, Mapper: enumerated}
	s := r.Reflect(of)
	maps.Copy(c, s.Definitions)
	return node{"$ref": s.Ref}
}

// answerers describes the principals of an operation on approvals.
const answerers = " The person who runs the server may, and a principal with the scope skills:approve for its own calls."

// operation returns the description of an operation.
func (c components) operation(o *operation) node {
	summary, description, _ := strings.Cut(o.does, ". ")
	n := node{
		"operationId": o.id, "summary": summary, "tags": []string{strings.SplitN(o.path, "/", 2)[0]},
		"parameters": parameters(o), "responses": c.responses(o), "security": []node{{}, {"bearer": []string{}}, {"session": []string{}}},
	}
	switch o.who {
	case persons:
		n["security"] = []node{{"session": []string{}}}
		description += " Only the person who runs the server may."
	case overseers:
		n["security"] = []node{{"session": []string{}}, {"bearer": []string{}}}
		description += " The person who runs the server may, and a principal with the scope skills:admin."
	case answering:
		n["security"] = []node{{"session": []string{}}, {"bearer": []string{}}}
		description += answerers
	case andScripts:
		n["security"] = []node{{"session": []string{}}, {"bearer": []string{}}, {"approval": []string{}}}
		description += answerers
	}
	if description = strings.TrimSpace(description); description != "" {
		n["description"] = description
	}
	if o.body != nil {
		n["requestBody"] = node{"required": true, "content": node{jsonMedia: media(c.schema(o.body, false), o.ask)}}
	}
	return n
}

// responses returns the answers of an operation, by status.
func (c components) responses(o *operation) node {
	all := node{"default": reference("responses/Problem")}
	if o.status != 0 {
		all[strconv.Itoa(o.status)] = node{"description": "Done"}
		return all
	}
	content := node{}
	if o.result != nil {
		content[jsonMedia] = media(c.result(o.result), o.answer)
	}
	switch o.media {
	case eventMedia:
		c.schema(jobs.Event{}, true)
		c.schema(End{}, true)
		content[eventMedia] = node{"schema": node{"type": "string", "description": "each event has a RunEvent as its data, the last one, named end, a RunEnd"}}
	case anyMedia:
		content[anyMedia] = node{"schema": node{}}
	}
	all["200"] = node{"description": "Done", "content": content}
	if o.id == executeID {
		all["202"] = node{"description": "It runs: poll Location", "content": node{jsonMedia: media(c.schema(Run{}, true), "")}, "headers": node{"Location": node{"schema": node{"type": "string"}}, "Preference-Applied": node{"schema": node{"type": "string"}}}}
	}
	return all
}

// result returns the schema of a result.
func (c components) result(of any) node {
	if reflect.TypeOf(of).Kind() == reflect.Map {
		return node{"type": "object", "additionalProperties": true}
	}
	return c.schema(of, true)
}

func media(schema node, example string) node {
	n := node{"schema": schema}
	if example != "" {
		n["example"] = json.RawMessage(example)
	}
	return n
}

// parameters returns the parameters of the path, the query and the headers.
func parameters(o *operation) []node {
	all := []node{}
	for rest := o.path; strings.Contains(rest, "{"); {
		_, rest, _ = strings.Cut(rest, "{")
		name, _, _ := strings.Cut(rest, "}")
		all = append(all, node{"name": strings.TrimSuffix(name, "..."), "in": "path", "required": true, "schema": node{"type": "string", "minLength": 1}})
	}
	if o.query != nil {
		query := newArguments(o.query).document.Properties
		for p := query.Oldest(); p != nil; p = p.Next() {
			schema := *p.Value
			schema.Description = ""
			n := node{"name": p.Key, "in": "query", "schema": &schema}
			if p.Value.Description != "" {
				n["description"] = p.Value.Description
			}
			all = append(all, n)
		}
	}
	for _, name := range o.headers {
		all = append(all, node{"name": name, "in": "header", "schema": node{"type": "string"}})
	}
	return all
}

// schemaName returns the name of a type's schema, which no other type has.
func schemaName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[store.Run]():
		return "RecordedRun"
	case reflect.TypeFor[result.Run]():
		return "RunResult"
	case reflect.TypeFor[run.Error]():
		return "RunError"
	case reflect.TypeFor[skills.Problem]():
		return "SkillProblem"
	case reflect.TypeFor[jobs.Event]():
		return "RunEvent"
	case reflect.TypeFor[End]():
		return "RunEnd"
	case reflect.TypeFor[jobs.Question]():
		return "RunQuestion"
	case reflect.TypeFor[approval.Record]():
		return "Approval"
	case reflect.TypeFor[Answer]():
		return "ApprovalAnswer"
	case reflect.TypeFor[List[*approval.Record]]():
		return "ApprovalList"
	case reflect.TypeFor[agents.Session]():
		return "Subagent"
	case reflect.TypeFor[List[*agents.Session]]():
		return "SubagentList"
	}
	name, of, generic := strings.Cut(t.Name(), "[")
	if generic {
		of = strings.TrimSuffix(of[strings.LastIndex(of, ".")+1:], "]")
		return strings.ToUpper(of[:1]) + of[1:] + name
	}
	return name
}
