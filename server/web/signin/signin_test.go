package signin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A browser keeps the cookies of one server.
type browser struct {
	t       *testing.T
	handler http.Handler
	cookies map[string]*http.Cookie
}

// newBrowser returns a browser without cookies. The guarded handler answers with the
// principal's key.
func newBrowser(t *testing.T, s *Sessions) *browser {
	return &browser{t, s.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "served to "+string(identity.FromContext(r.Context()).Key()))
	})), map[string]*http.Cookie{}}
}

// do sends a request with headers in pairs.
func (b *browser) do(method, target string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1:8765"+target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if b.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return w
}

func (b *browser) get(target string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.do("GET", target, nil, headers...)
}

// served reports whether the page is served to the principal of a key.
func (b *browser) served(key string) bool {
	b.t.Helper()
	return b.get(Path).Body.String() == "served to "+key
}

// A link signs in once, as a person of the server's profile.
func TestLink(t *testing.T) {
	s := New(Options{Profile: "work"})
	b, thief := newBrowser(t, s), newBrowser(t, s)
	link := s.Link()
	w := b.get(link)
	if w.Code != 303 || w.Header().Get("Location") != Path || !b.served("person//work") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	c := w.Result().Cookies()[0]
	if c.Name != "skills-mcp-8765" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure || len(c.Value) < 26 {
		t.Errorf("the cookie is %v", c)
	}
	if w := thief.get(link); w.Code != 401 || !strings.Contains(w.Body.String(), staleLink) || len(thief.cookies) > 0 {
		t.Errorf("again: %d %s", w.Code, w.Body)
	}
	if w := thief.get(Path); w.Code != 401 || !strings.Contains(w.Body.String(), "skills-mcp ui") || strings.Contains(w.Body.String(), "token") {
		t.Errorf("without a session: %d %s", w.Code, w.Body)
	}
	if link == s.Link() {
		t.Error("two links are one")
	}
}

// Over TLS the cookie never goes over a plain connection.
func TestSecureCookie(t *testing.T) {
	s := New(Options{})
	w := httptest.NewRecorder()
	s.Guard(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("GET", "https://a.example.com"+s.Link(), nil))
	if c := w.Result().Cookies(); len(c) != 1 || !c[0].Secure || c[0].Name != "__Host-skills-mcp" {
		t.Errorf("the cookies are %v", c)
	}
}

// Neither a browser that fetches ahead nor a preview uses a link up.
func TestLinkSurvives(t *testing.T) {
	s := New(Options{})
	b := newBrowser(t, s)
	link := s.Link()
	for _, w := range []*httptest.ResponseRecorder{
		b.do("HEAD", link, nil), b.get(link, "Sec-Purpose", "prefetch;prerender"), b.get(link, "Purpose", "prefetch"), b.do("PUT", link, nil),
	} {
		if len(w.Result().Cookies()) > 0 || w.Code == 303 {
			t.Fatalf("signed in: %d", w.Code)
		}
	}
	if b.get(link); !b.served("person") {
		t.Error("the link does not work any more")
	}
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		late, b := newBrowser(t, s), newBrowser(t, s)
		first, second := s.Link(), s.Link()
		time.Sleep(linkLife - time.Second)
		b.get(first)
		time.Sleep(time.Second)
		if w := late.get(second); w.Code != 401 {
			t.Errorf("a link of ten minutes ago: %d", w.Code)
		}
		for range 3 { // use keeps a session
			if time.Sleep(idleLife - 2*time.Second); !b.served("person") {
				t.Fatal("the session ended early")
			}
		}
		if time.Sleep(idleLife); b.served("person") {
			t.Error("the session did not end")
		}
	})
}

