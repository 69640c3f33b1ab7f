package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/net/html"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/server/web/form"
	"github.com/skillsmcp/skills-mcp/skills"
)

// shown returns the HTML of a screen, for a person or not.
func shown(t *testing.T, kind identity.Kind, c *content) string {
	t.Helper()
	r := httptest.NewRequest("GET", Path+"x", nil)
	r = r.WithContext(identity.NewContext(r.Context(), identity.Principal{Kind: kind}))
	w := httptest.NewRecorder()
	newPage().show(w, r, http.StatusOK, c)
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// mainOf returns the part of a screen that is its own.
func mainOf(t *testing.T, page string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, "<main")
	main, _, ok := strings.Cut(rest, "</main>")
	if !ok {
		t.Fatalf("no main: %s", page)
	}
	return "<main" + main + "</main>\n"
}

func goldenSkill(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; look at the change and run the test with -update:\n%s", name, got)
	}
}

const parameters = `{"type":"object","required":["path"],"properties":{"path":{"type":"string","format":"path","description":"A file."},"top":{"type":"integer","default":3,"minimum":1},"filter":{"type":"object","properties":{"kind":{"type":"string","enum":["a","b"]}}}}}`

func newInfo() *describe.Skill {
	return &describe.Skill{
		Listed: describe.Listed{
			Summary:   describe.Summary{Name: "office/report", Tool: "office_report", Source: "user", Class: "mutating", Kind: "executable", State: "needs approval", Description: "Reports & more."},
			File:      "/home/ada/.claude/skills/report/SKILL.md",
			Installed: &describe.Installed{Source: "github.com/a/b", Revision: "v1", At: time.Now().Add(-49 * time.Hour), Intact: false, Differences: []string{"run.py was changed"}},
		},
		Body: "# Use\n\nSee [the notes](docs/a%20b.md) and ![logo](logo.png).\n", Digest: "sha256:0123456789abcdef", Parameters: json.RawMessage(parameters),
		Files: []string{"SKILL.md", "docs/a b.md", "logo.png", "gone"},
		Call: &describe.Plan{
			Argv: []string{"python3", "/skill/run.py", "<path>", "it's"}, Folder: "/skill", Driver: "auto", Role: "default", Image: "python:3.13-slim", Environment: []string{"PATH"},
			Mounts: []describe.Mount{{Path: "/work", From: "/work", Access: "writable"}, {Path: "/out", From: "memory", Access: "writable"}}, Limits: describe.Limits{Timeout: 600, Memory: 512 << 20, CPUs: 1, PIDs: 128, Output: 10 << 20, Tmp: 256 << 20},
		},
		Problems: []skills.Problem{{Severity: skills.Warning, Path: "SKILL.md", Line: 2, Col: 3, Message: "odd", Remedy: "mind it"}},
	}
}

var infoFiles = fstest.MapFS{"SKILL.md": {Data: []byte("x")}, "docs/a b.md": {Data: []byte("note")}, "logo.png": {Data: []byte("\x89PNG")}}

func TestSkillScreen(t *testing.T) {
	s, err := newSkillScreen(newInfo(), infoFiles, false)
	if err != nil {
		t.Fatal(err)
	}
	s.Switches = &api.SkillItem{Enabled: true}
	s.Change = &change{Comparison: &pins.Comparison{Digest: "sha256:fedcba9876543210", Pin: &pins.Pin{Acceptance: pins.Acceptance{AcceptedDigest: "sha256:00", Accepted: time.Now().Add(-3 * time.Hour)}, ByPerson: true}, Diff: "-a\n+<b>\n"}, Blocked: true, Gained: []string{"runs a shell"}}
	s.Runs = []*store.Run{{ID: "r1", Started: time.Now().Add(-time.Minute), Outcome: "ended", Duration: 1500 * time.Millisecond}}
	c := &content{Title: "Report", Template: "skill.html", Section: "skills", Data: s}
	page := shown(t, identity.Person, c)
	goldenSkill(t, "skill.html", timeless(mainOf(t, page)))
	if page := shown(t, identity.Token, c); strings.Contains(page, "/accept") || strings.Contains(page, "/enabled") || !strings.Contains(page, "Only the person may decide") {
		t.Error("a token is offered decisions")
	}
}

// timeless returns a screen without its times.
func timeless(page string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(page, "<time ")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, page, _ = strings.Cut(rest, ">")
		b.WriteString("<time>")
	}
}

const evil = "<script>alert(1)</script>\u202e\" onclick=alert(1) '{{.}}<img src=x onerror=alert(1)>"

