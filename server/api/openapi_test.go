package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/invopop/jsonschema"
)

// document returns the document of the API.
func document(t *testing.T) *openapi3.T {
	t.Helper()
	text, err := newDocument(operations())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// The document is valid, with its examples.
func TestDocument(t *testing.T) {
	doc := document(t)
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
	for _, o := range operations() {
		path := doc.Paths.Value(Path + strings.ReplaceAll(o.path, "...}", "}"))
		if path == nil || path.GetOperation(o.method) == nil {
			t.Errorf("the document lacks %s %s", o.method, o.path)
		}
	}
}

// No two types have one name in the document.
func TestSchemaNames(t *testing.T) {
	named := map[string]reflect.Type{}
	r := jsonschema.Reflector{Anonymous: true, Mapper: enumerated, Namer: func(of reflect.Type) string {
		name := schemaName(of)
		if other := named[name]; name != "" && other != nil && other != of {
			t.Errorf("%v and %v are both called %s", of, other, name)
		}
		named[name] = of
		return name
	}}
	for _, o := range operations() {
		for _, of := range []any{o.body, o.result} {
			if of != nil && reflect.TypeOf(of).Kind() == reflect.Struct {
				r.Reflect(of)
			}
		}
	}
	r.Reflect(Problem{})
	r.Reflect(End{})
	if len(named) < 30 {
		t.Errorf("found %d types", len(named))
	}
}

// Requests that are wrong as HTTP are answered with problems.
func TestProblems(t *testing.T) {
	h := New(Options{}).Handler()
	for name, test := range map[string]struct {
		method, path, body string
		header             http.Header
		status             int
		detail             string
	}{
		"no path":        {"GET", "/v1/nothing", "", nil, 404, "openapi.json"},
		"another method": {"PATCH", "/v1/skills", "", nil, 405, "GET"},
		"form":           {"POST", "/v1/skills/a/execute", "a=b", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, 415, "application/json"},
		"large":          {"POST", "/v1/skills/a/execute", `{"params":{"a":"` + strings.Repeat("a", 1<<20) + `"}}`, nil, 413, "1048576"},
		"no object":      {"POST", "/v1/skills/a/execute", `[]`, nil, 400, "must be a JSON object"},
		"no JSON":        {"POST", "/v1/skills/a/execute", `{`, nil, 400, "JSON"},
		"misspelt":       {"POST", "/v1/skills/a/execute", `{"parms":{}}`, nil, 400, `did you mean "params"?`},
		"other case":     {"POST", "/v1/skills/a/execute", `{"Params":{}}`, nil, 400, `did you mean "params"?`},
		"unknown":        {"POST", "/v1/skills/a/execute", `{"x":1}`, nil, 400, `there is no parameter "x"`},
		"type":           {"POST", "/v1/skills/a/execute", `{"params":1}`, nil, 400, `"params" must be an object`},
		"deep":           {"POST", "/v1/skills/a/execute", `{"params":{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}}`, nil, 400, "deep"},
		"query":          {"GET", "/v1/skills?limit=x", "", nil, 400, `"limit" must be an integer`},
		"bound":          {"GET", "/v1/skills?limit=1000", "", nil, 400, `"limit" must be at most 200`},
		"source":         {"GET", "/v1/skills?source=mine", "", nil, 400, `"source" must be one of`},
		"time":           {"GET", "/v1/runs?since=yesterday", "", nil, 400, `"yesterday" is not a time; write one such as 2026-01-31T15:04:00Z`},
		"twice":          {"GET", "/v1/skills?q=a&q=b", "", nil, 400, "twice"},
		"status":         {"GET", "/v1/subagents?status=lost", "", nil, 400, `"status" must be one of`},
		"no models":      {"GET", "/v1/subagents/0123456789ab", "", nil, 404, "agents.models"},
		"none to stop":   {"DELETE", "/v1/subagents/0123456789ab", "", nil, 404, "agents.models"},
		"no query":       {"GET", "/v1/plugins?q=a", "", nil, 400, `"q"`},
		"body and query": {"POST", "/v1/skills/a/execute?q=a", "{}", nil, 400, "no query"},
		"not a person":   {"PUT", "/v1/skills/a/enabled", `{"enabled":true}`, nil, 403, "sign in"},
		"forged":         {"POST", "/v1/skills/a/execute", `{}`, http.Header{"Cookie": {"a=b"}, "Sec-Fetch-Site": {"cross-site"}, "Content-Type": {"application/json"}}, 403, "cross-origin"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
			r.Header = test.header
			if r.Header == nil {
				r.Header = http.Header{"Content-Type": {"application/json"}}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			var p Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != test.status || p.Status != test.status || !strings.Contains(p.Detail, test.detail) || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if (p.Error != nil) != (strings.Contains(test.path, "execute") && name != "forged") {
				t.Errorf("the member error: %s", w.Body)
			}
		})
	}
}