// An attacker who has put a cookie of their own into a browser gets no part of the session
// that begins there; and who signs out is out.
func TestFixation(t *testing.T) {
	s := New(Options{})
	attacker, b := newBrowser(t, s), newBrowser(t, s)
	attacker.get(s.Link())
	planted := *attacker.cookies["skills-mcp-8765"]
	b.cookies[planted.Name] = &planted
	b.get(s.Link())
	if b.cookies[planted.Name].Value == planted.Value || !b.served("person") {
		t.Error("the planted session went on")
	}
	if attacker.served("person") {
		t.Error("the attacker's session lives")
	}
	stolen := newBrowser(t, s)
	stolen.cookies[planted.Name] = b.cookies[planted.Name]
	if w := b.do("POST", signoutPath, url.Values{}); w.Code != 303 || len(b.cookies) > 0 {
		t.Errorf("signing out: %d", w.Code)
	}
	if stolen.served("person") {
		t.Error("the session outlives the sign-out")
	}
	if w := stolen.get(signoutPath); w.Code != 401 {
		t.Errorf("a link to the sign-out: %d", w.Code)
	}
}

// A link of another site leads on by itself: the browser keeps the cookie from its request.
func TestCrossSite(t *testing.T) {
	s := New(Options{})
	b := newBrowser(t, s)
	b.get(s.Link())
	const target = Path + "approvals/a?b=%22c"
	navigation := []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	cookies := b.cookies
	b.cookies = nil // as a browser does for SameSite=Strict
	w := b.get(target, append(navigation, "Sec-Fetch-Site", "cross-site")...)
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, `<meta http-equiv="refresh" content="0; url=/ui/approvals/a?b=%22c">`) || strings.Contains(body, "Sign in") {
		t.Errorf("%d %s", w.Code, body)
	}
	if w := b.get(target, append(navigation, "Sec-Fetch-Site", "same-origin")...); w.Code != 401 {
		t.Errorf("without a session it goes round: %d", w.Code)
	}
	b.cookies = cookies
	for name, headers := range map[string][]string{
		"a form of another site":    {"Sec-Fetch-Site", "cross-site"},
		"a form of another port":    {"Sec-Fetch-Site", "same-site"},
		"an old browser's":          {"Origin", "http://127.0.0.1:3000"},
		"a page without an address": {"Origin", "null"},
	} {
		if w := b.do("POST", Path, url.Values{}, headers...); w.Code != 403 || w.Header().Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	for site, want := range map[string]bool{"same-site": false, "cross-site": false, "same-origin": true, "none": true} {
		if got := b.get(Path, "Sec-Fetch-Site", site, "Sec-Fetch-Mode", "no-cors").Code == 200; got != want {
			t.Errorf("an image of %s is served: %v", site, got)
		}
	}
	if w := b.get(Path, append(navigation, "Sec-Fetch-Site", "same-site")...); w.Code != 200 {
		t.Errorf("a link of another port: %d", w.Code)
	}
}

// Every answer has the headers that protect the page, and none is kept.
func TestHeaders(t *testing.T) {
	s := New(Options{Tokens: tokens})
	b := newBrowser(t, s)
	link := s.Link()
	for _, w := range []*httptest.ResponseRecorder{
		b.get(Path), b.get(signinPath), b.get(link), b.get(Path), b.get(Path + "static/page.css"), b.do("PUT", signinPath, nil), b.do("POST", Path, nil, "Sec-Fetch-Site", "cross-site"), b.do("POST", signoutPath, url.Values{}),
	} {
		h := w.Header()
		if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self';") || strings.Contains(csp, "unsafe") ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" || h.Get("Cross-Origin-Opener-Policy") != "same-origin" || h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%d has %v", w.Code, h)
		}
	}
}

// tokens accepts one token.
func tokens(r *http.Request) (identity.Principal, error) {
	if r.Header.Get("Authorization") != "Bearer s3cret" {
		return identity.Principal{}, errors.New("wrong")
	}
	return identity.Principal{Kind: identity.Token, Profile: "ci"}, nil
}

