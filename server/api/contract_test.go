package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/describe"
)

// A contract checks answers against the document of the server.
type contract struct {
	doc *openapi3.T

	mu   sync.Mutex      // guards seen
	seen map[string]bool // "operationId status"
}

func newContract(t testing.TB, text []byte) *contract {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return &contract{doc: doc, seen: map[string]bool{}}
}

// operation returns the operation of a request, or nil.
func (c *contract) operation(method string, u *url.URL) *openapi3.Operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	all := strings.Split(u.EscapedPath(), "/")
	for pattern, item := range c.doc.Paths.Map() {
		given, parts := all, strings.Split(pattern, "/")
		if rest := strings.HasSuffix(pattern, "/outputs/{path}"); rest && len(given) > len(parts) {
			given = append(given[:len(parts)-1:len(parts)-1], strings.Join(given[len(parts)-1:], "/"))
		}
		if len(parts) == len(given) && !slices.ContainsFunc(parts, func(part string) bool {
			at := slices.Index(parts, part)
			return !strings.HasPrefix(part, "{") && part != given[at]
		}) {
			return item.GetOperation(method)
		}
	}
	return nil
}

// check returns the fault of an answer, or nil.
func (c *contract) check(a *answer) error {
	operation := c.operation(a.Request.Method, a.Request.URL)
	if operation == nil {
		if a.StatusCode < 400 {
			return fmt.Errorf("%s %s is not in the document", a.Request.Method, a.Request.URL)
		}
		return c.problem(a)
	}
	c.mu.Lock()
	c.seen[fmt.Sprintf("%s %d", operation.OperationID, a.StatusCode)] = true
	c.mu.Unlock()
	listed := operation.Responses.Status(a.StatusCode)
	if a.StatusCode >= 400 {
		return c.problem(a)
	}
	if listed == nil {
		return fmt.Errorf("%s does not list the status %d", operation.OperationID, a.StatusCode)
	}
	if len(listed.Value.Content) == 0 || a.Request.Method == http.MethodHead {
		if len(a.body) > 0 {
			return fmt.Errorf("%s has a body", operation.OperationID)
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	content := listed.Value.Content.Get(media)
	if content == nil {
		return fmt.Errorf("%s does not list %s", operation.OperationID, media)
	}
	if media != "application/json" {
		return nil
	}
	return fits(content.Schema, a.body)
}

// problem returns why an answer is no problem, or nil.
func (c *contract) problem(a *answer) error {
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" && a.Request.Method != http.MethodHead {
		return fmt.Errorf("%s %s: %d is %s: %s", a.Request.Method, a.Request.URL, a.StatusCode, got, a.body)
	}
	if a.Request.Method == http.MethodHead {
		return nil
	}
	return fits(c.doc.Components.Schemas["Problem"], a.body)
}

// fits returns the fault of a JSON text by a schema, or nil. The document is of version
// 3.1, whose schemas are JSON Schema 2020-12.
func fits(schema *openapi3.SchemaRef, text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	if err := schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// Every operation answers as the document says. All other tests here check their answers,
// too.
func TestEveryOperation(t *testing.T) {
	b := newBench(t)
	ran := decode[api.Run](t, b.call("person", "POST", execute("run"), `{"params":{"target":"a"}}`)).ID
	b.call("person", "POST", execute("fail"), `{}`)
	asked := b.call("token", "POST", execute("write"), `{}`).problem(t).Approval.Href
	again := b.call("token", "POST", execute("write"), `{"params":{}}`).problem(t).Approval.Href
	digest := decode[describe.Skill](t, b.call("person", "GET", "/v1/skills/demo%2Frun", "")).Digest
	for _, test := range []struct{ method, path, body string }{
		{"GET", "/v1/skills?limit=2", ""},
		{"GET", "/v1/skills?q=thing&state=ready&source=extra", ""},
		{"GET", "/v1/skills/demo%2Frun", ""},
		{"GET", "/v1/skills/demo%2Fguide", ""},
		{"PUT", "/v1/skills/demo%2Frun/enabled", `{"enabled":true}`},
		{"PUT", "/v1/skills/demo%2Frun/pinned", `{"pinned":true}`},
		{"GET", "/v1/secrets", ""},
		{"POST", "/v1/skills/demo%2Frun/secrets", `{"name":"TOKEN","hosts":["api.example.com"],"digest":"` + digest + `"}`},
		{"DELETE", "/v1/skills/demo%2Frun/secrets/TOKEN", ""},
		{"DELETE", "/v1/secrets/TOKEN", ""},
		{"POST", "/v1/profiles", `{"name":"new","mode":"read-only","allow":[],"class":"safe","execution_timeout":"90s","pin":["demo/run"],"env":{"TEAM":"red"},"secrets":[]}`},
		{"GET", "/v1/profiles", ""},
		{"GET", "/v1/profiles/new/skills", ""},
		{"PUT", "/v1/profiles/new", `{"deny":["demo/*"],"max_concurrent_executions":2}`},
		{"DELETE", "/v1/profiles/new", ""},
		{"GET", "/v1/plugins", ""},
		{"GET", "/v1/doctor", ""},
		{"GET", "/v1/runs", ""},
		{"GET", "/v1/runs/" + ran, ""},
		{"GET", "/v1/runs/" + ran + "/outputs/stdout", ""},
		{"DELETE", "/v1/runs/" + ran, ""},
		{"GET", "/v1/subagents?status=running", ""},
		{"GET", "/v1/subagents/aaaaaaaaaaaa", ""},
		{"DELETE", "/v1/subagents/aaaaaaaaaaaa", ""},
		{"GET", "/v1/approvals", ""},
		{"GET", asked, ""},
		{"POST", asked, `{"scope":"always"}`},
		{"DELETE", again, ""},
		{"GET", "/v1/approvals?ended=true", ""},
		{"GET", "/v1/openapi.json", ""},
	} {
		if a := b.call("person", test.method, test.path, test.body, "Accept: */*"); a.StatusCode >= 300 || a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %d %s", test.method, test.path, a.StatusCode, a.body)
		}
	}
	for pattern, item := range b.contract.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if !b.contract.seen[operation.OperationID+" 200"] && !b.contract.seen[operation.OperationID+" 204"] {
				t.Errorf("%s %s was not answered well", method, pattern)
			}
		}
	}
}

