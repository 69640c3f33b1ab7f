package api_test

import (
	"net/http"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// The operations need the scope that the table says.
func TestScopes(t *testing.T) {
	b := newBench(t)
	for _, test := range []struct {
		who, method, path, body string
		need                    string // scope; "" is let in
	}{
		{"reader", "GET", "/v1/skills", "", ""},
		{"reader", "GET", "/v1/runs", "", ""},
		{"reader", "POST", "/v1/skills/demo%2Frun/execute", `{}`, "skills:run"},
		{"reader", "DELETE", "/v1/runs/r1", "", "skills:run"},
		{"reader", "GET", "/v1/subagents", "", ""},
		{"reader", "DELETE", "/v1/subagents/aaaaaaaaaaaa", "", "skills:run"},
		{"laptop", "POST", "/v1/skills/demo%2Frun/execute", `{"params":{"target":"x"}}`, ""},
		{"approver", "GET", "/v1/skills", "", "skills:read"},
		{"approver", "GET", "/v1/openapi.json", "", "skills:read"},
		{"approver", "POST", "/v1/skills/demo%2Frun/execute", `{}`, "skills:run"},
	} {
		a := b.call(test.who, test.method, test.path, test.body)
		want := ""
		if test.need != "" {
			want = `Bearer error="insufficient_scope", scope="` + test.need + `"`
			if p := a.problem(t); p.Code != run.PermissionDenied || p.Detail != "this needs a token with the scope "+test.need {
				t.Errorf("%s %s %s: %+v", test.who, test.method, test.path, p)
			}
		}
		if got := a.Header.Get("WWW-Authenticate"); got != want || (a.StatusCode == http.StatusForbidden) != (want != "") {
			t.Errorf("%s %s %s: %d %q %s", test.who, test.method, test.path, a.StatusCode, got, a.body)
		}
	}
}

// scoped are holders of tokens with one scope.
func scoped() map[string]identity.Principal {
	return map[string]identity.Principal{
		"reader":   {Kind: identity.Token, ID: "reader", Scopes: []identity.Scope{identity.ScopeRead}},
		"approver": {Kind: identity.Token, ID: "approver", Scopes: []identity.Scope{identity.ScopeApprove}},
	}
}
