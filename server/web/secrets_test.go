package web

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/secrets"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/web/signin"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

const firstValue, secondValue = "ghp_0123456789abcdefghij", "weather-9876543210"

// A market is a directory with skills that ask for secrets.
type market struct {
	*library
	plan func(*skills.Skill) *describe.Plan
}

func (m *market) View(ctx context.Context) (*describe.View, error) {
	v, err := m.library.View(ctx)
	v.Plan = func(_ context.Context, s *skills.Skill) *describe.Plan { return m.plan(s) }
	return v, err
}

func (m *market) Find(_ context.Context, name string) (*skills.Skill, error) {
	return m.catalog.Lookup(name)
}

// A secretBench is a page whose secrets and rules are real.
type secretBench struct {
	t     *testing.T
	page  *Page
	dir   string
	kept  *secrets.Store
	book  *policy.Book
	issue *skills.Skill
	log   bytes.Buffer
	seen  bytes.Buffer // all answers
}

func newSecretBench(t *testing.T) *secretBench {
	t.Helper()
	b := &secretBench{t: t, dir: t.TempDir()}
	skill := func(name, secret string) *skills.Skill {
		return &skills.Skill{
			Name: name, Dir: "/s/" + name, File: "/s/" + name + "/SKILL.md", Source: skills.SourceUser, Class: skills.Safe, Description: "Does it.", ModelInvocable: true, UserInvocable: true,
			Secrets: []string{secret}, Entry: &skills.Entry{Script: "run.sh"}, Files: fstest.MapFS{"SKILL.md": {Data: []byte("# " + name)}, "run.sh": {}},
		}
	}
	state := store.New(filepath.Join(b.dir, "skills-mcp.db"), nil)
	t.Cleanup(func() {
		if err := state.Close(); err != nil {
			t.Error(err)
		}
	})
	key := seal.New(filepath.Join(b.dir, "key"), nil)
	b.kept, b.book, b.issue = secrets.New(filepath.Join(b.dir, "secrets"), nil), policy.NewBook(state, key, nil), skill("issues", "GITHUB_TOKEN")
	options := &policy.Options{Book: b.book}
	accepted := pins.New(state, key, func(ctx context.Context, skill *skills.Skill, _ string) (digest, folder string, err error) {
		taken, err := snapshot.New(filepath.Join(b.dir, "snapshots")).Take(ctx, skill.Files, snapshot.Use{})
		if err != nil {
			return "", "", err
		}
		return taken.Digest, taken.Dir, nil
	}, nil)
	m := &market{&library{newDirectory(), &skills.Catalog{Skills: []*skills.Skill{b.issue, skill("weather", "KEY")}}, nil}, func(s *skills.Skill) *describe.Plan {
		plan := &describe.Plan{}
		if r := b.book.Of(t.Context(), s); r != nil {
			plan.Secrets = (&run.Decision{Secrets: r.Secrets}).SecretLines()
		}
		return plan
	}}
	running := jobs.New(m.Run, nil)
	t.Cleanup(running.Close)
	logger := slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.page = New(Options{Logger: logger, Service: api.New(api.Options{
		Directory: m, Jobs: running, Rules: &rules{}, Runs: store.NewRuns(state), Approvals: approval.New(state, nil),
		Profiles: &manage.Profiles{ProfileOptions: manage.ProfileOptions{Rules: options, Resolve: func(*policy.Profile) error { return nil }, Decider: func() *policy.Policy { return policy.New(options) }}},
		Secrets: &manage.Secrets{SecretOptions: manage.SecretOptions{
			Store: b.kept, Rules: options, Pins: func() (*pins.Pins, error) { return accepted, nil },
			Configured: func(r *policy.Rule) string {
				return map[bool]string{true: "a key of the configuration says so"}[r.Pattern == "weather" && r.Secrets[0].Name == "SET"]
			},
		}},
	})})
	t.Cleanup(func() { b.page.Close() })
	return b
}