// evilInfo returns a skill each of whose texts is markup.
func evilInfo(t *testing.T) *describe.Skill {
	t.Helper()
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	info := newInfo()
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"office/report", "Reports & more.", "needs approval", "run.py was changed", "mind it", "odd", "python:3.13-slim", "github.com/a/b", "/home/ada/.claude/skills/report/SKILL.md", "office_report", "v1", "gone"} {
		given, _ := json.Marshal(word)
		text = []byte(strings.ReplaceAll(string(text), string(given), string(quoted)))
	}
	info = &describe.Skill{}
	if err := json.Unmarshal(text, info); err != nil {
		t.Fatal(err)
	}
	info.Body = evil + "\n\n[a](javascript:alert(1)) <" + evil + ">"
	info.DisplayName, info.WhenToUse, info.Category, info.Plugin = evil, evil, evil, evil
	info.Parameters = json.RawMessage(`{"type":"object","properties":{` + string(quoted) + `:{"type":"string","title":` + string(quoted) + `,"description":` + string(quoted) + `,"default":` + string(quoted) + `,"pattern":` + string(quoted) + `},"e":{"enum":[` + string(quoted) + `]},"j":{"default":` + string(quoted) + `}}}`)
	return info
}

// harmless checks that a screen has no script but the page's own, no handlers, and no
// character that nobody sees.
func harmless(t *testing.T, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "textarea" && strings.Contains(n.Data, "\u202e") {
			t.Errorf("a character that turns the text of %s", n.Parent.Data)
		}
		if n.Type == html.ElementNode && slices.Contains([]string{"script", "style", "base", "object", "embed", "svg", "math"}, n.Data) && !strings.HasPrefix(attribute(n, "src"), Path+"static/page.js?") {
			t.Errorf("an element %s", n.Data)
		}
		if n.Data == "img" && !strings.HasPrefix(attribute(n, "src"), Path) {
			t.Errorf("an image of %q", attribute(n, "src"))
		}
		if n.Data == "iframe" && (!slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "sandbox" && a.Val == "" }) || !strings.HasPrefix(attribute(n, "src"), Path+"jobs/")) {
			t.Errorf("a frame %v", n.Attr)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
				t.Errorf("an attribute %s=%q of %s", a.Key, a.Val, n.Data)
			}
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func TestHostile(t *testing.T) {
	info := evilInfo(t)
	for _, raw := range []bool{false, true} {
		s, err := newSkillScreen(info, infoFiles, raw)
		if err != nil {
			t.Fatal(err)
		}
		page := shown(t, identity.Person, &content{Title: titleOf(info), Template: "skill.html", Data: s})
		harmless(t, page)
		if strings.Contains(page, "\u202e") || !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") {
			t.Error("the texts are not shown as they are")
		}
	}
	f, err := form.New(info.Parameters.(json.RawMessage), "f")
	if err != nil {
		t.Fatal(err)
	}
	harmless(t, shown(t, identity.Person, (&tryScreen{Skill: info, Form: f, Folders: []string{evil, "b"}}).content()))
	value, err := json.Marshal(map[string]any{evil: []any{evil, nil, 1.5, true, map[string]any{}}})
	if err != nil {
		t.Fatal(err)
	}
	job := newJobScreen("r1", evil, jobs.Snapshot{
		State:     jobs.Asking,
		Events:    []jobs.Event{{Kind: jobs.Progress, Text: evil}, {Kind: jobs.Stderr, Text: "\x1b[31m" + evil}},
		Questions: []jobs.Question{{ID: "q1", Message: evil, Form: info.Parameters.(json.RawMessage)}, {ID: "q2", Approval: &approval.Question{Skill: evil, Caller: "a model", Args: []approval.Argument{{Name: evil, Value: evil}}, Scopes: []approval.Scope{approval.Once, approval.Always}}}},
		Result:    &result.Run{Stdout: evil, Result: value, Note: evil, OutLeft: []string{evil}, Out: []result.File{{Name: evil + ".html", MIMEType: "text/html"}, {Name: "a/" + evil + ".svg", MIMEType: "image/svg+xml"}, {Name: "../x.png", MIMEType: "image/png"}, {Name: "t.txt", MIMEType: "text/plain", Text: evil}}},
		Err:       &run.Error{Code: run.ExecutionError, Message: evil},
	})
	page := shown(t, identity.Person, &content{Title: termtext.Legible(evil), Template: "job.html", Data: job})
	harmless(t, page)
	if strings.Contains(page, "\x1b") || strings.Count(page, "<iframe") != 2 {
		t.Error(page)
	}
}
