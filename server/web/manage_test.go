package web

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

// hostile is the text of a stranger who has read about HTML and about bidi controls.
const hostile = `<img src=x onerror=alert(1)>"'>&` + "\u202e\u0007" + `javascript:alert(1)`

// A machine is a [Manage] whose strangers are hostile.
type machine struct {
	operations *installation.Operations
	connected  []string
	searched   []string // the registry
}

func newMachine(t *testing.T, work func(context.Context, *installation.Operation) error) *machine {
	m := &machine{operations: installation.NewOperations(work)}
	t.Cleanup(m.operations.Close)
	return m
}

func (m *machine) Installed(context.Context) ([]manage.Inventory, error) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return []manage.Inventory{
		{Dir: "/home/ann/data", Checked: at, Items: []manage.Installed{
			{
				Installed: describe.Installed{Source: hostile, Revision: "1", Entry: "skills/" + hostile, Digest: "sha256:12", At: at, Differences: []string{"changed " + hostile}},
				Name:      hostile, Kind: "skill", Before: hostile, Newest: &manage.Newest{Err: hostile},
			},
			{Installed: describe.Installed{Source: "owner/repo", Entry: "plugins/b", Digest: "sha256:34", Intact: true, At: at}, Name: "b", Kind: "plugin", Newest: &manage.Newest{Revision: hostile, Outdated: true}},
			{Installed: describe.Installed{Source: "./c", Entry: "skills/c", Digest: "sha256:56", Intact: true, At: at}, Name: "c", Kind: "skill"},
		}},
		{Project: "/work/" + hostile, Dir: "/work/" + hostile, Untrusted: true},
		{Project: "/work/mine", Dir: "/work/mine", Err: hostile},
	}, nil
}

func (m *machine) Servers(context.Context) ([]Server, error) {
	return []Server{{Name: "office", Address: "mcp+stdio:" + hostile, TokenEnv: "TOKEN", Skills: 3}}, nil
}

func (m *machine) Operations() *installation.Operations { return m.operations }

func (m *machine) Clients(context.Context) ([]Client, error) {
	return []Client{
		{Name: "cursor", Title: "Cursor", File: "/home/ann/" + hostile, Installed: true, Entry: `{"command": "<script>"}`, Hint: hostile},
		{Name: "codex", Title: "Codex", File: "f", Installed: true, Has: true, Same: true, Entry: "e"},
		{Name: "zed", Title: "Zed", File: "f", Installed: true, Other: hostile, Entry: "e"},
		{Name: "vscode", Title: "VS Code", File: "f", Installed: true, Entry: "e", Err: hostile},
		{Name: "gemini", Title: "Gemini CLI", File: "f", Entry: "e"},
		{Name: "gemini", Title: "Gemini CLI", File: "f", Entry: "e"},
	}, nil
}

func (m *machine) Connect(_ context.Context, client string, remove, force bool) ([]string, error) {
	how := "add"
	if remove {
		how = "remove"
	} else if force {
		how = "replace"
	}
	m.connected = append(m.connected, how+" "+client)
	return []string{"What it was is kept in " + hostile + "."}, nil
}

func (m *machine) Catalog(_ context.Context, query string) ([]clawhub.Hit, error) {
	m.searched = append(m.searched, query)
	if query == "broken" {
		return nil, &run.Error{Code: run.Unavailable, Message: hostile}
	}
	return []clawhub.Hit{{Name: "ann/weather", Title: "Weather", Summary: "Tells the weather.", Version: "1.2.0", Downloads: 7}, {Name: hostile, Title: hostile, Summary: hostile, Version: hostile}, {Name: "plain"}}, nil
}

func (m *machine) Settings(context.Context) ([]Setting, error) {
	return []Setting{{"sandbox", "sandbox.driver", "auto", "default"}, {"sandbox", "sandbox.runtime", hostile, "config.yaml:3"}, {"serve", "serve.listen", "a", hostile}}, nil
}

// hostileChange is an update of a skill that has gained something.
func hostileChange() *installation.Change {
	return &installation.Change{
		Source: hostile, Digest: "sha256:99", Checked: []string{hostile},
		Notes: []source.Note{{Suspicious: true, Text: hostile}},
		Items: []installation.Item{{
			Name: hostile, Kind: "skill", Description: hostile, Skills: []string{hostile}, Source: hostile, Revision: hostile, Folder: hostile, Path: "/data/" + hostile,
			Digest: "sha256:98", Capabilities: []surface.Item{{Kind: surface.Host, Value: hostile}}, Replaces: &installation.Version{Source: "other", Revision: "1"},
			Findings: []verdict.Finding{{Rule: "r", Severity: verdict.Critical, File: hostile, Line: 3, Reason: "It harms.", Remedy: "leave it"}}, Blocked: true,
			Gained: []string{hostile}, Lost: []string{hostile}, Edited: []string{hostile}, Unproved: []string{hostile},
			Diff: "diff SKILL.md\n--- SKILL.md\n+++ SKILL.md\n@@ -1 +1 @@\n-<script>alert(1)</script>\n+" + hostile + "\n same\n", Problems: []skills.Problem{{Message: hostile}},
		}},
	}
}

