package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// A process serves a folder of skills as serve does: with the reloader, and the decisions
// of the person in a store, which other processes have open as well.
type process struct {
	*bench
	service *api.Service
	decider *policy.Policy
}

// orchards are the skills of the folder. A process refuses the texts of guarded.
func orchards() map[string]string {
	return map[string]string{
		"apple":   "description: Presses apples to cider.\nscript: run.sh",
		"guarded": "description: Has changed.\nscript: run.sh",
		"pear":    "description: Peels pears.",
		"private": "description: For persons.\nscript: run.sh\ndisable-model-invocation: true",
		"quince":  "description: Cooks quinces.\nscript: run.sh",
		"write":   "description: Writes files.\nscript: run.sh\nclass: mutating",
	}
}

// write writes a skill into a folder.
func writeSkill(t *testing.T, folder, name, fields string) {
	t.Helper()
	dir := filepath.Join(folder, "skills", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"SKILL.md": "---\nname: " + name + "\n" + fields + "\n---\nDo it.\n", "run.sh": "echo"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// newOrchard returns a folder with the skills of [orchards], and one with a category.
func newOrchard(t *testing.T) string {
	folder := t.TempDir()
	for name, fields := range orchards() {
		writeSkill(t, folder, name, fields)
	}
	dir := filepath.Join(folder, "skills", "zest")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"skill.json": `{"name": "zest", "description": "Grates zest.", "entry": "run.sh", "category": "fruit"}`, "run.sh": "echo"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// newProcess starts a process whose clients have a profile of the configuration.
func newProcess(t *testing.T, folder, profile string, expose exposure.Options) *process {
	t.Helper()
	state := store.New(filepath.Join(folder, "skills-mcp.db"), nil)
	t.Cleanup(func() {
		if err := state.Close(); err != nil {
			t.Error(err)
		}
	})
	runner := sandbox.New(ends(0, "done", ""), nil)
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	book := policy.NewBook(state, seal.New(filepath.Join(folder, "key"), nil), nil)
	decider := policy.New(&policy.Options{Book: book, Profiles: map[string]policy.Profile{"ci": {Deny: []string{"quince"}}, "team": {}}})
	filter := policy.NewFilter(decider, identity.Principal{Kind: identity.Model, Profile: profile})
	reloader := live.New(scan.NewScanner([]scan.Root{{Source: skills.SourceUser, Dir: filepath.Join(folder, "skills")}}, nil), &live.Options{Decisions: state, Filters: []live.Filter{filter}})
	snapshots := snapshot.New(t.TempDir())
	p := &process{bench: &bench{t: t}, decider: decider}
	p.Server = New(run.New(runner, snapshots, decider, nil), &Options{
		Snapshots: snapshots, Reloader: reloader, Expose: expose, FirstScan: time.Minute,
		Texts: func(_ context.Context, skill *skills.Skill) error {
			if skill.Name == "guarded" {
				return &run.Error{Code: run.PermissionDenied, Message: "it has changed"}
			}
			return nil
		},
	})
	t.Cleanup(p.Close)
	reloader.Start(t.Context(), p.Server)
	t.Cleanup(reloader.Close)
	p.service = api.New(api.Options{
		Directory: p.Directory(), Rules: filter,
		Doctor: func(context.Context) (*api.Diagnosis, error) { return &api.Diagnosis{OK: true}, nil },
	})
	return p
}

// as returns a context of a principal.
func (p *process) as(kind identity.Kind) context.Context {
	return identity.NewContext(p.t.Context(), identity.Principal{Kind: kind})
}

func (p *process) person() context.Context { return p.as(identity.Person) }

// names returns the names of the skills that a query selects, those that are off in
// brackets.
func (p *process) names(ctx context.Context, q api.SkillQuery) string {
	p.t.Helper()
	var all []string
	for first := true; first || q.Cursor != ""; first = false {
		page, err := p.service.Skills(ctx, q)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, item := range page.Items {
			name := item.Name
			if !item.Enabled {
				name = "(" + name + ")"
			}
			all = append(all, name)
		}
		q.Cursor = page.Next
	}
	return strings.Join(all, " ")
}

// run runs a skill for a principal, as the page does.
func (p *process) run(ctx context.Context, name string) error {
	skill, err := p.Directory().Find(ctx, name)
	if err != nil {
		return err
	}
	r, err := p.Directory().Run(ctx, run.Request{Call: run.Call{Principal: identity.FromContext(ctx)}, Skill: skill})
	if err == nil && r.Error != nil {
		err = r.Error
	}
	return err
}

// codeOf returns the code of an error, or "".
func codeOf(err error) run.Code {
	if err == nil {
		return ""
	}
	return run.AsError(err).Code
}

// code calls a tool of MCP and returns the code of its error, or "".
func (p *process) code(tool, name string) run.Code {
	p.t.Helper()
	var result struct{ Error struct{ Code run.Code } }
	if a := p.call(tool, fmt.Sprintf(`{"name":%q}`, name)); a.IsError {
		if err := json.Unmarshal(a.StructuredContent, &result); err != nil {
			p.t.Fatal(err)
		}
	}
	return result.Error.Code
}

// Whom MCP refuses a skill, the service refuses it with the same code. A person may more.
func TestServiceRefusesAsMCP(t *testing.T) {
	p := newProcess(t, newOrchard(t), "", exposure.Options{})
	if err := p.service.SetEnabled(p.person(), "quince", false); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ show, run, personRuns run.Code }{
		"apple":   {},
		"pear":    {"", run.InvalidParam, run.InvalidParam}, // instructions
		"guarded": {run.PermissionDenied, "", ""},
		"private": {"", run.PermissionDenied, ""},
		"write":   {"", run.ApprovalRequired, run.ApprovalRequired},
		"quince":  {run.NotFound, run.NotFound, run.NotFound},
		"none":    {run.NotFound, run.NotFound, run.NotFound},
	} {
		anonymous := p.as(identity.Anonymous)
		_, show := p.service.Skill(anonymous, name)
		if mcp := p.code("get_skill", name); codeOf(show) != want.show || mcp != want.show {
			t.Errorf("show %s: %q, over MCP %q, want %q", name, codeOf(show), mcp, want.show)
		}
		if mcp, got := p.code("run_skill", name), codeOf(p.run(anonymous, name)); got != want.run || mcp != want.run {
			t.Errorf("run %s: %q, over MCP %q, want %q", name, got, mcp, want.run)
		}
		if got := codeOf(p.run(p.person(), name)); got != want.personRuns {
			t.Errorf("run %s: a person: %q, want %q", name, got, want.personRuns)
		}
	}
	for kind, body := range map[identity.Kind]string{identity.Token: "", identity.Person: "Do it."} {
		if d, err := p.service.Skill(p.as(kind), "private"); err != nil || d.Body != body {
			t.Errorf("%s: the instructions %q, %v", kind, d.Body, err)
		}
	}
	if d, err := p.service.Skill(p.person(), "quince"); err != nil || !strings.HasPrefix(d.State, "off: ") || d.Tool != "" {
		t.Errorf("a skill that is off: %+v, %v", d, err)
	}
}

// The person's decisions are theirs alone, and so is knowledge of the machine.
func TestOnlyPersonsDecide(t *testing.T) {
	p := newProcess(t, newOrchard(t), "", exposure.Options{})
	for name, do := range map[string]func(context.Context) error{
		"enable":  func(ctx context.Context) error { return p.service.SetEnabled(ctx, "apple", true) },
		"disable": func(ctx context.Context) error { return p.service.SetEnabled(ctx, "apple", false) },
		"pin":     func(ctx context.Context) error { return p.service.SetPinned(ctx, "apple", true) },
		"doctor":  func(ctx context.Context) error { _, err := p.service.Doctor(ctx); return err },
	} {
		for _, kind := range []identity.Kind{identity.Anonymous, identity.Model, identity.Token, identity.Subject} {
			if code := codeOf(do(p.as(kind))); code != run.PermissionDenied {
				t.Errorf("%s by %q: %q", name, kind, code)
			}
		}
	}
	if skill, err := p.Directory().Find(p.person(), "apple"); err != nil || skill.PinnedByPerson {
		t.Errorf("something was decided: %+v, %v", skill, err)
	}
}

// An output is its principal's.
func TestDirectoryOutput(t *testing.T) {
	p := newProcess(t, newOrchard(t), "", exposure.Options{})
	p.invoke.outputs.Put(identity.Principal{Kind: identity.Token}.Key(), "skills-mcp://runs/r/stdout", output.Item{Data: []byte("x")})
	if _, ok := p.Directory().Output(p.as(identity.Token), "skills-mcp://runs/r/stdout"); !ok {
		t.Error("its principal does not find it")
	}
	if _, ok := p.Directory().Output(p.as(identity.Anonymous), "skills-mcp://runs/r/stdout"); ok {
		t.Error("another principal finds it")
	}
}

// A switch counts at once in the server of the page, and at the next call in another one.
func TestSwitchesApplyAtOnce(t *testing.T) {
	folder := newOrchard(t)
	one := exposure.Options{MaxTools: 1}
	page, other := newProcess(t, folder, "", one), newProcess(t, folder, "", one)
	all := "apple guarded pear private quince write zest"
	if got := page.names(page.person(), api.SkillQuery{}); got != all {
		t.Errorf("before: %s", got)
	}
	set := func(name string, enabled bool) {
		t.Helper()
		if err := page.service.SetEnabled(page.person(), name, enabled); err != nil {
			t.Error(err)
		}
	}
	set("apple", false)
	published := page.Directory().Published(t.Context())
	if got := page.names(page.person(), api.SkillQuery{}); got != "(apple) guarded pear private quince write zest" {
		t.Errorf("disabled, to a person: %s", got)
	}
	if got := page.names(page.as(identity.Token), api.SkillQuery{}); got != "guarded pear private quince write zest" {
		t.Errorf("disabled, to a token: %s", got)
	}
	for _, p := range []*process{page, other} {
		if code := p.code("run_skill", "apple"); code != run.NotFound {
			t.Errorf("a call of a disabled skill: %q", code)
		}
	}
	set("apple", true)
	if page.Directory().Published(t.Context()) == published {
		t.Error("the change is not counted")
	}
	for _, p := range []*process{page, other} {
		if code := p.code("run_skill", "apple"); code != "" {
			t.Errorf("a call of an enabled skill: %q", code)
		}
	}
	for _, pinned := range []bool{true, false} {
		if err := page.service.SetPinned(page.person(), "quince", pinned); err != nil {
			t.Fatal(err)
		}
		other.code("run_skill", "apple") // any call
		for name, p := range map[string]*process{"page": page, "other": other} {
			item, err := p.service.Item(p.person(), "quince")
			if err != nil || item.Pinned != pinned || (item.Tool != "") != pinned || pinned != (item.Why == "pinned by you") {
				t.Errorf("%s: pinned %t: %+v, %v", name, pinned, item, err)
			}
			if tools := p.ask("tools/list", `{}`); strings.Contains(tools, `"name":"quince"`) != pinned {
				t.Errorf("%s: pinned %t: %s", name, pinned, tools)
			}
		}
	}
}

func TestSkillQueries(t *testing.T) {
	p := newProcess(t, newOrchard(t), "", exposure.Options{})
	if err := p.service.SetEnabled(p.person(), "pear", false); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		q    api.SkillQuery
		want string
	}{
		{api.SkillQuery{Limit: 1}, "apple guarded (pear) private quince write zest"},
		{api.SkillQuery{Category: "fruit"}, "zest"},
		{api.SkillQuery{Source: skills.SourceUser, Limit: 4}, "apple guarded (pear) private quince write zest"},
		{api.SkillQuery{Source: skills.SourceSystem}, ""},
		{api.SkillQuery{State: "ready"}, "apple guarded quince zest"},
		{api.SkillQuery{State: "needs"}, "write"},
		{api.SkillQuery{State: "person"}, "private"},
		{api.SkillQuery{State: "off"}, "(pear)"},
		{api.SkillQuery{Text: "cider"}, "apple"},
		{api.SkillQuery{Text: "Peels"}, "(pear)"},
		{api.SkillQuery{Text: "cider", Category: "vegetables"}, ""},
		{api.SkillQuery{Text: "persons"}, "private"},
	} {
		if got := p.names(p.person(), test.q); got != test.want {
			t.Errorf("%+v: %s, want %s", test.q, got, test.want)
		}
	}
	page, err := p.service.Skills(p.person(), api.SkillQuery{Text: "cider"})
	if err != nil || !strings.Contains(page.Items[0].Match, "cider") || page.Items[0].Title != "Apple" {
		t.Errorf("%+v, %v", page.Items, err)
	}
	if got := p.names(p.as(identity.Token), api.SkillQuery{Text: "persons"}); got != "" {
		t.Errorf("a skill for persons, to a token: %s", got)
	}
}
