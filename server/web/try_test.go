package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// A directory has one skill, which a function runs.
type directory struct {
	skill   *skills.Skill
	run     func(ctx context.Context, r run.Request) (*result.Run, error)
	outputs map[string]output.Item // by URI
	folders []string               // the workspaces of a call
}

func (d *directory) View(context.Context) (*describe.View, error) {
	catalog := &skills.Catalog{Skills: []*skills.Skill{d.skill}}
	return &describe.View{
		Title: func(s *skills.Skill) string { return s.Name }, Catalog: catalog, Library: skillsext.New(catalog, nil), Name: func(s *skills.Skill) string { return s.PlainToolName() },
		Exposed: exposure.Choose(catalog.Skills, exposure.State{}, func(*skills.Skill) exposure.Cost { return exposure.Cost{} }, exposure.Options{}),
		Plan: func(context.Context, *skills.Skill) *describe.Plan {
			mounts := []describe.Mount{{Path: "/skill", From: "/s"}}
			for _, folder := range d.folders {
				mounts = append(mounts, describe.Mount{Path: folder, From: folder})
			}
			return &describe.Plan{Argv: []string{"python3", "run.py"}, Mounts: mounts}
		},
	}, nil
}

func (d *directory) Find(_ context.Context, name string) (*skills.Skill, error) {
	if name != d.skill.QualifiedName() {
		return nil, &run.Error{Code: run.NotFound, Message: "there is no skill of this name"}
	}
	return d.skill, nil
}

func (d *directory) Search(context.Context, search.Query) (search.Result, error) {
	return search.Result{}, nil
}

func (d *directory) Run(ctx context.Context, r run.Request) (*result.Run, error) {
	return d.run(ctx, r)
}

func (d *directory) Output(_ context.Context, uri string) (output.Item, bool) {
	item, ok := d.outputs[uri]
	return item, ok
}

// accepted are pins in memory.
type accepted struct {
	compared *pins.Comparison
	digest   string // that was accepted
}

func (a *accepted) Compare(context.Context, *skills.Skill) (*pins.Comparison, error) {
	return a.compared, nil
}

func (a *accepted) Accept(_ context.Context, _ *skills.Skill, digest, _ string) error {
	a.digest = digest
	return nil
}

func newDirectory() *directory {
	schema := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"path"}}
	schema.Properties.Set("path", &jsonschema.Schema{Type: "string", Format: "path", Description: "A file."})
	schema.Properties.Set("top", &jsonschema.Schema{Type: "integer", Default: 3, Minimum: "1"})
	return &directory{
		skill: &skills.Skill{
			Name: "report", Plugin: "office", Description: "Reports.", Class: skills.Safe, ModelInvocable: true, UserInvocable: true, File: "/s/SKILL.md", Dir: "/s",
			Files:        fstest.MapFS{"SKILL.md": {Data: []byte("# A\u202e\n<script>")}, "a b/x.svg": {Data: []byte("<svg onload=x>")}, "p.png": {Data: []byte("\x89PNG\x00")}, ".git/config": {Data: []byte("secret")}, "empty": {}},
			Instructions: "# A\n", Entry: &skills.Entry{Script: "run.py", Interpreter: []string{"python3"}, Args: skills.Input{Object: schema}},
		},
		outputs: map[string]output.Item{}, folders: []string{"/a", "/b"},
	}
}

