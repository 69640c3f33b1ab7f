package oauth

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// The metadata of each resource names it exactly, and does not tell which profiles exist.
func TestMetadata(t *testing.T) {
	m := NewResource(Options{URL: serverURL, Issuer: issuerURL})
	for path, resource := range map[string]string{
		"": "", "/mcp": "/mcp", "/mcp/readonly": "/mcp/readonly", "/mcp/p/dev": "/mcp/p/dev", "/mcp/p/none/readonly": "/mcp/p/none/readonly", "/sse": "/sse",
		"/mcp/p/a%22b": "/mcp/p/a%22b",
		"/":            "-", "/mcp/": "-", "/mcp/p": "-", "/mcp/p/": "-", "/mcp/p/dev/other": "-", "/mcp/p/dev/readonly/x": "-", "/v1/skills": "-", "/mcpx": "-",
	} {
		w := httptest.NewRecorder()
		m.Metadata().ServeHTTP(w, httptest.NewRequest("GET", serverURL+MetadataPath+path, nil))
		if resource == "-" {
			if w.Code != 404 {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v %s", path, err, w.Body)
		}
		want := map[string]any{
			"resource": serverURL + resource, "authorization_servers": []any{issuerURL}, "bearer_methods_supported": []any{"header"},
			"scopes_supported": []any{"skills:read", "skills:run"}, "resource_name": "skills-mcp",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// Challenges name the metadata of the resource, and the scope as the issuer does.
func TestChallenge(t *testing.T) {
	ours, mapped := Options{URL: serverURL, Issuer: issuerURL}, Options{URL: serverURL, Issuer: issuerURL}
	named(&mapped)
	silent := Options{URL: serverURL, Issuer: issuerURL, DefaultScopes: []identity.Scope{identity.ScopeRun}}
	for _, test := range []struct {
		options      Options
		path, failed string
		scope        identity.Scope
		want         string
	}{
		{ours, "/mcp", "", identity.ScopeRun, `Bearer resource_metadata="https://skills.example.com/.well-known/oauth-protected-resource/mcp", scope="skills:run"`},
		{ours, "/mcp/p/a%22b", "invalid_token", identity.ScopeRun, `Bearer error="invalid_token", resource_metadata="https://skills.example.com/.well-known/oauth-protected-resource/mcp/p/a%22b", scope="skills:run"`},
		{ours, "/v1/skills", "insufficient_scope", identity.ScopeAdmin, `Bearer error="insufficient_scope", resource_metadata="https://skills.example.com/.well-known/oauth-protected-resource", scope="skills:admin"`},
		{mapped, "/", "insufficient_scope", identity.ScopeRead, `Bearer error="insufficient_scope", resource_metadata="https://skills.example.com/.well-known/oauth-protected-resource", scope="use"`},
		{mapped, "/", "insufficient_scope", identity.ScopeAdmin, `Bearer error="insufficient_scope", resource_metadata="https://skills.example.com/.well-known/oauth-protected-resource", scope="api://id/Manage"`},
		{mapped, "/", "insufficient_scope", identity.ScopeApprove, `Bearer error="insufficient_scope", resource_metadata="https://skills.example.com/.well-known/oauth-protected-resource"`},
		{silent, "/", "", identity.ScopeRun, `Bearer resource_metadata="https://skills.example.com/.well-known/oauth-protected-resource"`},
		{Options{}, "/mcp", "", identity.ScopeRun, `Bearer scope="skills:run"`},
		{Options{}, "/mcp", "insufficient_scope", identity.ScopeRun, `Bearer error="insufficient_scope", scope="skills:run"`},
	} {
		if got := NewResource(test.options).Challenge(httptest.NewRequest("POST", serverURL+test.path, nil), test.failed, test.scope); got != test.want {
			t.Errorf("%s %s %s: %s", test.path, test.failed, test.scope, got)
		}
	}
}