// as answers a request of a principal; a form is sent with POST.
func (b *secretBench) as(who identity.Principal, path string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest("GET", Path+path, nil)
	if form != nil {
		r = httptest.NewRequest("POST", Path+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	b.page.Handler().ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), who)))
	b.seen.WriteString(w.Header().Get("Location"))
	b.seen.Write(w.Body.Bytes())
	return w
}

var person = identity.Principal{Kind: identity.Person}

// shows fails the test unless the list has, and lacks, texts.
func (b *secretBench) shows(who identity.Principal, has []string, lacks ...string) {
	b.t.Helper()
	w := b.as(who, "secrets", nil)
	text := strings.Join(strings.Fields(w.Body.String()), " ")
	for _, one := range append(has, lacks...) {
		if strings.Contains(text, one) != slices.Contains(has, one) || w.Code != 200 {
			b.t.Errorf("%d: %q is wrong in %s", w.Code, one, text)
		}
	}
}

// confirm sends the form of the screen that asks.
func (b *secretBench) confirm(path string) *httptest.ResponseRecorder {
	b.t.Helper()
	w := b.as(person, path, nil)
	doc, err := html.Parse(w.Body)
	if err != nil || w.Code != 200 {
		b.t.Fatalf("%s: %d, %v", path, w.Code, err)
	}
	fields, action := url.Values{}, ""
	for n := range doc.Descendants() {
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
		}
		if n.Data == "form" && strings.HasPrefix(attributes["action"], Path+"secrets/") {
			action = attributes["action"]
		}
		if n.Data == "input" && attributes["type"] == "hidden" {
			fields.Add(attributes["name"], attributes["value"])
		}
	}
	return b.as(person, strings.TrimPrefix(action, Path), fields)
}

// Two secrets are kept, granted to two skills, revoked and removed. No answer, header, log or
// file has a value.
func TestSecretsOnThePage(t *testing.T) {
	b := newSecretBench(t)
	b.shows(person, []string{"issues</bdi></a> asks for <bdi class=\"mono\">GITHUB_TOKEN", "/ui/secrets/grant?name=KEY&amp;skill=weather", "There are none yet"}, "value kept")
	for name, value := range map[string]string{"GITHUB_TOKEN": firstValue, "KEY": secondValue} {
		if w := b.as(person, "secrets/set", url.Values{"name": {name}, "value": {value}}); w.Code != 303 || w.Header().Get("Location") != Path+"secrets" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if got, err := b.kept.Value(t.Context(), "", name, true); got != value {
			t.Fatalf("%s is %q, %v", name, got, err)
		}
	}
	if err := b.kept.SetCommand("", "BY_COMMAND", "printf x"); err != nil {
		t.Fatal(err)
	}
	b.shows(person, []string{"GITHUB_TOKEN", "value kept", "no skill", "command: printf x", "asks for"})
	masked := "secrets/grant?skill=issues&name=GITHUB_TOKEN&hosts=api.github.com+uploads.github.com&methods=get&paths=%2Frepos%2F**&in=header&in=body&header=&as=TOKEN"
	if text := b.as(person, masked, nil).Body.String(); !strings.Contains(text, "uses your secret GITHUB_TOKEN, masked: to api.github.com:443 or uploads.github.com:443, GET, /repos/**, in header and body, for what the skill has in the variable TOKEN") || !strings.Contains(text, "from own:/s/issues, of the class safe") || strings.Contains(text, "weaker") {
		t.Error(text)
	}
	if b.book.Rules(t.Context()) != nil {
		t.Fatal("a look grants something")
	}
	if w := b.confirm(masked); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	plain := "secrets/grant?skill=weather&name=KEY&hosts=&plain=true&file=~%2Fkey&extract=key+(.%2B)"
	if text := b.as(person, plain, nil).Body.String(); !strings.Contains(text, "Plain is the weaker way") {
		t.Error(text)
	}
	if w := b.confirm(plain); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	digest, _ := snapshot.Digest(t.Context(), b.issue.Files)
	if r := b.book.Of(t.Context(), b.issue); r == nil || r.Digest != digest || r.Origin != "own:/s/issues" || len(r.Secrets) != 1 || r.Secrets[0].As != "TOKEN" {
		t.Errorf("%+v", r)
	}
	b.shows(person, []string{"masked: to api.github.com:443 or", "plain, the weaker way", "in the file ~/key, by the group of `key (.&#43;)`", `aria-label="Revoke GITHUB_TOKEN of issues"`}, "asks for")
	if w := b.as(person, "skills/issues", nil); !strings.Contains(w.Body.String(), "GITHUB_TOKEN, masked: to") || !strings.Contains(w.Body.String(), `href="/ui/secrets"`) {
		t.Errorf("the screen of the skill: %s", w.Body)
	}
	for _, skill := range [][2]string{{"issues", "GITHUB_TOKEN"}, {"weather", "KEY"}} {
		if w := b.as(person, "secrets/revoke", url.Values{"skill": {skill[0]}, "name": {skill[1]}}); w.Code != 303 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w := b.as(person, "secrets/revoke", url.Values{"skill": {skill[0]}, "name": {skill[1]}}); w.Code != 404 {
			t.Errorf("again: %d", w.Code)
		}
	}
	if w := b.as(person, "skills/issues", nil); !strings.Contains(w.Body.String(), "It asks for <code>GITHUB_TOKEN") || !strings.Contains(w.Body.String(), "secrets/grant?name=GITHUB_TOKEN&amp;skill=issues") {
		t.Errorf("the screen of the skill: %s", w.Body)
	}
	for _, name := range []string{"GITHUB_TOKEN", "KEY", "BY_COMMAND"} {
		if w := b.confirm("secrets/remove?name=" + name); w.Code != 303 || b.kept.Has("", name) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w := b.as(person, "secrets/remove?name="+name, nil); w.Code != 404 {
			t.Errorf("again: %d", w.Code)
		}
	}
	b.shows(person, []string{"There are none yet", "asks for"})
	b.leaksNothing()
}

