package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// fakeProvider signs in the person whom the code names.
type fakeProvider struct{ secrets map[string]string } // by state

func (p *fakeProvider) Name() string     { return "login.example.com" }
func (p *fakeProvider) Document() []byte { return []byte(`{}`) }

func (p *fakeProvider) Start(_ context.Context, state, secret string) (string, error) {
	if p.secrets == nil {
		return "", errors.New("it is away")
	}
	p.secrets[state] = secret
	return "https://login.example.com/authorize?state=" + state, nil
}

func (p *fakeProvider) Finish(_ context.Context, query url.Values, secret string) (identity.Principal, error) {
	if p.secrets[query.Get("state")] != secret {
		return identity.Principal{}, errors.New("another secret")
	}
	if query.Get("code") == "stranger" {
		return identity.Principal{}, &identity.Challenge{Status: http.StatusForbidden, Message: "no profile of the server is for you"}
	}
	return identity.Principal{Kind: identity.Subject, ID: query.Get("code"), Expires: time.Now().Add(time.Hour)}, nil
}

// A token that may not read reads no page.
func TestScope(t *testing.T) {
	scopes := []identity.Scope{identity.ScopeApprove}
	s := New(Options{Tokens: func(*http.Request) (identity.Principal, error) {
		return identity.Principal{Kind: identity.Token, ID: "bot", Scopes: scopes}, nil
	}})
	b := newBrowser(t, s)
	if w := b.get(Path, "Authorization", "Bearer x"); w.Code != 403 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	scopes = append(scopes, identity.ScopeRead)
	if w := b.get(Path, "Authorization", "Bearer x"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// begin starts an attempt, and returns its state.
func (b *browser) begin(next string) string {
	b.t.Helper()
	w := b.get(startPath + "?" + url.Values{"next": {next}}.Encode())
	_, state, ok := strings.Cut(w.Header().Get("Location"), "https://login.example.com/authorize?state=")
	if w.Code != 303 || !ok {
		b.t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	return state
}

// back is the callback, as the provider's site sends the browser to it: without the cookie of a
// session, which is Strict.
func (b *browser) back(code, state string) (status int, body string, to string) {
	b.t.Helper()
	w := b.get(CallbackPath+"?"+url.Values{"code": {code}, "state": {state}}.Encode(), "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	return w.Code, w.Body.String(), w.Header().Get("Location")
}

// A person who follows a link to a question signs in at the provider, and is led on to it.
func TestProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBrowser(t, New(Options{Provider: &fakeProvider{map[string]string{}}, Profile: "work"}))
		const deep = Path + "approvals/a?b=1"
		if w := b.get(deep); w.Code != 401 || !strings.Contains(w.Body.String(), `href="/ui/signin/start?next=%2Fui%2Fapprovals%2Fa%3Fb%3D1"`) || !strings.Contains(w.Body.String(), "Sign in at login.example.com") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		state := b.begin(deep)
		attempt := b.cookies["skills-mcp-8765-attempt"]
		if attempt == nil || !attempt.HttpOnly || attempt.SameSite != http.SameSiteLaxMode || attempt.MaxAge != attemptLife {
			t.Errorf("the cookie is %v", attempt)
		}
		if status, body, to := b.back("ann", state); status != 303 || to != deep || b.cookies["skills-mcp-8765-attempt"] != nil || b.cookies["skills-mcp-8765"].SameSite != http.SameSiteStrictMode {
			t.Fatalf("%d %s %s, %v", status, body, to, b.cookies)
		}
		if !b.served("oidc/ann/work") {
			t.Error("nobody is signed in")
		}
		if status, _, _ := b.back("eve", state); status != 401 || !b.served("oidc/ann/work") {
			t.Errorf("the same answer again: %d", status)
		}
		if time.Sleep(time.Hour); b.served("oidc/ann/work") {
			t.Error("the session outlives the ID token")
		}
	})
}

// Nobody is signed in as another by an answer that their browser did not ask for, has no session
// but a new one, and is led off the page by none.
func TestForgedAnswers(t *testing.T) {
	p := &fakeProvider{map[string]string{}}
	s := New(Options{Provider: p})
	eve := newBrowser(t, s)
	state := eve.begin(Path)
	for name, attack := range map[string]func(b *browser) string{ // it returns the state of the answer
		"without an attempt": func(*browser) string { return state },
		"with another":       func(b *browser) string { b.begin(Path); return state },
		"without a state":    func(b *browser) string { b.begin(Path); return "" },
		"an empty cookie": func(b *browser) string {
			b.cookies["x"] = &http.Cookie{Name: "skills-mcp-8765-attempt", Value: ".."}
			return ""
		},
		"half of another's": func(b *browser) string {
			b.begin(Path)
			own := b.cookies["skills-mcp-8765-attempt"]
			own.Value = state + own.Value[strings.Index(own.Value, "."):]
			return state
		},
	} {
		b := newBrowser(t, s)
		answered := attack(b)
		if status, body, _ := b.back("eve", answered); status != 401 || b.served("oidc/eve") || b.cookies["skills-mcp-8765"] != nil {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	for _, next := range []string{"https://evil.example.com/ui/", "//evil.example.com", `/ui/\evil`, "javascript:alert(1)", "/v1/skills", CallbackPath + "?code=x"} {
		b := newBrowser(t, s)
		if _, _, to := b.back("ann", b.begin(next)); to != Path {
			t.Errorf("%q leads to %q", next, to)
		}
	}
	planted := newBrowser(t, s)
	planted.back("eve", planted.begin(Path))
	session := *planted.cookies["skills-mcp-8765"]
	b := newBrowser(t, s)
	b.cookies[session.Name] = &session
	b.back("ann", b.begin(Path))
	if b.cookies[session.Name].Value == session.Value || !b.served("oidc/ann") || planted.served("oidc/ann") {
		t.Error("a planted session went on")
	}
	stranger := newBrowser(t, s)
	if status, body, _ := stranger.back("stranger", stranger.begin(Path)); status != 403 || !strings.Contains(body, "You may not use this server: no profile of the server is for you.") || stranger.cookies["skills-mcp-8765"] != nil {
		t.Errorf("a stranger: %d %s", status, body)
	}
	p.secrets = nil
	if w := b.get(startPath); w.Code != 502 || strings.Contains(w.Body.String(), "away") {
		t.Errorf("a provider that is away: %d %s", w.Code, w.Body)
	}
	for method, path := range map[string]string{"POST": CallbackPath, "PUT": startPath, "GET": signinPath + "/other"} {
		if w := b.do(method, path, url.Values{}); w.Code != 404 {
			t.Errorf("%s %s: %d", method, path, w.Code)
		}
	}
	if w := newBrowser(t, s).get(DocumentPath); w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("the document: %d", w.Code)
	}
	if w := newBrowser(t, New(Options{})).get(startPath); w.Code != 404 {
		t.Errorf("without a provider: %d", w.Code)
	}
}
