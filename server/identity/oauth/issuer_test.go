package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	issuerURL = "https://login.example.com/team"
	serverURL = "https://skills.example.com"
)

// A provider is an issuer in memory, as the transport of its clients.
type provider struct {
	mu        sync.Mutex // guards the fields below
	keys      []jose.JSONWebKey
	documents map[string]string // by path; "" is metadata at the place of RFC 8414
	away      bool
	asked     []string // paths
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.URL.Path)
	if p.away {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	document, known := p.documents[r.URL.Path]
	switch {
	case known:
		_, _ = w.WriteString(document)
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: p.keys})
	case p.documents == nil && r.URL.Path == "/.well-known/oauth-authorization-server/team":
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":"https://login.example.com/keys"}`, issuerURL)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	return w.Result(), nil
}

func (p *provider) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *provider) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

var (
	rsaKey = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	ecKey  = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	other  = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// newProvider returns a provider with an RSA and an elliptic key.
func newProvider() *provider {
	return &provider{keys: []jose.JSONWebKey{
		{Key: rsaKey().Public(), KeyID: "one", Use: "sig", Algorithm: "RS256"}, {Key: ecKey().Public(), KeyID: "two"},
		{Key: other().Public(), KeyID: "enc", Use: "enc"},
	}}
}

// claims returns those of a good token, with changes; nil removes one.
func claims(changes map[string]any) map[string]any {
	all := map[string]any{
		"iss": issuerURL, "sub": "ann", "aud": serverURL + "/mcp", "exp": time.Now().Add(time.Hour).Unix(),
		"scope": "openid skills:run", "preferred_username": "ann@example.com",
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

func part(value any) string { return base64.RawURLEncoding.EncodeToString(must(json.Marshal(value))) }

// sign returns a token with a header, signed with RS256 or ES256 by the type of the key, or
// with HS256.
func sign(header, claims map[string]any, key any) string {
	text := part(header) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	var signature []byte
	switch key := key.(type) {
	case *rsa.PrivateKey:
		signature = must(rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:]))
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		signature = append(must(r, err).FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case []byte:
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		signature = mac.Sum(nil)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func rs(kid string) map[string]any { return map[string]any{"alg": "RS256", "kid": kid} }

func (p *provider) issuer(change func(*Options)) *Issuer {
	o := Options{URL: serverURL, Issuer: issuerURL, Transport: p}
	if change != nil {
		change(&o)
	}
	return NewIssuer(o)
}

func challenged(err error) *identity.Challenge {
	c, _ := errors.AsType[*identity.Challenge](err)
	return c
}

// Tokens that count, by all forms of their claims.
func TestGoodTokens(t *testing.T) {
	p := newProvider()
	i := p.issuer(nil)
	for name, text := range map[string]string{
		"RSA":             sign(rs("one"), claims(nil), rsaKey()),
		"elliptic":        sign(map[string]any{"alg": "ES256", "kid": "two", "typ": "at+jwt"}, claims(nil), ecKey()),
		"without kid":     sign(map[string]any{"alg": "ES256", "typ": "JWT"}, claims(nil), ecKey()),
		"several aud":     sign(rs("one"), claims(map[string]any{"aud": []string{"other", serverURL}}), rsaKey()),
		"a profile's aud": sign(rs("one"), claims(map[string]any{"aud": serverURL + "/mcp/p/dev/readonly"}), rsaKey()),
		"within the skew": sign(rs("one"), claims(map[string]any{"exp": time.Now().Add(-30 * time.Second).Unix(), "nbf": time.Now().Add(30 * time.Second).Unix()}), rsaKey()),
		"scp":             sign(rs("one"), claims(map[string]any{"scope": nil, "scp": []string{"skills:run"}}), rsaKey()),
	} {
		who, err := i.Principal(t.Context(), text)
		if err != nil || who.Kind != identity.Subject || who.ID != issuerURL+" ann" || who.Name != "ann@example.com" || !who.May(identity.ScopeRun) || who.May(identity.ScopeAdmin) || who.Expires.IsZero() {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	if want := []string{"/.well-known/oauth-authorization-server/team", "/keys"}; !slices.Equal(p.asked, want) {
		t.Errorf("the issuer was asked for %q", p.asked)
	}
}

// Tokens that do not count. To the client all refusals are alike.
func TestBadTokens(t *testing.T) {
	p := newProvider()
	i := p.issuer(nil)
	if _, err := i.Principal(t.Context(), sign(rs("one"), claims(nil), rsaKey())); err != nil {
		t.Fatal(err)
	}
	public := must(x509.MarshalPKIXPublicKey(rsaKey().Public()))
	good := sign(rs("one"), claims(nil), rsaKey())
	parts := strings.Split(good, ".")
	for name, text := range map[string]string{
		"expired":             sign(rs("one"), claims(map[string]any{"exp": time.Now().Add(-2 * time.Minute).Unix()}), rsaKey()),
		"without end":         sign(rs("one"), claims(map[string]any{"exp": nil}), rsaKey()),
		"not yet":             sign(rs("one"), claims(map[string]any{"nbf": time.Now().Add(2 * time.Minute).Unix()}), rsaKey()),
		"another audience":    sign(rs("one"), claims(map[string]any{"aud": "https://other.example.com/mcp"}), rsaKey()),
		"a longer audience":   sign(rs("one"), claims(map[string]any{"aud": serverURL + ".evil.example.com/mcp"}), rsaKey()),
		"another path":        sign(rs("one"), claims(map[string]any{"aud": serverURL + "/mcp-other"}), rsaKey()),
		"no audience":         sign(rs("one"), claims(map[string]any{"aud": nil}), rsaKey()),
		"another issuer":      sign(rs("one"), claims(map[string]any{"iss": "https://login.example.com/other"}), rsaKey()),
		"issuer with a slash": sign(rs("one"), claims(map[string]any{"iss": issuerURL + "/"}), rsaKey()),
		"no subject":          sign(rs("one"), claims(map[string]any{"sub": nil}), rsaKey()),
		"a long subject":      sign(rs("one"), claims(map[string]any{"sub": strings.Repeat("a", 256)}), rsaKey()),
		"another key":         sign(rs("one"), claims(nil), other()),
		"key for encryption":  sign(rs("enc"), claims(nil), other()),
		"key of another alg":  sign(map[string]any{"alg": "PS256", "kid": "one"}, claims(nil), rsaKey()),
		"alg none":            part(map[string]any{"alg": "none"}) + "." + parts[1] + ".",
		"alg None":            part(map[string]any{"alg": "None", "kid": "one"}) + "." + parts[1] + "." + parts[2],
		"HS of the key":       sign(map[string]any{"alg": "HS256", "kid": "one"}, claims(nil), public),
		"HS of the PEM":       sign(map[string]any{"alg": "HS256", "kid": "one"}, claims(nil), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
		"HS of nothing":       sign(map[string]any{"alg": "HS256", "kid": "/dev/null"}, claims(nil), []byte{}),
		"kid is a path":       sign(rs("../../../../etc/passwd"), claims(nil), rsaKey()),
		"kid is a URL":        sign(rs("https://evil.example.com/keys"), claims(nil), other()),
		"kid is SQL":          sign(rs("x' UNION SELECT 'key"), claims(nil), other()),
		"jku":                 sign(map[string]any{"alg": "RS256", "jku": "https://evil.example.com/keys"}, claims(nil), other()),
		"embedded jwk":        sign(map[string]any{"alg": "RS256", "jwk": jose.JSONWebKey{Key: other().Public()}}, claims(nil), other()),
		"crit":                sign(map[string]any{"alg": "RS256", "kid": "one", "crit": []string{"exp"}}, claims(nil), rsaKey()),
		"another type":        sign(map[string]any{"alg": "RS256", "kid": "one", "typ": "logout+jwt"}, claims(nil), rsaKey()),
		"changed claims":      parts[0] + "." + part(claims(map[string]any{"sub": "bob"})) + "." + parts[2],
		"no signature":        parts[0] + "." + parts[1] + ".",
		"padded":              good + "==",
		"JSON":                `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"empty":               "",
		"dots":                "..",
	} {
		who, err := i.Principal(t.Context(), text)
		c := challenged(err)
		if c == nil || c.Status != http.StatusUnauthorized || c.Authenticate != `Bearer error="invalid_token"` || c.Message != identity.Unauthorized("").Message || who.Kind != identity.Anonymous {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	if p.requests() != 2 {
		t.Errorf("the issuer was asked %d times: %q", p.requests(), p.asked)
	}
}

// A hundred thousand guesses make the server ask the issuer once in ten seconds at most,
// and are not remembered.
func TestGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		i := p.issuer(nil)
		body := part(claims(nil)) + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 256))
		for n := range 100_000 {
			if _, err := i.Principal(t.Context(), part(rs(fmt.Sprint("guess", n)))+"."+body); challenged(err) == nil {
				t.Fatal(err)
			}
		}
		if p.requests() != 2 || len(i.verified) != 0 {
			t.Errorf("%d requests, %d tokens are remembered", p.requests(), len(i.verified))
		}
		for n := range maxVerified + 10 {
			if _, err := i.Principal(t.Context(), sign(map[string]any{"alg": "ES256", "kid": "two"}, claims(map[string]any{"jti": n}), ecKey())); err != nil {
				t.Fatal(err)
			}
		}
		if len(i.verified) > maxVerified {
			t.Errorf("%d tokens are remembered", len(i.verified))
		}
	})
}

// A new key is found within ten seconds, one that is withdrawn counts no more, and known
// ones go on counting while the issuer is away.
func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		i := p.issuer(nil)
		ask := func(text string) error {
			_, err := i.Principal(t.Context(), text)
			return err
		}
		first := sign(rs("one"), claims(nil), rsaKey())
		p.set(func() { p.away = true })
		if err := ask(first); !errors.Is(err, ErrAway) || challenged(err) != nil {
			t.Errorf("while the issuer is away: %v", err)
		}
		p.set(func() { p.away = false })
		if err := ask(first); !errors.Is(err, ErrAway) || p.requests() != 3 {
			t.Errorf("just after: %v, %q", err, p.asked)
		}
		time.Sleep(refetchTime)
		if err := ask(first); err != nil {
			t.Fatal(err)
		}
		p.set(func() { p.keys = []jose.JSONWebKey{{Key: other().Public(), KeyID: "three"}} })
		third := sign(rs("three"), claims(nil), other())
		if err := ask(third); challenged(err) == nil {
			t.Errorf("the new key, at once: %v", err)
		}
		time.Sleep(refetchTime)
		if err := ask(third); err != nil {
			t.Errorf("the new key: %v", err)
		}
		time.Sleep(verifiedAge)
		if err := ask(first); challenged(err) == nil {
			t.Errorf("the withdrawn key: %v", err)
		}
		p.set(func() { p.away = true })
		time.Sleep(keysAge)
		for range 2 {
			if err := ask(third); err != nil {
				t.Errorf("a known key, while the issuer is away: %v", err)
			}
			time.Sleep(verifiedAge)
		}
		if err := ask(first); !errors.Is(err, ErrAway) {
			t.Errorf("an unknown key, while the issuer is away: %v", err)
		}
	})
}

// A key that was withdrawn while nobody asked counts no more, not even once.
func TestWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider()
		i := p.issuer(nil)
		if _, err := i.Principal(t.Context(), sign(rs("one"), claims(nil), rsaKey())); err != nil {
			t.Fatal(err)
		}
		p.set(func() { p.keys = p.keys[1:] })
		time.Sleep(12 * time.Hour)
		left, leave := context.WithCancel(t.Context())
		leave()
		for name, ctx := range map[string]context.Context{"waits": t.Context(), "has left": left} {
			if _, err := i.Principal(ctx, sign(rs("one"), claims(map[string]any{"sub": "eve"}), rsaKey())); err == nil {
				t.Errorf("a client that %s has a token", name)
			}
		}
	})
}

// The metadata is that of the issuer: not of one whose path is confused with it, too long,
// or at an address that is not of the issuer's scheme.
func TestDiscovery(t *testing.T) {
	good := fmt.Sprintf(`{"issuer":%q,"jwks_uri":"https://login.example.com/keys"}`, issuerURL)
	const oauth, openid, appended = "/.well-known/oauth-authorization-server/team", "/.well-known/openid-configuration/team", "/team/.well-known/openid-configuration"
	evil := `{"issuer":"https://login.example.com/evil","jwks_uri":"https://login.example.com/keys"}`
	for name, test := range map[string]struct {
		documents map[string]string
		ok        bool
	}{
		"RFC 8414":            {map[string]string{oauth: good}, true},
		"OpenID, inserted":    {map[string]string{openid: good}, true},
		"OpenID, appended":    {map[string]string{appended: good}, true},
		"another's, then own": {map[string]string{oauth: evil, appended: good}, true},
		"of the root":         {map[string]string{"/.well-known/oauth-authorization-server": good, "/.well-known/openid-configuration": good}, false},
		"another's":           {map[string]string{oauth: evil}, false},
		"with a slash":        {map[string]string{oauth: strings.Replace(good, `team"`, `team/"`, 1)}, false},
		"of the root issuer":  {map[string]string{oauth: strings.Replace(good, `/team"`, `"`, 1)}, false},
		"keys over http":      {map[string]string{oauth: strings.Replace(good, "https://login.example.com/keys", "http://login.example.com/keys", 1)}, false},
		"keys in a file":      {map[string]string{oauth: strings.Replace(good, "https://login.example.com/keys", "file:///keys", 1)}, false},
		"too long":            {map[string]string{oauth: good + strings.Repeat(" ", maxDocument)}, false},
		"no JSON":             {map[string]string{oauth: "<html>"}, false},
		"none":                {map[string]string{}, false},
	} {
		p := newProvider()
		p.documents = test.documents
		_, err := p.issuer(nil).Principal(t.Context(), sign(rs("one"), claims(nil), rsaKey()))
		if (err == nil) != test.ok || err != nil && !errors.Is(err, ErrAway) {
			t.Errorf("%s: %v, asked for %q", name, err, p.asked)
		}
	}
}

// Two subjects have the profiles and scopes that their claims give.
func TestClaims(t *testing.T) {
	p := newProvider()
	for name, test := range map[string]struct {
		change   func(*Options)
		claims   map[string]any
		profiles []string // nil with status is a refusal
		scopes   []identity.Scope
		status   int
	}{
		"none":            {nil, nil, nil, []identity.Scope{identity.ScopeRun}, 0},
		"a group":         {groups, map[string]any{"groups": "devs"}, []string{"dev"}, []identity.Scope{identity.ScopeRun}, 0},
		"groups":          {groups, map[string]any{"groups": []string{"x", "the ops", "devs", "the ops"}}, []string{"ops", "dev"}, []identity.Scope{identity.ScopeRun}, 0},
		"no group":        {groups, map[string]any{"groups": []string{"x", "dev"}}, nil, nil, 403},
		"default":         {func(o *Options) { groups(o); o.DefaultProfile = "guest" }, map[string]any{"groups": []any{1}}, []string{"guest"}, []identity.Scope{identity.ScopeRun}, 0},
		"no scope":        {nil, map[string]any{"scope": "openid"}, nil, []identity.Scope{}, 0},
		"default scopes":  {func(o *Options) { o.DefaultScopes = []identity.Scope{identity.ScopeRead} }, map[string]any{"scope": "openid"}, nil, []identity.Scope{identity.ScopeRead}, 0},
		"own names":       {named, map[string]any{"scope": "use skills:admin"}, nil, []identity.Scope{identity.ScopeRun}, 0},
		"Entra's names":   {named, map[string]any{"scope": nil, "scp": "Manage"}, nil, []identity.Scope{identity.ScopeAdmin}, 0},
		"another's names": {named, map[string]any{"scope": "Use api://other/Manage"}, nil, []identity.Scope{}, 0},
	} {
		who, err := p.issuer(test.change).Principal(t.Context(), sign(rs("one"), claims(test.claims), rsaKey()))
		if c := challenged(err); test.status != 0 && (c == nil || c.Status != test.status) || test.status == 0 && err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if test.status == 0 && (!slices.Equal(who.Profiles, test.profiles) || !slices.Equal(who.Scopes, test.scopes) || who.Scopes == nil || len(test.profiles) > 0 && who.Profile != test.profiles[0]) {
			t.Errorf("%s: %+v", name, who)
		}
	}
}

func groups(o *Options) {
	o.ProfileClaim, o.Profiles = "groups", map[string]string{"devs": "dev", "the ops": "ops"}
}

func named(o *Options) {
	o.Scopes = map[string]identity.Scope{"use": identity.ScopeRun, "api://id/Manage": identity.ScopeAdmin}
}

// An audience that is configured is the only one.
func TestAudience(t *testing.T) {
	i := newProvider().issuer(func(o *Options) { o.Audience = []string{"api://skills", "skills"} })
	for audience, ok := range map[string]bool{"skills": true, "api://skills": true, serverURL + "/mcp": false, "skills2": false} {
		if _, err := i.Principal(t.Context(), sign(rs("one"), claims(map[string]any{"aud": audience}), rsaKey())); (err == nil) != ok {
			t.Errorf("%s: %v", audience, err)
		}
	}
}

// A client that leaves does not end the fetch that others wait for.
func TestClientLeaves(t *testing.T) {
	p := newProvider()
	i := p.issuer(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		_, _ = i.Principal(ctx, sign(rs("none"), claims(nil), rsaKey()))
	}
	if _, err := i.Principal(t.Context(), sign(rs("one"), claims(nil), rsaKey())); err != nil {
		t.Error(err)
	}
}

// The cost of a request with a token that was seen before.
func BenchmarkPrincipal(b *testing.B) {
	i := newProvider().issuer(nil)
	text := sign(rs("one"), claims(nil), rsaKey())
	for b.Loop() {
		if _, err := i.Principal(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}

// No text in place of a token is a panic, or a subject.
func FuzzPrincipal(f *testing.F) {
	good := sign(rs("one"), claims(nil), rsaKey())
	for _, text := range []string{good, "", "eyJ..", `{"payload":""}`, "eyJhbGciOiJub25lIn0.e30.", strings.Repeat(".", 100)} {
		f.Add(text)
	}
	i := newProvider().issuer(nil)
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header["Authorization"] = []string{"Bearer " + text}
		sent, err := identity.BearerToken(r)
		if err != nil {
			return
		}
		if _, err := i.Principal(t.Context(), sent); err == nil && sent != good {
			t.Errorf("%q is a token", text)
		}
	})
}