// A token signs its own principal in, who is no person, and only so often is one tried.
func TestToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Tokens: tokens, Profile: "work"})
		b := newBrowser(t, s)
		if w := b.get(Path + "runs?q=1"); !strings.Contains(w.Body.String(), `name="next" value="/ui/runs?q=1"`) {
			t.Errorf("the screen does not know the way back: %s", w.Body)
		}
		w := b.do("POST", signinPath, url.Values{"token": {" s3cret\n"}, "next": {"/ui/runs?q=1"}})
		if w.Code != 303 || w.Header().Get("Location") != "/ui/runs?q=1" || !b.served("token//ci") {
			t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
		}
		other := newBrowser(t, s)
		if w := other.get(Path, "Authorization", "Bearer s3cret"); w.Body.String() != "served to token//ci" {
			t.Errorf("a request with the token: %s", w.Body)
		}
		if w := other.get(Path, "Authorization", "Bearer other"); w.Code != 401 {
			t.Errorf("a request with another: %d", w.Code)
		}
		for range maxFailures {
			if w := other.do("POST", signinPath, url.Values{"token": {"guess"}}); w.Code != 401 || !strings.Contains(w.Body.String(), wrongToken) {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		if w := other.do("POST", signinPath, url.Values{"token": {"s3cret"}}); w.Code != 429 || len(other.cookies) > 0 {
			t.Errorf("after many guesses: %d", w.Code)
		}
		time.Sleep(time.Minute)
		if w := other.do("POST", signinPath, url.Values{"token": {"s3cret"}}); w.Code != 303 {
			t.Errorf("a minute later: %d", w.Code)
		}
	})
}

// Nobody is led off the page.
func TestNext(t *testing.T) {
	for next, want := range map[string]string{
		"/ui/runs/a%2Fb?x=1": "/ui/runs/a%2Fb?x=1", "": Path, "/": Path, "https://evil.example.com/ui/": Path, "//evil.example.com/ui/": Path,
		`/\evil.example.com`: Path, `/ui/\..\x`: Path, "/ui/signin?key=x": Path, "/v1/skills": Path, "javascript:alert(1)": Path, "/ui/%zz": Path,
	} {
		if got := local(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// With a passphrase a link alone is not enough, and allows few attempts.
func TestPassphrase(t *testing.T) {
	s := New(Options{Passphrase: func(text string) bool { return text == "correct horse" }})
	b := newBrowser(t, s)
	proof := func() string {
		t.Helper()
		_, rest, _ := strings.Cut(b.get(s.Link()).Body.String(), `name="proof" value="`)
		text, _, found := strings.Cut(rest, `"`)
		if !found || len(b.cookies) > 0 {
			t.Fatal("no question, or signed in already")
		}
		return text
	}
	first := proof()
	for i := range maxAttempts {
		w := b.do("POST", signinPath, url.Values{"proof": {first}, "passphrase": {"wrong"}})
		if w.Code != 401 || !strings.Contains(w.Body.String(), wrongPhrase) {
			t.Fatalf("attempt %d: %d %s", i, w.Code, w.Body)
		}
	}
	if w := b.do("POST", signinPath, url.Values{"proof": {first}, "passphrase": {"correct horse"}}); w.Code != 401 || !strings.Contains(w.Body.String(), staleLink) {
		t.Errorf("one attempt too many: %d", w.Code)
	}
	second := proof()
	b.do("POST", signinPath, url.Values{"proof": {second}, "passphrase": {"correct horse"}})
	if !b.served("person") {
		t.Error("not signed in")
	}
	if w := newBrowser(t, s).do("POST", signinPath, url.Values{"proof": {second}, "passphrase": {"correct horse"}}); w.Code != 401 {
		t.Errorf("again: %d", w.Code)
	}
}

// However many links and sessions there are, the oldest go first.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		first := newBrowser(t, s)
		first.get(s.Link())
		for range maxSessions - 1 {
			time.Sleep(time.Second)
			newBrowser(t, s).get(s.Link())
		}
		if !first.served("person") { // which makes it the newest
			t.Fatal("ended early")
		}
		link := s.Link()
		for range maxLinks {
			time.Sleep(time.Second)
			s.Link()
		}
		if w := newBrowser(t, s).get(link); w.Code != 401 {
			t.Errorf("the oldest of many links: %d", w.Code)
		}
		newBrowser(t, s).get(s.Link())
		if len(s.sessions.held) != maxSessions || len(s.links.held) > maxLinks || !first.served("person") {
			t.Errorf("%d sessions, %d links", len(s.sessions.held), len(s.links.held))
		}
	})
}

