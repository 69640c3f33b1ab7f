package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/secrets"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// library returns the skills of the tests.
func library() fstest.MapFS {
	files := fstest.MapFS{
		"p/plugin.json":           {Data: []byte(`{"name": "demo", "version": "1.0", "description": "For tests.", "author": "Ann"}`)},
		"p/skills/guide/SKILL.md": {Data: []byte("---\nname: guide\ndescription: Tells how to do a thing.\n---\nFirst this, then rest.\n")},
	}
	for name, fields := range map[string]string{
		"run":     "params:\n  target: {type: string, description: What to run.}\n",
		"fail":    "",
		"hang":    "",
		"write":   "class: mutating\n",
		"private": "disable-model-invocation: true\n",
		"off":     "",
		"denied":  "",
	} {
		files["p/skills/"+name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Runs the thing " + name + ".\nscript: run.sh\n" + fields + "---\nCall it.\n")}
		files["p/skills/"+name+"/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
	}
	return files
}

// driver runs the skills of the library without a sandbox.
type driver struct{}

func (driver) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	name := cmd.Skill[strings.LastIndex(cmd.Skill, "/")+1:]
	_, _ = io.WriteString(cmd.Stdout, "first\nsecond\n")
	exit := &sandbox.Exit{Sandbox: "none"}
	switch name {
	case "fail":
		_, _ = io.WriteString(cmd.Stderr, "it is broken\n")
		exit.Code = 3
	case "hang":
		_, _ = io.WriteString(cmd.Stderr, "it hangs\n")
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "run":
		_, _ = io.WriteString(cmd.Stderr, "1/2 half\n2/2 whole\n")
		exit.Out.Taken = []sandbox.File{{Name: "sub/page.html", Data: []byte("<script>alert(1)</script>")}}
	}
	return exit, nil
}

func (driver) Close() error { return nil }

// secretValue is no part of any answer.
const secretValue = "ghp_0123456789abcdefghij"

// bench is a server with a real policy, record and approvals, and its two ways in.
type bench struct {
	t        testing.TB
	url      string
	contract *contract // checks each answer
}

// people are the principals by the name in the header X-As.
func people() map[string]identity.Principal {
	return map[string]identity.Principal{
		"person":    {Kind: identity.Person},
		"anonymous": {},
		"token":     {Kind: identity.Token, ID: "laptop"},
		"other":     {Kind: identity.Token, ID: "desktop"},
		"subject":   {Kind: identity.Subject, ID: "issuer|ann"},
		"ci":        {Kind: identity.Token, ID: "laptop", Profile: "ci"},
	}
}

// team are the people of a shared server: those with skills:approve have signed in by a
// browser.
func team() map[string]identity.Principal {
	browser := []identity.Scope{identity.ScopeRun, identity.ScopeApprove}
	return map[string]identity.Principal{
		"ann":           {Kind: identity.Subject, ID: "issuer|ann", Name: "Ann", Scopes: browser},
		"ann elsewhere": {Kind: identity.Subject, ID: "issuer|ann", Profile: "ci", Session: "2", Scopes: browser},
		"bea":           {Kind: identity.Subject, ID: "issuer|bea", Scopes: browser},
		"laptop":        {Kind: identity.Token, ID: "ann", Scopes: browser[:1]},
		"desktop":       {Kind: identity.Token, ID: "issuer|ann", Scopes: browser[:1]},
		"boss":          {Kind: identity.Token, ID: "boss", Scopes: append(browser[:2:2], identity.ScopeAdmin)},
		"chief":         {Kind: identity.Subject, ID: "issuer|chief", Scopes: append(browser[:2:2], identity.ScopeAdmin)},
	}
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return newBenchOf(t, policy.Confirm)
}

// newBenchOf is newBench with a mode of the policy.
func newBenchOf(t testing.TB, mode policy.Mode) *bench {
	t.Helper()
	dir := t.TempDir()
	state := store.New(filepath.Join(dir, "skills-mcp.db"), nil)
	cleanup(t, state.Close)
	approvals := approval.New(state, nil)
	key := seal.New(filepath.Join(dir, "key"), nil)
	rules := &policy.Options{
		Mode: mode, Book: policy.NewBook(state, key, nil), Approver: approvals,
		Profiles: map[string]policy.Profile{"ci": {Deny: []string{"demo/denied"}}},
	}
	decider := policy.New(rules)
	recorder := audit.New(state, nil)
	t.Cleanup(recorder.Close)
	runner := sandbox.New(driver{}, nil)
	cleanup(t, runner.Close)
	snapshots := snapshot.New(filepath.Join(dir, "snapshots"))
	files := library()
	filter := policy.NewFilter(decider, identity.Principal{Kind: identity.Model})
	reloader := &reloader{files: files, filter: filter}
	s := server.New(run.New(runner, snapshots, decider, &run.Options{Recorder: recorder, Standing: approval.Standing(approvals)}), &server.Options{Version: "test", Snapshots: snapshots, Reloader: reloader})
	t.Cleanup(s.Close)
	reloader.server = s
	if _, _, err := reloader.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	directory := s.Directory()
	running := jobs.New(directory.Run, nil)
	t.Cleanup(running.Close)
	accepted := pins.New(state, key, func(ctx context.Context, skill *skills.Skill, _ string) (digest, folder string, err error) {
		taken, err := snapshots.Take(ctx, skill.Files, snapshot.Use{})
		if err != nil {
			return "", "", err
		}
		return taken.Digest, taken.Dir, nil
	}, nil)
	kept := secrets.New(filepath.Join(dir, "secrets"), nil)
	if err := kept.SetCommand("", "BY_COMMAND", "printf not-run"); err != nil {
		t.Fatal(err)
	}
	for owner, value := range map[string]string{"": secretValue, "oidc/issuer|ann": "ann-" + secretValue} {
		if err := kept.Set(owner, "TOKEN", value); err != nil {
			t.Fatal(err)
		}
	}
	service := api.New(api.Options{
		Profiles: &manage.Profiles{ProfileOptions: manage.ProfileOptions{Rules: rules, Resolve: func(*policy.Profile) error { return nil }, Decider: func() *policy.Policy { return decider }}},
		Secrets: &manage.Secrets{SecretOptions: manage.SecretOptions{
			Store: kept, Rules: rules, Pins: func() (*pins.Pins, error) { return accepted, nil },
			Configured: func(r *policy.Rule) string {
				return map[bool]string{true: "the test's configuration"}[r.Pattern == "demo/denied"]
			},
		}},
		Subagents: newSubagents(),
		Directory: directory, Rules: filter, Approvals: approvals, Runs: store.NewRuns(state), Jobs: running,
		Page: func(id string) string { return "http://localhost/ui/approvals/" + id },
		Doctor: func(context.Context) (*api.Diagnosis, error) {
			return &api.Diagnosis{Sections: []api.Section{{Name: "sandbox", Findings: []sandbox.Finding{{Subject: "engine", Level: sandbox.LevelOK, Detail: "none"}}}}, OK: true}, nil
		},
	})
	mcp := transport.NewHTTP(s.Backend(), nil)
	cleanup(t, mcp.Close)
	mux := http.NewServeMux()
	mux.Handle(api.Path, service.Handler())
	mux.Handle(transport.Path, mcp)
	all := people()
	maps.Copy(all, team())
	maps.Copy(all, scoped())
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Late") != "" { // as after a run that takes longer than the server's patience
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(-time.Second))
		}
		mux.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), all[r.Header.Get("X-As")])))
	}))
	t.Cleanup(func() {
		running.Close() // ends the requests that wait
		h.Close()
		h.Client().CloseIdleConnections()
	})
	b := &bench{t: t, url: h.URL}
	b.contract = newContract(t, b.call("token", "GET", "/v1/openapi.json", "").body)
	return b
}