// FuzzAPI sends requests that are made of the document's own schemas, half of them then
// damaged. Whatever comes, the answer is as the document says, and no fault of the server.
func FuzzAPI(f *testing.F) {
	for seed := range uint64(400) {
		f.Add(seed)
	}
	b := newBench(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := &generator{rand.New(rand.NewPCG(seed, 1)), b.contract.doc}
		who, method, path, body, headers := g.request()
		b := &bench{t: t, url: b.url, contract: b.contract}
		a := b.call(who, method, path, body, headers...)
		if a.StatusCode >= 500 && a.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s %s as %s %v %s: %d %s", method, path, who, headers, body, a.StatusCode, a.body)
		}
	})
}

// A generator makes requests.
type generator struct {
	*rand.Rand
	doc *openapi3.T
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// request returns a request of an operation of the document.
func (g *generator) request() (who, method, path, body string, headers []string) {
	pattern := pick(g, g.doc.Paths.InMatchingOrder()...)
	all := g.doc.Paths.Value(pattern).Operations()
	methods := make([]string, 0, len(all))
	for m := range all {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	method = pick(g, methods...)
	operation, query := all[method], url.Values{}
	path = pattern
	for _, p := range operation.Parameters {
		value := g.parameter(p.Value)
		switch {
		case p.Value.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", strings.ReplaceAll(url.PathEscape(value), ".", "%2E"))
		case g.IntN(3) > 0:
		case p.Value.In == "query":
			query.Set(p.Value.Name, value)
		case p.Value.In == "header" && !strings.ContainsAny(value, "\x00\r\n\x7f"):
			headers = append(headers, p.Value.Name+": "+value)
		}
	}
	if g.IntN(8) == 0 {
		query.Set(g.text(), g.text())
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if operation.RequestBody != nil {
		text, err := json.Marshal(g.value(operation.RequestBody.Value.Content.Get("application/json").Schema.Value))
		if err != nil {
			panic(err)
		}
		body = g.damaged(string(text))
	}
	headers = append(headers, "Accept: "+pick(g, "*/*", "application/json", "application/problem+json", "text/html", "application/json;q=0", ""))
	if method == "POST" && strings.HasSuffix(pattern, "/execute") {
		headers = append(headers, "Prefer: respond-async") // hang has no other end
	}
	return pick(g, "person", "token", "anonymous", "ci"), method, path, body, headers
}

// damaged returns a body, or something like it.
func (g *generator) damaged(body string) string {
	switch at := g.IntN(len(body) + 1); g.IntN(8) {
	case 0:
		return body[:at]
	case 1:
		return body[:at] + g.text() + body[at:]
	case 2:
		return strings.ReplaceAll(body, `"`, "")
	case 3:
		return pick(g, "null", "[]", "1", `""`, "{", strings.Repeat("[", 1000), `{"params":{"a":1e999999}}`, `{"params":`+strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 201))
	}
	return body
}

// parameter returns the text of a parameter: often one that means something.
func (g *generator) parameter(p *openapi3.Parameter) string {
	if g.IntN(2) == 0 {
		switch p.Name {
		case "name", "skill":
			return pick(g, "demo/run", "demo/fail", "demo/write", "demo/guide", "run", "ci", "demo/private")
		case "path":
			return pick(g, "stdout", "stderr", "out/sub/page.html", "out/../../etc/passwd")
		case "id":
			return pick(g, "aaaaaaaaaaaa", "bbbbbbbbbbbb", "aaaa")
		}
	}
	if value, ok := g.value(p.Schema.Value).(string); ok {
		if value == "" {
			return "a" // a path has no empty part
		}
		return value
	}
	return fmt.Sprint(g.value(p.Schema.Value))
}

// value returns a value that a schema allows, most times.
func (g *generator) value(s *openapi3.Schema) any {
	if len(s.Enum) > 0 && g.IntN(8) > 0 {
		return pick(g, s.Enum...)
	}
	switch {
	case s.Type.Is("string"):
		return g.text()
	case s.Type.Is("integer"):
		return pick(g, 0, 1, 2, 50, 200, 1000, -1, 1<<40)
	case s.Type.Is("boolean"):
		return g.IntN(2) == 0
	}
	object := map[string]any{}
	for name, property := range s.Properties {
		if slices.Contains(s.Required, name) && g.IntN(16) > 0 || g.IntN(2) == 0 {
			object[name] = g.value(property.Value)
		}
	}
	if len(s.Properties) == 0 {
		object[pick(g, "target", g.text())] = pick[any](g, g.text(), 1.5, nil, true, []any{"a"}, map[string]any{})
	}
	return object
}

// text returns a text, many of which mean something to programs.
func (g *generator) text() string {
	return pick(g, "a", "", "demo/run", "../..", "%2F", "%00", "\x00", "a\r\nb: c", "ä", "\u202e", "' OR 1=1 --", "2026-01-02T03:04:05Z", "9223372036854775808", strings.Repeat("x", 3000), "<script>", "\xff", "ready", "*", "null")
}