// leaksNothing fails the test if a value is anywhere but in the request that set it.
func (b *secretBench) leaksNothing() {
	b.t.Helper()
	places := map[string][]byte{"an answer": b.seen.Bytes(), "the log": b.log.Bytes()}
	_ = filepath.WalkDir(b.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			places[name], _ = os.ReadFile(name)
		}
		return nil
	})
	for place, text := range places {
		for _, value := range []string{firstValue, secondValue} {
			if bytes.Contains(text, []byte(value)) {
				b.t.Errorf("%s has %s", place, value)
			}
		}
	}
}

// Each subject of an issuer has secrets of its own, and decides nothing. Other principals
// have none: they may be models.
func TestSecretsOfOthers(t *testing.T) {
	b := newSecretBench(t)
	scopes := []identity.Scope{identity.ScopeRun, identity.ScopeApprove}
	ann, bob := identity.Principal{Kind: identity.Subject, ID: "issuer|ann", Scopes: scopes}, identity.Principal{Kind: identity.Subject, ID: "issuer|bob", Scopes: scopes}
	set := func(who identity.Principal, name, value string) int {
		return b.as(who, "secrets/set", url.Values{"name": {name}, "value": {value}}).Code
	}
	if set(person, "GITHUB_TOKEN", firstValue) != 303 || set(ann, "GITHUB_TOKEN", secondValue) != 303 || set(ann, "ANNS", secondValue) != 303 {
		t.Fatal("a value is not kept")
	}
	if w := b.confirm("secrets/grant?skill=issues&name=GITHUB_TOKEN&hosts=a.example.com"); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	b.shows(person, []string{"GITHUB_TOKEN", "a.example.com"}, "ANNS")
	b.shows(ann, []string{"GITHUB_TOKEN", "ANNS", "value kept"}, "a.example.com", "asks for", "Revoke", "secrets/grant")
	b.shows(bob, []string{"no value"}, "ANNS", "value kept", "secrets/remove")
	for _, name := range []string{"GITHUB_TOKEN", "ANNS"} {
		if w := b.as(bob, "secrets/remove", url.Values{"name": {name}, "owner": {"oidc/issuer|ann"}}); w.Code != 404 {
			t.Errorf("bob removes %s: %d", name, w.Code)
		}
	}
	if set(bob, "GITHUB_TOKEN", "bobs-own-value") != 303 {
		t.Error("bob has no value of his own")
	}
	for owner, want := range map[string]string{"": firstValue, "oidc/issuer|ann": secondValue, "oidc/issuer|bob": "bobs-own-value"} {
		if got, err := b.kept.Value(t.Context(), owner, "GITHUB_TOKEN", true); got != want {
			t.Errorf("%q has %q, %v", owner, got, err)
		}
	}
	grant := url.Values{"skill": {"issues"}, "name": {"GITHUB_TOKEN"}, "hosts": {"evil.example"}, "digest": {b.book.Of(t.Context(), b.issue).Digest}}
	for _, who := range []identity.Principal{ann, {}, {Kind: identity.Token}, {Kind: identity.Model}, {Kind: identity.Token, ID: "ci", Scopes: scopes[:1]}} {
		for path, form := range map[string]url.Values{"secrets/grant?skill=issues&name=GITHUB_TOKEN&hosts=a.example.com": nil, "secrets/grant": grant, "secrets/revoke": grant} {
			if w := b.as(who, path, form); w.Code != 403 {
				t.Errorf("%s as %q: %d", path, who.Kind, w.Code)
			}
		}
		if who.Kind == identity.Subject {
			continue
		}
		for path, form := range map[string]url.Values{"secrets": nil, "secrets/remove?name=GITHUB_TOKEN": nil, "secrets/remove": grant, "secrets/set": {"name": {"X"}, "value": {"some-value"}}} {
			if w := b.as(who, path, form); w.Code != 403 {
				t.Errorf("%s as %q: %d", path, who.Kind, w.Code)
			}
		}
	}
	if r := b.book.Of(t.Context(), b.issue); r == nil || len(r.Secrets) != 1 || r.Secrets[0].Hosts[0] != "a.example.com:443" {
		t.Errorf("%+v", r)
	}
	b.leaksNothing()
}

