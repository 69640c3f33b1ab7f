package serving

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/identity/oauth"
	"github.com/skillsmcp/skills-mcp/server/identity/tokens"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// testTokens returns the tokens of a new store.
func testTokens(t *testing.T) *tokens.Tokens {
	t.Helper()
	dir := t.TempDir()
	s := store.New(filepath.Join(dir, "state.db"), nil)
	t.Cleanup(func() { _ = s.Close() })
	key := seal.New(filepath.Join(dir, "key"), nil)
	return tokens.New(seal.NewTable(tokens.TokenRow, s, key, nil), seal.NewTable(tokens.LinkRow, s, key, nil), s.Generation)
}

func sent(header ...string) *http.Request {
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header["Authorization"] = header
	return r
}

// The machine's token and those of two people are three principals; all refusals of a
// token are alike to its sender.
func TestAuthenticator(t *testing.T) {
	named := testTokens(t)
	add := func(name string, profiles ...string) string {
		t.Helper()
		text, err := named.Add(t.Context(), tokens.Token{Name: name, Profiles: profiles, Scopes: []identity.Scope{identity.ScopeRun}})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	ann, bob := add("ann", "dev"), add("bob")
	a := &authenticator{machine: identity.NewBearer("0123456789abcdef"), tokens: named, resource: oauth.NewResource(oauth.Options{}), profile: "default"}
	for text, want := range map[string]identity.Principal{
		"0123456789abcdef": {Kind: identity.Token, Profile: "default"},
		ann:                {Kind: identity.Token, ID: "ann", Profile: "dev"},
		bob:                {Kind: identity.Token, ID: "bob", Profile: "default"},
	} {
		if p, err := a.Authenticate(sent("Bearer " + text)); err != nil || p.Key() != want.Key() {
			t.Errorf("%+v, %v, want %+v", p, err, want)
		}
	}
	if _, err := named.Revoke(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	answers := map[identity.Challenge]string{}
	for _, text := range []string{"Bearer x", "Bearer " + bob, "Bearer " + tokens.Prefix, "Bearer a.b.c", "Basic eDp5", "Bearer " + strings.Repeat("x", 20_000)} {
		p, err := a.Authenticate(sent(text))
		c, ok := errors.AsType[*identity.Challenge](err)
		if !ok || p.Kind != identity.Anonymous {
			t.Fatalf("%q: %+v, %v", text, p, err)
		}
		answers[identity.Challenge{Status: c.Status, Authenticate: c.Authenticate, Message: c.Message}] = text
	}
	if len(answers) != 1 {
		t.Errorf("refusals differ: %+v", answers)
	}
	if _, err := a.Authenticate(sent("Bearer "+ann, "Bearer "+ann)); err == nil {
		t.Error("two headers are taken")
	}
}