// newServer returns a page with the skill of a directory.
func newServer(t *testing.T, d *directory, pins Pins) http.Handler {
	t.Helper()
	s := store.New(filepath.Join(t.TempDir(), "state.db"), nil)
	held := jobs.New(d.Run, nil)
	t.Cleanup(func() {
		held.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	service := api.New(api.Options{Directory: d, Runs: store.NewRuns(s), Jobs: held, Approvals: approval.New(s, nil)})
	p := New(Options{Service: service, Pins: pins, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.Handler()
}

// post sends a form of a person, or of another principal.
func post(t *testing.T, h http.Handler, kind identity.Kind, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r = r.WithContext(identity.NewContext(r.Context(), identity.Principal{Kind: kind}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// ended gets the screen of a run when it shows a text.
func ended(t *testing.T, h http.Handler, path, text string) string {
	t.Helper()
	for {
		page := get(t, h, identity.Person, path).Body.String()
		if strings.Contains(page, text) {
			return page
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("no %q in %s", text, page)
		default:
		}
	}
}

const reportPath = "/ui/skills/office%2Freport"

// A skill is tried: wrong values stay in the form, right ones start a run, whose question
// is answered in its screen, which then shows the result.
func TestTry(t *testing.T) {
	d := newDirectory()
	d.run = func(ctx context.Context, r run.Request) (*result.Run, error) {
		_, _ = r.Stderr.Write([]byte("working\n"))
		question, err := elicit.NewForm("Which <b>?", json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":5}},"required":["n"]}`))
		if err != nil {
			return nil, err
		}
		answer, err := r.Client.Ask(ctx, map[string]*elicit.Request{"a": question})
		if err != nil {
			return nil, err
		}
		given, err := json.Marshal(r.Args)
		return &result.Run{RunID: r.RunID, Result: json.RawMessage(`{"args":` + string(given) + `,"answer":` + string(answer["a"]) + `}`)}, err
	}
	h := newServer(t, d, nil)
	if w := get(t, h, identity.Person, reportPath); w.Code != 200 || !strings.Contains(w.Body.String(), reportPath+"/try") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	page := get(t, h, identity.Person, reportPath+"/try").Body.String()
	for _, want := range []string{`name="p.path" value="" autocomplete="off" list="paths" required aria-describedby="f0-help"`, `min="1"`, `value="3"`, `<option value="/b">`, `A file. a path, relative to the workspace.`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	w := post(t, h, identity.Person, reportPath+"/try", url.Values{"p.top": {"0"}})
	if body := w.Body.String(); w.Code != 422 || !strings.Contains(body, `value="0"`) || !strings.Contains(body, `aria-invalid="true"`) || !strings.Contains(body, `id="f0-error"`) {
		t.Fatalf("%d %s", w.Code, body)
	}
	w = post(t, h, identity.Person, reportPath+"/try", url.Values{"p.path": {"a<b>.txt"}, "p.top": {"7"}})
	job := w.Header().Get("Location")
	if w.Code != 303 || !regexp.MustCompile(`^/ui/jobs/[\w-]+$`).MatchString(job) {
		t.Fatalf("%d to %s: %s", w.Code, job, w.Body)
	}
	page = ended(t, h, job, "The skill asks")
	id := regexp.MustCompile(`name="question" value="(\w+)"`).FindStringSubmatch(page)
	if id == nil || !strings.Contains(page, "waits for your answer") || !strings.Contains(page, "working") || !strings.Contains(page, `data-topics="run/`) {
		t.Fatal(page)
	}
	w = post(t, h, identity.Person, job+"/answer", url.Values{"question": {id[1]}, "action": {"accept"}, "p.n": {"4"}})
	if body := w.Body.String(); w.Code != 422 || !strings.Contains(body, `value="4"`) || !strings.Contains(body, `-error"`) {
		t.Fatalf("%d %s", w.Code, body)
	}
	w = post(t, h, identity.Person, job+"/answer", url.Values{"question": {id[1]}, "action": {"accept"}, "p.n": {"5"}})
	if w.Code != 303 || w.Header().Get("Location") != job {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	page = ended(t, h, job, "ended well")
	for _, want := range []string{"a&lt;b&gt;.txt", `&#34;top&#34;: 7`, `&#34;n&#34;: 5`, "accept", "/try?from="} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if w := post(t, h, identity.Person, job+"/answer", url.Values{"question": {id[1]}, "action": {"accept"}}); w.Code != 303 {
		t.Errorf("a late answer: %d", w.Code)
	}
}

// An output of Markdown is rendered, and nothing of it is the page's; others stay as they
// are printed.
func TestMarkdownResult(t *testing.T) {
	const hostile = "# Sales\n\nThey **rose**.\n\n<script>x</script> [a](javascript:x) ![b](//c.example/d.png) <form action=/ui/signout>\n\x1b[31m"
	for text, rendered := range map[string]bool{
		hostile: true, "# A": true, "\n## A\ntext": true, "|a|b|\n|-|-|\n": false, "a **b**\n\n| a |\n| --- |\n": true,
		"#!/bin/sh\n": false, "# a comment\nof **a** script": true, "a\n# b\n": false, "done\n": false, "a * b ** c\n": false, `{"a": "# b"}`: false,
	} {
		d := newDirectory()
		d.run = func(_ context.Context, r run.Request) (*result.Run, error) {
			return &result.Run{RunID: r.RunID, Stdout: text, Out: []result.File{{Name: "a.md", MIMEType: "text/markdown", Text: text}, {Name: "a.txt", MIMEType: "text/plain", Text: text}}}, nil
		}
		h := newServer(t, d, nil)
		page := ended(t, h, post(t, h, identity.Person, reportPath+"/try", url.Values{"p.path": {"a"}}).Header().Get("Location"), "ended well")
		harmless(t, page)
		want := 1 // the file
		if rendered {
			want = 2
		}
		if got := strings.Count(page, `<div class="prose"`); got != want {
			t.Errorf("%q is rendered %d times, want %d", text, got, want)
		}
		if text == hostile && (!strings.Contains(page, "<h3>Sales</h3>") || !strings.Contains(page, "<strong>rose</strong>") || strings.Count(page, "<img") > 1 || strings.Count(page, "<script") > 1 || strings.Contains(page, "javascript:x\"")) {
			t.Error(page)
		}
	}
}

// The screen of a run that goes on has the time since its beginning, and a bar of the
// progress that its script counts.
func TestProgressBar(t *testing.T) {
	d, goOn := newDirectory(), make(chan struct{})
	d.run = func(ctx context.Context, r run.Request) (*result.Run, error) {
		fmt.Fprint(r.Stderr, "2/8 reading <b>\n1000000/2500000 reading <b>\n")
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return &result.Run{RunID: r.RunID}, nil
	}
	h := newServer(t, d, nil)
	job := post(t, h, identity.Person, reportPath+"/try", url.Values{"p.path": {"a"}}).Header().Get("Location")
	page := ended(t, h, job, `<progress class="grow" aria-label="Progress" value="1000000" max="2500000"></progress> <span>1000000 of 2500000</span>`)
	if !strings.Contains(page, "reading &lt;b&gt;") || !strings.Contains(page, `role="timer" data-since="20`) {
		t.Error(page)
	}
	close(goOn)
	if page := ended(t, h, job, "ended well"); strings.Contains(page, "<progress") || strings.Contains(page, "data-since") {
		t.Error(page)
	}
}

// Paths are suggested to a person, in the workspaces of the call alone.
func TestPaths(t *testing.T) {
	d, secret := newDirectory(), t.TempDir()
	first, second := t.TempDir(), t.TempDir()
	d.folders = []string{first, second}
	for _, name := range []string{first + "/src/a.txt", first + "/" + `<img onerror=x>`, first + "/.env", second + "/b.txt", secret + "/key"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, first+"/link"); err != nil {
		t.Fatal(err)
	}
	h := newServer(t, d, nil)
	page := get(t, h, identity.Person, reportPath+"/try").Body.String()
	harmless(t, page)
	if !strings.Contains(page, `<datalist id="paths"><option value="&lt;img onerror=x&gt;"></option><option value="src/"></option></datalist>`) {
		t.Error(page)
	}
	for text, want := range map[string]string{
		"s": `["src/"]`, "src/": `["src/a.txt"]`, second + "/": `["` + second + `/b.txt"]`, "../": "null", secret + "/": "null", "/etc/": "null", "link/": "null", "src/../../": "null", "src/\x00": "null", "none/": "null", "a.txt": "null",
	} {
		w := get(t, h, identity.Person, reportPath+"/paths?"+url.Values{"text": {text}}.Encode())
		if got := strings.TrimSpace(w.Body.String()); w.Code != 200 || got != want && got != "[]" || want != "null" && got != want {
			t.Errorf("%q: %d %s, want %s", text, w.Code, got, want)
		}
	}
	w := get(t, h, identity.Person, reportPath+"/paths?"+url.Values{"text": {"b"}, "workspace": {second}}.Encode())
	if got := strings.TrimSpace(w.Body.String()); got != `["b.txt"]` {
		t.Errorf("in the chosen workspace: %s", got)
	}
	for _, kind := range []identity.Kind{identity.Token, identity.Anonymous} {
		if w := get(t, h, kind, reportPath+"/paths?text=s"); w.Code != 403 || strings.Contains(w.Body.String(), "src/") {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
		if page := get(t, h, kind, reportPath+"/try").Body.String(); strings.Contains(page, "src/") {
			t.Errorf("%s is told of files", kind)
		}
	}
}

// The text of a file becomes an argument; its name counts for nothing, and no other argument
// takes one.
func TestUpload(t *testing.T) {
	d, given := newDirectory(), make(chan map[string]any, 1)
	d.skill.Entry.Args.(skills.Input).Object.Properties.Set("text", &jsonschema.Schema{Type: "string"})
	d.run = func(_ context.Context, r run.Request) (*result.Run, error) {
		given <- r.Args
		return &result.Run{RunID: r.RunID}, nil
	}
	h := newServer(t, d, nil)
	for name, test := range map[string]struct {
		control, file, want string // want "" is refused
	}{
		"text":     {"file.p.text", "a\nb é", "a\nb é"},
		"none":     {"file.p.text", "", "typed"},
		"other":    {"file.p.path", "x", "typed"},
		"binary":   {"file.p.text", "\x89PNG\x00", ""},
		"no UTF-8": {"file.p.text", "\xff", ""},
		"large":    {"file.p.text", strings.Repeat("a", maxForm+1), ""},
	} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		_ = form.WriteField("p.path", "a")
		_ = form.WriteField("p.text", "typed")
		part, _ := form.CreateFormFile(test.control, "../../<script>.txt")
		_, _ = part.Write([]byte(test.file))
		_ = form.Close()
		r := httptest.NewRequest("POST", reportPath+"/try", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(identity.NewContext(t.Context(), identity.Principal{Kind: identity.Person})))
		switch {
		case test.want == "" && (w.Code != 422 && w.Code != 400 || strings.Contains(w.Body.String(), "script&gt;.txt")):
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		case test.want == "":
		case w.Code != 303:
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		default:
			if args := <-given; args["text"] != test.want || args["path"] != "a" {
				t.Errorf("%s: %v", name, args)
			}
		}
	}
}

// A run is cancelled.
func TestCancelJob(t *testing.T) {
	d := newDirectory()
	d.run = func(ctx context.Context, r run.Request) (*result.Run, error) {
		<-ctx.Done()
		return nil, &run.Error{Code: run.Timeout, Message: "it was stopped"}
	}
	h := newServer(t, d, nil)
	job := post(t, h, identity.Person, reportPath+"/try", url.Values{"p.path": {"a"}}).Header().Get("Location")
	if page := get(t, h, identity.Person, job).Body.String(); !strings.Contains(page, job+"/cancel") || !strings.Contains(page, ">Refresh</a>") {
		t.Fatal(page)
	}
	if w := post(t, h, identity.Person, job+"/cancel", nil); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if page := ended(t, h, job, "TIMEOUT"); strings.Contains(page, "/cancel") {
		t.Error("a run that has ended can be cancelled")
	}
}

// Outputs are never served with the rights of the page.
func TestOutputs(t *testing.T) {
	d := newDirectory()
	d.run = func(_ context.Context, r run.Request) (*result.Run, error) {
		for name, kind := range map[string]string{"a.html": "text/html", "d/ü \".svg": "image/svg+xml", "p.png": "image/png", "x.js": "text/javascript", "y.pdf": "application/pdf"} {
			d.outputs[output.URI(r.RunID, "out/"+name)] = output.Item{MIMEType: kind, Data: []byte("<script>alert(1)</script>")}
		}
		return &result.Run{RunID: r.RunID, Out: []result.File{{Name: "a.html", MIMEType: "text/html"}}}, nil
	}
	h := newServer(t, d, nil)
	job := post(t, h, identity.Person, reportPath+"/try", url.Values{"p.path": {"a"}}).Header().Get("Location")
	ended(t, h, job, "ended well")
	for path, want := range map[string]string{
		"a.html": "application/octet-stream attachment; filename=a.html", "a.html?frame": "text/html; charset=utf-8 ", "d/%C3%BC%20%22.svg?frame": "image/svg+xml; charset=utf-8 ",
		"d/%C3%BC%20%22.svg": "application/octet-stream attachment; filename*=utf-8''%C3%BC%20%22.svg", "p.png": "image/png ", "x.js?frame": "application/octet-stream attachment; filename=x.js", "y.pdf": "application/octet-stream attachment; filename=y.pdf",
	} {
		w := get(t, h, identity.Person, job+"/out/"+path)
		isHarmless(t, path, w)
		if got := w.Header().Get("Content-Type") + " " + w.Header().Get("Content-Disposition"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	linked := httptest.NewRequest("GET", job+"/out/a.html?frame", nil)
	linked.Header.Set("Sec-Fetch-Dest", "document")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, linked.WithContext(identity.NewContext(t.Context(), identity.Principal{Kind: identity.Person})))
	if got := w.Header().Get("Content-Type"); w.Code != 200 || got != "application/octet-stream" {
		t.Errorf("a link to a document shows it outside of a frame: %d %s", w.Code, got)
	}
	if w := get(t, h, identity.Person, job+"/out/none"); w.Code != 404 {
		t.Errorf("%d for a file that does not exist", w.Code)
	}
}

// isHarmless checks the headers of a stranger's file.
func isHarmless(t *testing.T, path string, w *httptest.ResponseRecorder) {
	t.Helper()
	if csp := w.Header().Get("Content-Security-Policy"); w.Code != 200 || !strings.HasPrefix(csp, "sandbox; default-src 'none';") || strings.Contains(csp, "allow-") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: %d %v", path, w.Code, w.Header())
	}
}

// The files of a skill are shown as text, or downloaded.
func TestSkillFiles(t *testing.T) {
	h := newServer(t, newDirectory(), nil)
	page := get(t, h, identity.Person, reportPath+"/files/SKILL.md").Body.String()
	harmless(t, page)
	if !strings.Contains(page, `# A\u202e`) || !strings.Contains(page, "&lt;script&gt;") {
		t.Error(page)
	}
	if page := get(t, h, identity.Person, reportPath+"/files/p.png").Body.String(); !strings.Contains(page, `<img class="picture" src="`+reportPath+`/raw/p.png"`) {
		t.Error(page)
	}
	if page := get(t, h, identity.Person, reportPath+"/files/empty").Body.String(); !strings.Contains(page, "This file is empty.") {
		t.Error(page)
	}
	for path, kind := range map[string]string{"p.png": "image/png", "a%20b/x.svg": "application/octet-stream", "SKILL.md": "application/octet-stream"} {
		w := get(t, h, identity.Person, reportPath+"/raw/"+path)
		isHarmless(t, path, w)
		if w.Header().Get("Content-Type") != kind {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
	for _, path := range []string{"/files/.git/config", "/raw/none", "/files/a%20b", "/raw/%2Fetc%2Fpasswd", "/raw/..%2Fx"} {
		if w := get(t, h, identity.Person, reportPath+path); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	d := newDirectory()
	d.skill.Blocked = "it has changed"
	if w := get(t, newServer(t, d, nil), identity.Token, reportPath+"/files/SKILL.md"); w.Code != 403 {
		t.Errorf("a token reads a blocked skill: %d", w.Code)
	}
}

// A change is accepted by a person alone, and only as it was seen.
func TestAccept(t *testing.T) {
	all := &accepted{compared: &pins.Comparison{Digest: "sha256:new", Pin: &pins.Pin{Acceptance: pins.Acceptance{AcceptedDigest: "sha256:old"}}, Diff: "+x\n"}}
	h := newServer(t, newDirectory(), all)
	if page := get(t, h, identity.Person, reportPath).Body.String(); !strings.Contains(page, "Changed since it was accepted") || !strings.Contains(page, `value="sha256:new"`) {
		t.Error(page)
	}
	for _, test := range []struct {
		kind   identity.Kind
		digest string
		code   int
	}{{identity.Token, "sha256:new", 403}, {identity.Anonymous, "sha256:new", 403}, {identity.Person, "sha256:seen", 400}, {identity.Person, "sha256:new", 303}} {
		if all.digest != "" {
			t.Errorf("accepted before %v", test)
		}
		if w := post(t, h, test.kind, reportPath+"/accept", url.Values{"digest": {test.digest}}); w.Code != test.code {
			t.Errorf("%v: %d %s", test, w.Code, w.Body)
		}
	}
	if all.digest != "sha256:new" {
		t.Errorf("accepted %q", all.digest)
	}
}

func TestShellWords(t *testing.T) {
	got, want := shellWords([]string{"a b/c", "it's $HOME", "--x", "a\u202eb\n", "", "\x00"}), `'a b/c' "it's \$HOME" --x $'a\u202eb\n' '' …`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNextScreen(t *testing.T) {
	for next, want := range map[string]string{
		"": "/ui/skills/s", "/ui/?q=a": "/ui/?q=a#skill-s", "https://e.example/ui/": "/ui/skills/s", "//e.example/ui/": "/ui/skills/s", "/other": "/ui/skills/s", "/ui/../x": "/ui/skills/s", `/ui/\x`: "/ui/skills/s", "javascript:/ui/": "/ui/skills/s",
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(url.Values{"next": {next}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if got := nextScreen(r, "s"); got != want {
			t.Errorf("%q: %q, want %q", next, got, want)
		}
	}
}
