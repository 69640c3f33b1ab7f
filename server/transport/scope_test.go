package transport

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A request whose token lacks the scope of its message is refused by HTTP, with the
// challenge, in both generations and on the deprecated transport. Nothing reaches a handler.
func TestScopes(t *testing.T) {
	b := newBench().backend()
	b.Scope = func(method, name, uri string) identity.Scope {
		switch {
		case method == "tools/call" && name == "admin":
			return identity.ScopeAdmin
		case method == "tools/call" || uri == "run:it":
			return identity.ScopeRun
		}
		return identity.ScopeRead
	}
	refused := 0
	h := NewHTTP(b, &Options{Refused: func(*http.Request, string) { refused++ }})
	defer h.Close()
	_, messages := h.SSE()
	ask := func(handler http.Handler, has []identity.Scope, modern bool, method, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, Path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if modern {
			r.Header.Set(versionHeader, "2026-07-28")
		}
		ctx := identity.NewContext(r.Context(), identity.Principal{Kind: identity.Token, ID: "ann", Scopes: has})
		ctx = identity.WithChallenge(ctx, func(s identity.Scope) string { return "Bearer " + string(s) })
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r.WithContext(ctx))
		return w
	}
	read, run, admin, approve := []identity.Scope{identity.ScopeRead}, []identity.Scope{identity.ScopeRun}, []identity.Scope{identity.ScopeAdmin}, []identity.Scope{identity.ScopeApprove}
	message := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"7","method":%q,"params":%s}`, method, params)
	}
	for _, test := range []struct {
		has  []identity.Scope
		http string
		body string
		need identity.Scope // "" is not refused
	}{
		{read, "POST", message("tools/list", "{}"), ""},
		{approve, "POST", message("tools/list", "{}"), identity.ScopeRead},
		{[]identity.Scope{}, "POST", message("initialize", "{}"), identity.ScopeRead},
		{read, "POST", message("tools/call", `{"name":"echo"}`), identity.ScopeRun},
		{run, "POST", message("tools/call", `{"name":"echo"}`), ""},
		{run, "POST", message("tools/call", `{"name":"admin"}`), identity.ScopeAdmin},
		{admin, "POST", message("tools/call", `{"name":"admin"}`), ""},
		{nil, "POST", message("tools/call", `{"name":"admin"}`), ""},
		{read, "POST", message("tools/call", `[]`), identity.ScopeRun},
		{read, "POST", message("resources/read", `{"uri":"run:it"}`), identity.ScopeRun},
		{read, "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{approve, "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, identity.ScopeRead},
		{read, "POST", `{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`, identity.ScopeRun},
		{approve, "GET", "", identity.ScopeRead},
		{approve, "DELETE", "", identity.ScopeRead},
	} {
		for _, modern := range []bool{true, false} {
			refused = 0
			w := ask(h, test.has, modern, test.http, test.body)
			got := w.Header().Get("WWW-Authenticate")
			want := ""
			if test.need != "" {
				want = "Bearer " + string(test.need)
			}
			if got != want || (w.Code == http.StatusForbidden) != (want != "") || (refused == 1) != (want != "") {
				t.Errorf("%s %s with %q, modern %v: %d %q, want %q; %s", test.http, test.body, test.has, modern, w.Code, got, want, w.Body)
			}
			if want != "" && strings.Contains(test.body, `"id":"7"`) && !strings.Contains(w.Body.String(), `"id":"7"`) {
				t.Errorf("%s: the error is of no request: %s", test.body, w.Body)
			}
		}
	}

	s := serveSSE(t, h, read)
	r := httptest.NewRequest("POST", s, strings.NewReader(message("tools/call", `{"name":"echo"}`)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	messages.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), identity.Principal{Kind: identity.Token, ID: "ann", Scopes: read})))
	if w.Code != http.StatusForbidden || w.Header().Get("WWW-Authenticate") != `Bearer error="insufficient_scope", scope="skills:run"` {
		t.Errorf("over SSE: %d %v", w.Code, w.Header())
	}
	stream, _ := h.SSE()
	if w := ask(stream, approve, false, "GET", ""); w.Code != http.StatusForbidden {
		t.Errorf("the stream of SSE: %d", w.Code)
	}
}

// serveSSE opens a stream of a principal with scopes, and returns the path to post to.
func serveSSE(t *testing.T, h *HTTP, scopes []identity.Scope) string {
	t.Helper()
	stream, _ := h.SSE()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), identity.Principal{Kind: identity.Token, ID: "ann", Scopes: scopes})))
	}))
	t.Cleanup(s.Close)
	response, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close(); http.DefaultClient.CloseIdleConnections() })
	head := make([]byte, 200)
	n, _ := response.Body.Read(head)
	_, path, _ := strings.Cut(strings.TrimSpace(string(head[:n])), "data: ")
	return path
}