func cleanup(t testing.TB, end func() error) {
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

// An answer is that of the server, read to its end.
type answer struct {
	*http.Response
	body []byte
}

// problem returns the answer as a problem, and fails the test if it is none.
func (a *answer) problem(t testing.TB) *api.Problem {
	t.Helper()
	var p api.Problem
	if err := json.Unmarshal(a.body, &p); err != nil || a.Header.Get("Content-Type") != "application/problem+json" || p.Status != a.StatusCode {
		t.Fatalf("%s %s: %d %s %s", a.Request.Method, a.Request.URL, a.StatusCode, a.Header.Get("Content-Type"), a.body)
	}
	return &p
}

// decode returns the answer as a value, and fails the test unless it is fine.
func decode[T any](t testing.TB, a *answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.body, &v); err != nil || a.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s", a.Request.Method, a.Request.URL, a.StatusCode, a.body)
	}
	return v
}

// open sends a request; headers are "Name: value" each.
func (b *bench) open(ctx context.Context, who, method, path, body string, headers ...string) *http.Response {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("X-As", who)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	return response
}

// call sends a request, and reads its answer.
func (b *bench) call(who, method, path, body string, headers ...string) *answer {
	b.t.Helper()
	response := b.open(b.t.Context(), who, method, path, body, headers...)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	a := &answer{response, text}
	if bytes.Contains(text, []byte(secretValue)) {
		b.t.Errorf("%s %s answers with the value of a secret", method, path)
	}
	if b.contract != nil && strings.HasPrefix(path, api.Path) {
		if err := b.contract.check(a); err != nil {
			b.t.Error(err)
		}
	}
	return a
}

// mcp calls run_skill over MCP, and returns the code of its error, or "".
func (b *bench) mcp(who, skill string) run.Code {
	b.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "run_skill", "arguments": map[string]any{"name": skill, "params": map[string]any{}},
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	a := b.call(who, "POST", transport.Path, string(body), "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: run_skill")
	text := a.body
	if i := bytes.LastIndex(text, []byte("data: ")); i >= 0 {
		text = text[i+len("data: "):]
	}
	var reply struct {
		Result struct {
			StructuredContent struct{ Error *run.Error }
		}
		Error any
	}
	if err := json.Unmarshal(text, &reply); err != nil || reply.Error != nil {
		b.t.Fatalf("%v: %s", err, a.body)
	}
	if e := reply.Result.StructuredContent.Error; e != nil {
		return e.Code
	}
	return ""
}

// reloader publishes the library, as the rules of the person have it.
type reloader struct {
	files  fstest.MapFS
	filter *policy.Filter
	server *server.Server
}

// Reload implements [server.Reloader].
func (r *reloader) Reload(ctx context.Context) (*skills.Catalog, bool, error) {
	catalog, err := scan.Scan(ctx, []scan.Root{{Source: skills.SourceExtra, FS: r.files, Label: "bundled", Plugins: true}}, nil)
	if err != nil {
		return nil, false, err
	}
	return catalog, r.server.Publish(r.filter.Apply(ctx, catalog)), nil
}

// Refresh implements [server.Reloader].
func (r *reloader) Refresh(ctx context.Context, _ *skills.Skill) error {
	_, _, err := r.Reload(ctx)
	return err
}