func managed(t *testing.T, m *machine) *Page {
	state := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
	t.Cleanup(func() {
		if err := state.Close(); err != nil {
			t.Error(err)
		}
	})
	p := newPage()
	p.options.Manage = m
	p.options.Service = api.New(api.Options{Approvals: approval.New(state, nil), Doctor: func(context.Context) (*api.Diagnosis, error) {
		return &api.Diagnosis{Sections: []api.Section{{Name: "skills-mcp", Findings: []sandbox.Finding{
			{Subject: "version", Level: sandbox.LevelOK, Detail: "1"},
			{Subject: "problem", Level: sandbox.LevelWarning, Detail: hostile, Remedy: "as root, run: sysctl a=1 b=2; to keep it, write that"},
			{Subject: "docker", Level: sandbox.LevelFailed, Detail: "no engine", Remedy: hostile},
			{Subject: "image", Level: sandbox.LevelWarning, Remedy: "get it ahead with: skills-mcp image pull node"},
		}}}}, nil
	}})
	return p
}

// send answers a POST request of a form.
func send(h http.Handler, kind identity.Kind, path string, form ...string) *httptest.ResponseRecorder {
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	r := httptest.NewRequest("POST", path, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r = r.WithContext(identity.NewContext(r.Context(), identity.Principal{Kind: kind}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// golden compares the main part of a screen with a file. Times and IDs are left out.
func golden(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.String()
	_, body, _ = strings.Cut(body, `<main id="main" tabindex="-1">`)
	body, _, _ = strings.Cut(body, "</main>")
	body = regexp.MustCompile(`<time[^>]*>[^<]*`).ReplaceAllString(body, "<time>")
	body = regexp.MustCompile(`operations/[A-Z0-9]{12}`).ReplaceAllString(body, "operations/ID")
	seen := regexp.MustCompile(` value="[^"]*"`).ReplaceAllString(body, "")
	if strings.Contains(body, "<img") || strings.Contains(body, "<script") || strings.ContainsAny(seen, "\u202e\a") {
		t.Errorf("%s has a stranger's text as it is", name)
	}
	file := filepath.Join("testdata", "manage", name+".html")
	if *updateGolden {
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), body); diff != "" || w.Code != http.StatusOK {
		t.Errorf("%s: %d (run with -update if it is right)\n%s", name, w.Code, diff)
	}
}

// The screens show strangers' texts as texts.
func TestManageScreens(t *testing.T) {
	h := managed(t, newMachine(t, nil)).Handler()
	entry := url.Values{"name": {"skills/" + hostile}, "project": {""}}.Encode()
	for name, path := range map[string]string{
		"sources": "sources", "source": "sources/entry?" + entry, "uninstall": "sources/uninstall?" + entry,
		"clients": "clients", "replace": "clients/zed/replace", "settings": "settings", "doctor-before": "doctor",
	} {
		golden(t, name, get(t, h, identity.Person, Path+path))
	}
	if w := send(h, identity.Person, Path+"doctor"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != Path+"doctor" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	golden(t, "doctor", get(t, h, identity.Person, Path+"doctor"))
	if w := get(t, h, identity.Person, Path+"sources/entry?name=none"); w.Code != http.StatusNotFound {
		t.Errorf("an entry that is not there: %d", w.Code)
	}
}

// Nobody but a person sees or changes the machine.
func TestManageIsForPersons(t *testing.T) {
	m := newMachine(t, func(context.Context, *installation.Operation) error {
		t.Error("an operation is started")
		return nil
	})
	h := managed(t, m).Handler()
	for _, kind := range []identity.Kind{identity.Anonymous, identity.Token, identity.Model} {
		for _, path := range []string{"sources", "sources/entry", "sources/uninstall", "sources/operations/x", "clients", "clients/zed/replace", "doctor", "settings", "sources/catalog"} {
			if w := get(t, h, kind, Path+path); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "sign in") {
				t.Errorf("%s as %q: %d", path, kind, w.Code)
			}
		}
		for _, path := range []string{"sources/operations", "sources/operations/x/answer", "sources/operations/x/stop", "clients/zed", "doctor", "sources/catalog"} {
			if w := send(h, kind, Path+path, "action", "check", "do", "add", "q", "weather"); w.Code != http.StatusForbidden {
				t.Errorf("POST %s as %q: %d", path, kind, w.Code)
			}
		}
	}
	if len(m.connected)+len(m.searched) > 0 {
		t.Error(m.connected, m.searched)
	}
}

// The registry is asked by a form alone, and its offers lead to the review of an
// installation.
func TestCatalog(t *testing.T) {
	m := newMachine(t, nil)
	h := managed(t, m).Handler()
	golden(t, "catalog-before", get(t, h, identity.Person, Path+"sources/catalog?q=weather"))
	for query, code := range map[string]int{"": 400, " ": 400, strings.Repeat("a", 201): 400, "broken": 503} {
		if w := send(h, identity.Person, Path+"sources/catalog", "q", query); w.Code != code || strings.Contains(w.Body.String(), "<img src=x") {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	}
	if m.searched = nil; send(h, identity.Person, Path+"sources/catalog", "q", " "+hostile).Header().Get("Location") != Path+"sources/catalog" || !slices.Equal(m.searched, []string{hostile}) {
		t.Errorf("asked %q", m.searched)
	}
	golden(t, "catalog", get(t, h, identity.Person, Path+"sources/catalog"))
}

// An order is shown while it is fetched, asked about with its difference, and made once
// the person accepts just that.
func TestOperationScreens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetched := make(chan struct{})
		m := &machine{operations: installation.NewOperations(func(ctx context.Context, o *installation.Operation) error {
			switch o.Order.Source {
			case "several":
				return &source.ChoiceError{Choices: []source.Choice{{Name: hostile, Kind: "plugin", Description: hostile}}}
			case "broken":
				return errors.New(hostile + "\nwrite another source")
			}
			o.Progress("fetching " + hostile)
			<-fetched
			accepted, err := o.Review(ctx, hostileChange())
			if accepted {
				o.Report("installed " + hostile)
			}
			return err
		})}
		defer m.operations.Close()
		h := managed(t, m).Handler()
		start := func(source string) string {
			w := send(h, identity.Person, Path+"sources/operations", "action", "install", "source", " "+source+" ", "name", "a", "name", "b")
			if w.Code != http.StatusSeeOther {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			synctest.Wait()
			return w.Header().Get("Location")
		}
		path := start(hostile)
		if o := m.operations.All()[0]; o.Order.Source != hostile || len(o.Order.Names) != 2 {
			t.Errorf("%+v", o.Order)
		}
		golden(t, "fetching", get(t, h, identity.Person, path))
		close(fetched)
		synctest.Wait()
		golden(t, "change", get(t, h, identity.Person, path))
		if w := send(h, identity.Person, path+"/answer", "digest", "sha256:other", "answer", "accept"); w.Code != http.StatusBadRequest {
			t.Errorf("another change is accepted: %d", w.Code)
		}
		if w := send(h, identity.Person, path+"/answer", "digest", "sha256:99", "answer", "accept"); w.Header().Get("Location") != path {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		synctest.Wait()
		golden(t, "made", get(t, h, identity.Person, path))
		golden(t, "choice", get(t, h, identity.Person, start("several")))
		golden(t, "failed", get(t, h, identity.Person, start("broken")))
		path = start("x")
		send(h, identity.Person, path+"/stop")
		synctest.Wait()
		golden(t, "stopped", get(t, h, identity.Person, path))
		for _, form := range [][]string{{"action", "install", "source", " "}, {"action", "format"}, {}} {
			if w := send(h, identity.Person, Path+"sources/operations", form...); w.Code != http.StatusBadRequest {
				t.Errorf("%v: %d", form, w.Code)
			}
		}
	})
}

// The answers of a client's form reach its file, and the backup is told.
func TestConnectClient(t *testing.T) {
	m := newMachine(t, nil)
	h := managed(t, m).Handler()
	for _, do := range []string{"add", "replace", "remove"} {
		if w := send(h, identity.Person, Path+"clients/zed", "do", do); w.Code != http.StatusSeeOther {
			t.Errorf("%s: %d", do, w.Code)
		}
	}
	if got := strings.Join(m.connected, ", "); got != "add zed, replace zed, remove zed" {
		t.Error(got)
	}
	if w := send(h, identity.Person, Path+"clients/zed"); w.Code != http.StatusBadRequest {
		t.Errorf("no order: %d", w.Code)
	}
	golden(t, "clients-told", get(t, h, identity.Person, Path+"clients"))
	if w := get(t, h, identity.Person, Path+"clients/cursor/replace"); w.Code != http.StatusNotFound {
		t.Errorf("nothing to replace: %d", w.Code)
	}
}