// However often the holder of a token signs in, the person's session goes on.
func TestGuestsEndNoPerson(t *testing.T) {
	s := New(Options{Tokens: tokens})
	b := newBrowser(t, s)
	b.get(s.Link())
	for range maxSessions + 1 {
		newBrowser(t, s).do("POST", signinPath, url.Values{"token": {"s3cret"}})
	}
	if !b.served("person") {
		t.Error("the person is signed out")
	}
	if len(s.sessions.held) != maxSessions+1 {
		t.Errorf("%d sessions", len(s.sessions.held))
	}
}

// Whether a reader is on this machine is of each request, not of the sign-in.
func TestRemote(t *testing.T) {
	s := New(Options{})
	b, remote := newBrowser(t, s), false
	b.get(s.Link())
	guarded := s.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { remote = identity.FromContext(r.Context()).Remote }))
	for _, want := range []bool{true, false} {
		b.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			guarded.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), identity.Principal{Remote: want})))
		})
		if b.get(Path); remote != want {
			t.Errorf("remote: %t, want %t", remote, want)
		}
	}
}

// A request that goes on, such as a stream of events, ends when its session does.
func TestSignOutEndsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		b := newBrowser(t, s)
		b.get(s.Link())
		var ended error
		stream := newBrowser(t, s)
		stream.cookies = b.cookies
		stream.handler = s.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			ended = r.Context().Err()
		}))
		done := make(chan struct{})
		go func() {
			defer close(done)
			stream.get(Path + "events")
		}()
		synctest.Wait()
		if ended != nil {
			t.Fatal(ended)
		}
		b.do("POST", signoutPath, url.Values{})
		<-done
		if b.served("person") || ended == nil {
			t.Error("the session goes on")
		}
	})
}

// A link of a token signs its person in once, after a click: a program that shows a preview of
// it uses nothing up. The session ends with the token, and with the token's time.
func TestTokenLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unused, alive, unread := map[string]bool{"first": true, "second": true, "third": true}, true, error(nil)
		s := New(Options{
			Links: func(_ context.Context, text string) (p identity.Principal, ok bool) {
				ok = unused[text]
				delete(unused, text)
				if text == "third" {
					p.Expires = time.Now().Add(time.Hour)
				}
				p.Kind, p.ID = identity.Token, "ann"
				return p, ok
			},
			Watch: func(_ context.Context, name string) func(context.Context) (bool, error) {
				return func(context.Context) (bool, error) { return name == "ann" && alive && unread == nil, unread }
			},
		})
		b := newBrowser(t, s)
		if w := b.get(signinPath + "?key=first"); w.Code != 200 || len(b.cookies) > 0 || !unused["first"] || !strings.Contains(w.Body.String(), `name="link" value="first"`) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		use := func(b *browser, text string, headers ...string) int {
			return b.do("POST", signinPath, url.Values{"link": {text}}, headers...).Code
		}
		if code := use(b, "first", "Sec-Fetch-Site", "cross-site"); code != 403 || !unused["first"] {
			t.Errorf("a form of another site: %d", code)
		}
		if code := use(b, "first"); code != 303 || !b.served("token/ann") {
			t.Errorf("the link: %d", code)
		}
		thief := newBrowser(t, s)
		if code := use(thief, "first"); code != 401 || len(thief.cookies) > 0 {
			t.Errorf("again: %d", code)
		}
		if unread = errors.New("the store is busy"); b.served("token/ann") {
			t.Error("served without a look at the token")
		}
		if unread = nil; !b.served("token/ann") {
			t.Error("an error has ended the session")
		}
		alive = false
		if b.served("token/ann") {
			t.Error("the session outlives its token")
		}
		alive = true // another token of the name
		if b.served("token/ann") {
			t.Error("the session came back")
		}
		use(b, "third")
		if time.Sleep(time.Hour - time.Second); !b.served("token/ann") {
			t.Error("the session ended early")
		}
		if time.Sleep(time.Second); b.served("token/ann") {
			t.Error("the session outlives the token's time")
		}
		person, link := newBrowser(t, s), s.Link()
		person.get(link)
		for range maxSessions + 1 {
			unused["second"] = true
			use(newBrowser(t, s), "second")
		}
		if !person.served("person") || len(s.sessions.held) != maxSessions+1 {
			t.Errorf("%d sessions", len(s.sessions.held))
		}
	})
}
