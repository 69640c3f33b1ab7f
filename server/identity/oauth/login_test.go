package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A loginProvider is a provider with a token endpoint, for one code.
type loginProvider struct {
	*provider
	metadata map[string]any // changes
	idToken  map[string]any // changes of its claims
	scope    string         // of the answer
	asked    url.Values     // the last question to the authorization endpoint
	form     url.Values     // of the last question to the token endpoint
	user     string         // of its Authorization
}

func (p *loginProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server/team":
		all := map[string]any{
			"issuer": issuerURL, "jwks_uri": "https://login.example.com/keys", "authorization_endpoint": "https://login.example.com/authorize", "token_endpoint": "https://login.example.com/token",
			"scopes_supported": []string{"openid", "profile", "skills:run", "phone"}, "authorization_response_iss_parameter_supported": true,
		}
		maps.Copy(all, p.metadata)
		_ = json.NewEncoder(w).Encode(all)
	case "/token":
		_ = r.ParseForm()
		p.form = r.PostForm
		p.user, _, _ = r.BasicAuth()
		sum := sha256.Sum256([]byte(p.form.Get("code_verifier")))
		if p.form.Get("code") != "the-code" || base64.RawURLEncoding.EncodeToString(sum[:]) != p.asked.Get("code_challenge") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			break
		}
		idToken := claims(map[string]any{"aud": "page", "nonce": p.asked.Get("nonce"), "scope": nil})
		maps.Copy(idToken, p.idToken)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "a", "token_type": "Bearer", "scope": p.scope, "id_token": sign(rs("one"), idToken, rsaKey())})
	default:
		return p.provider.RoundTrip(r)
	}
	return w.Result(), nil
}

// newLogin returns a sign-in at the provider.
func (p *loginProvider) newLogin(change func(*Options)) *Login {
	o := Options{
		URL: serverURL, Issuer: issuerURL, Transport: p, DefaultScopes: []identity.Scope{identity.ScopeRead},
		Client: Client{ID: "page", Redirect: serverURL + "/ui/signin/callback", Document: serverURL + "/ui/signin/client.json"},
	}
	if change != nil {
		change(&o)
	}
	return NewLogin(o)
}

// signIn goes the whole way, with changes of the query that the browser brings back, and with
// another secret if there is one.
func (p *loginProvider) signIn(t *testing.T, l *Login, query map[string]string, other string) (identity.Principal, error) {
	t.Helper()
	const secret = "0123456789abcdef0123456789abcdef0123456789abcdef"
	to, err := l.Start(t.Context(), "the-state", secret)
	if err != nil {
		return identity.Principal{}, err
	}
	at := must(url.Parse(to))
	p.asked = at.Query()
	if at.Host+at.Path != "login.example.com/authorize" || strings.Contains(to, secret) || p.asked.Get("state") != "the-state" || p.asked.Get("response_type") != "code" || p.asked.Get("code_challenge_method") != "S256" || p.asked.Get("redirect_uri") != serverURL+"/ui/signin/callback" || len(p.asked.Get("nonce")) < 32 {
		t.Errorf("it leads to %s", to)
	}
	back := url.Values{"code": {"the-code"}, "state": {"the-state"}, "iss": {issuerURL}}
	for name, value := range query {
		if back.Del(name); value != "" {
			back.Set(name, value)
		}
	}
	if other == "" {
		other = secret
	}
	return l.Finish(t.Context(), back, other)
}