// A damaged file hides no secret; its row has the remedy, and no buttons.
func TestDamagedSecret(t *testing.T) {
	b := newSecretBench(t)
	for _, name := range []string{"TOKEN", "KEY"} {
		if err := b.kept.Set("", name, firstValue); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(b.dir, "secrets", "*.age"))
	if err := os.WriteFile(files[0], []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := b.as(person, "secrets", nil)
	text := w.Body.String()
	if w.Code != 200 || !strings.Contains(text, "damaged: remove "+files[0]) || strings.Count(text, "value kept") != 1 || strings.Contains(text, "name=%28unknown") {
		t.Errorf("%d %s", w.Code, text)
	}
	if text := b.as(identity.Principal{Kind: identity.Subject, ID: "issuer|ann", Scopes: []identity.Scope{identity.ScopeApprove}}, "secrets", nil).Body.String(); strings.Contains(text, b.dir) {
		t.Errorf("another person sees the path: %s", text)
	}
}

// What cannot be kept or granted is refused with the reason, and without the value.
func TestSecretForms(t *testing.T) {
	b := newSecretBench(t)
	for _, form := range []url.Values{
		{"name": {"TOKEN"}, "value": {firstValue[:7]}}, {"name": {"TO-KEN"}, "value": {firstValue}}, {"name": {"TOKEN"}, "value": {firstValue + "\x1b" + secondValue}},
		{"name": {"TOKEN"}}, {"name": {"TOKEN"}, "command": {"id"}, "from-command": {"id"}}, {"name": {"TOKEN"}, "value": {strings.Repeat(firstValue, maxSecretForm/20)}},
	} {
		if w := b.as(person, "secrets/set", form); w.Code != 400 || strings.Contains(w.Body.String(), firstValue[:7]) {
			t.Errorf("%.60v: %d %s", form, w.Code, w.Body)
		}
	}
	if w := b.as(person, "secrets/set", url.Values{"name": {"TOKEN"}, "value": {strings.Repeat(firstValue, maxSecretForm/20)}}); !strings.Contains(w.Body.String(), "64 KiB") {
		t.Errorf("a form that is too large: %s", w.Body)
	}
	// A value in an address is none: addresses are logged.
	if w := b.as(person, "secrets/set?name=TOKEN&value="+firstValue, url.Values{}); w.Code != 400 || b.kept.Has("", "TOKEN") {
		t.Errorf("%d", w.Code)
	}
	if all, err := b.kept.List(); len(all) > 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	for query, want := range map[string]string{
		"skill=issues&name=TOKEN":                                          "Grant a secret",
		"skill=issues&name=TOKEN&hosts=10.1.2.3":                           "is not public",
		"skill=issues&name=TOKEN&hosts=":                                   "say which hosts get TOKEN",
		"skill=issues&name=TOKEN&hosts=a.example.com&plain=true":           "plain goes without hosts",
		"skill=issues&name=TOKEN&hosts=a.example.com&header=X-Key&as=VAR":  "leave out one or the other",
		"skill=issues&name=TOKEN&hosts=a.example.com&file=%2Fetc%2Fpasswd": "is no file of the run&#39;s home folder",
		"skill=issues&name=TOKEN&hosts=a.example.com&extract=password":     "with one group, the secret",
		"skill=issue&name=TOKEN&hosts=a.example.com":                       "issue",
		"skill=weather&name=SET&hosts=a.example.com":                       "a key of the configuration says so already",
	} {
		if w := b.as(person, "secrets/grant?"+query, nil); w.Code != 200 || !strings.Contains(w.Body.String(), want) || !strings.Contains(w.Body.String(), `method="get" action="/ui/secrets/grant"`) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	filled := b.as(person, "secrets/grant?skill=issues&name=TOKEN&hosts=10.1.2.3&methods=GET&paths=%2Fa&in=body&as=VAR&file=~%2F.netrc&extract=p+(%5CS%2B)", nil).Body.String()
	for _, want := range []string{`value="10.1.2.3"`, `value="/a"`, `value="body" checked`, `value="VAR"`, `value="~/.netrc"`, `value="p (\S&#43;)"`} {
		if !strings.Contains(filled, want) {
			t.Errorf("the form lost %s", want)
		}
	}
	// The files have changed since they were shown.
	form := url.Values{"skill": {"issues"}, "name": {"TOKEN"}, "hosts": {"a.example.com"}, "digest": {"sha256:00"}}
	if w := b.as(person, "secrets/grant", form); w.Code != 400 || !strings.Contains(w.Body.String(), "another digest") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := b.as(person, "secrets/grant", url.Values{"skill": {"issues"}, "name": {"TOKEN"}, "hosts": {"10.1.2.3"}, "digest": {"sha256:00"}}); w.Code != 400 || b.book.Rules(t.Context()) != nil {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// No page of another origin sends a form.
func TestSecretsOfOtherOrigins(t *testing.T) {
	b := newSecretBench(t)
	sessions := signin.New(signin.Options{})
	h := sessions.Guard(b.page.Handler())
	signed := httptest.NewRecorder()
	h.ServeHTTP(signed, httptest.NewRequest("GET", sessions.Link(), nil))
	send := func(path string, headers ...string) int {
		r := httptest.NewRequest("POST", Path+path, strings.NewReader(url.Values{"name": {"TOKEN"}, "value": {firstValue}, "skill": {"issues"}, "hosts": {"a.example.com"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		for _, c := range signed.Result().Cookies() {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for _, path := range []string{"secrets/set", "secrets/remove", "secrets/grant", "secrets/revoke"} {
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://127.0.0.1:3000"}, {"Origin", "null"}} {
			if code := send(path, headers...); code != http.StatusForbidden {
				t.Errorf("%s with %v: %d", path, headers, code)
			}
		}
	}
	if _, err := b.kept.Value(t.Context(), "", "TOKEN", true); !errors.Is(err, secrets.ErrNone) {
		t.Error(err)
	}
	if code := send("secrets/set", "Sec-Fetch-Site", "same-origin"); code != 303 || !b.kept.Has("", "TOKEN") {
		t.Errorf("the page's own form: %d", code)
	}
}