// A person signs in by a code, and has the profile and the scopes of the claims, and may
// answer questions.
func TestLogin(t *testing.T) {
	for name, test := range map[string]struct {
		idToken map[string]any
		scope   string
		want    []identity.Scope
	}{
		"by default":       {nil, "", []identity.Scope{identity.ScopeRead, identity.ScopeApprove}},
		"of the answer":    {nil, "openid skills:run", []identity.Scope{identity.ScopeRun, identity.ScopeApprove}},
		"of the token":     {map[string]any{"scp": []string{"skills:admin"}}, "skills:run", []identity.Scope{identity.ScopeAdmin, identity.ScopeApprove}},
		"of several aud":   {map[string]any{"aud": []string{"other", "page"}, "azp": "page"}, "", []identity.Scope{identity.ScopeRead, identity.ScopeApprove}},
		"approve is there": {map[string]any{"scp": "skills:approve skills:run"}, "", []identity.Scope{identity.ScopeApprove, identity.ScopeRun}},
	} {
		p := &loginProvider{provider: newProvider(), idToken: test.idToken, scope: test.scope}
		who, err := p.signIn(t, p.newLogin(func(o *Options) { o.DefaultProfile = "dev" }), nil, "")
		if err != nil || who.Kind != identity.Subject || who.ID != issuerURL+" ann" || who.Profile != "dev" || who.Name != "ann@example.com" || !slices.Equal(who.Scopes, test.want) || who.Expires.IsZero() {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
		if p.form.Get("client_id") != "page" || p.user != "" || p.asked.Get("scope") != "openid profile skills:run" {
			t.Errorf("%s: %v, %v", name, p.form, p.asked)
		}
	}
	p := &loginProvider{provider: newProvider()}
	if _, err := p.signIn(t, p.newLogin(func(o *Options) { o.Client.Secret = "s" }), nil, ""); err != nil || p.user != "page" || p.form.Has("client_secret") {
		t.Errorf("with a secret: %q, %v, %v", p.user, p.form, err)
	}
}

// Answers that sign nobody in.
func TestBadLogins(t *testing.T) {
	away := func(changes map[string]any) *loginProvider {
		return &loginProvider{provider: newProvider(), metadata: changes}
	}
	for name, test := range map[string]struct {
		metadata, idToken map[string]any
		query             map[string]string
		secret            string
		want              string
	}{
		"another issuer (RFC 9207)":     {query: map[string]string{"iss": "https://evil.example.com"}, want: "another issuer"},
		"no issuer, where it says so":   {query: map[string]string{"iss": ""}, want: "another issuer"},
		"another, where it says none":   {metadata: map[string]any{"authorization_response_iss_parameter_supported": false}, query: map[string]string{"iss": "https://evil.example.com"}, want: "another issuer"},
		"an error":                      {query: map[string]string{"error": "access_denied", "code": ""}, want: `"access_denied"`},
		"another code":                  {query: map[string]string{"code": "stolen"}, want: "invalid_grant"},
		"another browser's secret":      {secret: strings.Repeat("f", 48), want: "invalid_grant"},
		"another attempt's nonce":       {idToken: map[string]any{"nonce": "other"}, want: "another attempt"},
		"no nonce":                      {idToken: map[string]any{"nonce": nil}, want: "another attempt"},
		"another client":                {idToken: map[string]any{"aud": "other"}, want: "another audience"},
		"the server's own audience":     {idToken: map[string]any{"aud": serverURL + "/mcp"}, want: "another audience"},
		"several clients without azp":   {idToken: map[string]any{"aud": []string{"page", "other"}}, want: "another attempt or client"},
		"authorized for another":        {idToken: map[string]any{"azp": "other"}, want: "another attempt or client"},
		"expired":                       {idToken: map[string]any{"exp": 1}, want: "expired"},
		"another issuer's token":        {idToken: map[string]any{"iss": "https://evil.example.com"}, want: "not the issuer's"},
		"no endpoint":                   {metadata: map[string]any{"token_endpoint": ""}, want: "signs nobody in"},
		"an endpoint in the clear":      {metadata: map[string]any{"token_endpoint": "http://login.example.com/token"}, want: "not https"},
		"an authorization in the clear": {metadata: map[string]any{"authorization_endpoint": "http://login.example.com/authorize"}, want: "not https"},
	} {
		p := away(test.metadata)
		p.idToken = test.idToken
		who, err := p.signIn(t, p.newLogin(nil), test.query, test.secret)
		if err == nil || !strings.Contains(err.Error(), test.want) || who.Named() {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	p := away(nil)
	for name, change := range map[string]func(*Options){
		"no scope":   func(o *Options) { o.DefaultScopes = nil },
		"no profile": func(o *Options) { o.ProfileClaim, o.Profiles = "groups", map[string]string{"devs": "dev"} },
	} {
		if _, err := p.signIn(t, p.newLogin(change), nil, ""); challenged(err) == nil || challenged(err).Status != http.StatusForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A page that is not registered is known by its document, where the issuer reads it.
func TestClientDocument(t *testing.T) {
	p := &loginProvider{provider: newProvider(), idToken: map[string]any{"aud": serverURL + "/ui/signin/client.json"}}
	unregistered := func(o *Options) { o.Client.ID = "" }
	if _, err := p.signIn(t, p.newLogin(unregistered), nil, ""); err == nil || !strings.Contains(err.Error(), "serve.oidc.page.client_id") {
		t.Errorf("an issuer that reads none: %v", err)
	}
	p.metadata = map[string]any{"client_id_metadata_document_supported": true}
	l := p.newLogin(unregistered)
	if _, err := p.signIn(t, l, nil, ""); err != nil {
		t.Error(err)
	}
	var document struct {
		ID       string   `json:"client_id"`
		Redirect []string `json:"redirect_uris"`
	}
	if err := json.Unmarshal(l.Document(), &document); err != nil || document.ID != p.asked.Get("client_id") || !slices.Contains(document.Redirect, p.asked.Get("redirect_uri")) {
		t.Errorf("%s, %v, for %v", l.Document(), err, p.asked)
	}
	if p.newLogin(nil).Document() != nil {
		t.Error("a registered client has a document")
	}
}
