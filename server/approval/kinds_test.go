package approval

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// shop returns a workspace with the folders data and old, links that lead out of data, and
// a call with paths.
func shop(t *testing.T) (dir string, call func(change func(*run.Proposal)) *run.Proposal) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "data", "in"), 0o755), os.Mkdir(filepath.Join(dir, "old"), 0o755),
		os.Symlink(filepath.Join(dir, "old"), filepath.Join(dir, "data", "away")),
		os.Symlink(filepath.Join(dir, "old", "none"), filepath.Join(dir, "data", "dangling")),
		os.Symlink("in", filepath.Join(dir, "data", "within")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(change func(*run.Proposal)) *run.Proposal {
		p := proposed(nil)
		p.Command.Grant.Workspaces = []string{dir}
		p.Skill.Entry.Args = skills.Flags{{Name: "dir", Path: true}, {Name: "to", Path: true}, {Name: "pattern"}, {Name: "text"}}
		p.Args = map[string]any{"dir": filepath.Join(dir, "data"), "pattern": "*.csv"}
		if change != nil {
			change(p)
		}
		return p
	}
}

// arg returns a change of one argument.
func arg(name string, value any) func(*run.Proposal) {
	return func(p *run.Proposal) { p.Args[name] = value }
}

// A yes for the paths below a folder covers other paths there, wherever links lead, and
// nothing else that a yes to all calls would not cover.
func TestBelow(t *testing.T) {
	dir, call := shop(t)
	data := filepath.Join(dir, "data")
	below := map[string]func(*run.Proposal){
		"the same":           nil,
		"deeper":             arg("dir", data+"/in"),
		"not there yet":      arg("dir", data+"/new/file.csv"),
		"with a slash":       arg("dir", data+"/in/"),
		"a link that stays":  arg("dir", data+"/within/x"),
		"in the sandbox":     arg("dir", "/workspace/data/in"),
		"the list of itself": arg("dir", []any{data + "/in", data + "/x"}),
	}
	for name, change := range map[string]func(*run.Proposal){
		"a link away":       arg("dir", data+"/away"),
		"behind one":        arg("dir", data+"/away/x"),
		"a dangling link":   arg("dir", data+"/dangling"),
		"behind a dangling": arg("dir", data+"/dangling/x"),
		"not clean":         arg("dir", data+"/../old"),
		"not clean inside":  arg("dir", data+"/away/../in"),
		"a neighbour":       arg("dir", data+"2"),
		"the one above":     arg("dir", dir),
		"elsewhere":         arg("dir", "/etc"),
		"no path":           arg("dir", "in"),
		"one of a list":     arg("dir", []any{data + "/in", dir + "/old"}),
		"no text":           arg("dir", 7),
		"none":              func(p *run.Proposal) { delete(p.Args, "dir") },
		"another path":      arg("to", data+"/in"),
		"another pattern":   arg("pattern", "*"),
		"one more":          arg("text", "x"),
		"other files":       func(p *run.Proposal) { p.Digest = "sha256:2" },
		"another grant":     func(p *run.Proposal) { p.Command.Grant.Hosts = []string{"a.example:443"} },
		"other rules":       func(p *run.Proposal) { p.Decision.Version = "2" },
		"each time":         func(p *run.Proposal) { p.Decision.Each = true },
		"two people":        func(p *run.Proposal) { p.Decision.Signatures = 2 },
		"grown":             func(p *run.Proposal) { p.Decision.Grown = []string{"+ runs a shell"} },
		"another skill":     func(p *run.Proposal) { p.Skill.Dir = "/elsewhere" },
		"by a script":       func(p *run.Proposal) { p.Stack = []string{"outer"} },
	} {
		below[name+"!"] = change
	}
	for name, change := range below {
		a := newApprovals(t, nil)
		r := deferred(t, a, call(nil))
		if r.Question.Below.Folder != data || !slices.Contains(r.Question.Kinds, BelowFolder) {
			t.Fatalf("offered %+v, %q", r.Question.Below, r.Question.Kinds)
		}
		confirm(t, a, r, Local(), BelowFolder)
		for range 2 {
			if got := outcome(a.Approve(t.Context(), call(change))); (got == "runs") == strings.HasSuffix(name, "!") {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// The folder that is offered contains all paths of the call, and is in a workspace.
func TestCommonFolder(t *testing.T) {
	dir, call := shop(t)
	for want, args := range map[string]map[string]any{
		"/data":    {"dir": dir + "/data"},
		"/data/in": {"dir": dir + "/data/in/a.csv", "to": dir + "/data/in/b/c.csv"},
		"":         {"dir": dir + "/data", "to": dir + "/old"},
		"/old":     {"dir": dir + "/data/away/x", "to": "/skill/template.md"},
		"none":     {"dir": "/skill/template.md", "text": dir + "/data"},
	} {
		got := "none"
		if b := newQuestion(call(func(p *run.Proposal) { p.Args = args })).Below; b != nil {
			got = strings.TrimPrefix(b.Folder, dir)
		}
		if got != want {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
}

// A yes for the same arguments covers these, time and again, and no others.
func TestSame(t *testing.T) {
	a := newApprovals(t, nil)
	confirm(t, a, deferred(t, a, proposed(nil)), Local(), Same)
	for range 2 {
		if got := outcome(a.Approve(t.Context(), proposed(nil))); got != "runs" {
			t.Errorf("the same: %s", got)
		}
	}
	for name, change := range changes() {
		a := newApprovals(t, nil)
		confirm(t, a, deferred(t, a, proposed(nil)), Local(), Same)
		p := proposed(nil)
		change(p)
		if got := outcome(a.Approve(t.Context(), p)); got != "APPROVAL_REQUIRED+id!" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// office returns a plugin of three skills and a call of each, by name.
func office(t *testing.T) (dir string, call func(name string, change func(*run.Proposal)) *run.Proposal) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"docx", "xlsx", "pptx"} {
		write("skills/"+name+"/SKILL.md", name)
		write("skills/"+name+"/run.sh", "echo "+name)
	}
	return dir, func(name string, change func(*run.Proposal)) *run.Proposal {
		t.Helper()
		p := proposed(nil)
		p.Skill = &skills.Skill{Name: name, Plugin: "office", PluginDir: dir, Dir: filepath.Join(dir, "skills", name), Class: skills.Mutating, Entry: &skills.Entry{Script: "run.sh"}}
		var err error
		if p.Digest, err = snapshot.Digest(t.Context(), skillfs.DirFS(p.Skill.Dir)); err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(p)
		}
		return p
	}
}

// A yes for a plugin covers its skills as they were, with the grant that was shown or less.
func TestPlugin(t *testing.T) {
	covered := map[string]func(*run.Proposal){
		"as it is":        nil,
		"other arguments": arg("path", "b"),
		"less":            func(p *run.Proposal) { p.Command.Grant.Write = false },
		"nothing": func(p *run.Proposal) {
			p.Command.Grant.Workspaces, p.Decision.Version = nil, "2"
		},
		"another digest!":  func(p *run.Proposal) { p.Digest = "sha256:2" },
		"a neighbour's!":   func(p *run.Proposal) { p.Skill.Dir += "/../pptx" },
		"a host!":          func(p *run.Proposal) { p.Command.Grant.Hosts = []string{"a.example:443"} },
		"a workspace!":     func(p *run.Proposal) { p.Command.Grant.Workspaces = []string{"/work", "/home"} },
		"a hook!":          func(p *run.Proposal) { p.Command.Grant.Unprotected = []string{".git/hooks"} },
		"a variable!":      func(p *run.Proposal) { p.Variables = []string{"TOKEN"} },
		"calls!":           func(p *run.Proposal) { p.Decision.Calls = []string{"*"} },
		"dangerous!":       func(p *run.Proposal) { p.Decision.Class = skills.Dangerous },
		"each time!":       func(p *run.Proposal) { p.Decision.Each = true },
		"for the session!": func(p *run.Proposal) { p.Decision.Session = true },
		"two people!":      func(p *run.Proposal) { p.Decision.Signatures = 2 },
		"grown!":           func(p *run.Proposal) { p.Decision.Grown = []string{"+ runs a shell"} },
		"another plugin!":  func(p *run.Proposal) { p.Skill.Plugin = "other" },
		"another folder!":  func(p *run.Proposal) { p.Skill.PluginDir = filepath.Dir(p.Skill.PluginDir) },
		"by a script!":     func(p *run.Proposal) { p.Stack = []string{"outer"} },
		"in a workspace!":  func(p *run.Proposal) { p.Skill.Workspace, p.Skill.Trusted = "/work", true },
	}
	for name, change := range covered {
		a := newApprovals(t, nil)
		_, call := office(t)
		r := deferred(t, a, call("docx", nil))
		if len(r.Question.Plugin.Skills) != 3 {
			t.Fatalf("%+v", r.Question.Plugin)
		}
		confirm(t, a, r, Local(), WholePlugin)
		for _, skill := range []string{"docx", "xlsx"} {
			if got := outcome(a.Approve(t.Context(), call(skill, change))); (got == "runs") == strings.HasSuffix(name, "!") {
				t.Errorf("%s, %s: %s", skill, name, got)
			}
		}
		if revoked, err := a.Revoke(t.Context(), "office"); err != nil || len(revoked) == 0 {
			t.Errorf("revoke: %v, %v", revoked, err)
		}
		if got := outcome(a.Approve(t.Context(), call("xlsx", nil))); got != "APPROVAL_REQUIRED+id!" {
			t.Errorf("revoked: %s", got)
		}
	}
}

// The kinds that are offered are few, none of them by a form, and none for what is asked
// about each time.
func TestKindsOffered(t *testing.T) {
	_, inShop := shop(t)
	_, inOffice := office(t)
	for name, test := range map[string]struct {
		p    *run.Proposal
		want []Scope
	}{
		"paths":           {inShop(nil), []Scope{Once, Session, Same, BelowFolder, Always}},
		"a plugin":        {inOffice("docx", nil), []Scope{Once, Session, Same, WholePlugin, Always}},
		"no arguments":    {inShop(func(p *run.Proposal) { p.Args = nil }), []Scope{Once, Session, Always}},
		"dangerous":       {inShop(func(p *run.Proposal) { p.Decision.Class = skills.Dangerous }), []Scope{Once}},
		"each":            {inOffice("docx", func(p *run.Proposal) { p.Decision.Each = true }), []Scope{Once}},
		"two people":      {inShop(func(p *run.Proposal) { p.Decision.Signatures = 2 }), []Scope{Once}},
		"approve: always": {inOffice("docx", func(p *run.Proposal) { p.Decision.Always = true }), []Scope{Always, Once}},
		"other files":     {inOffice("docx", func(p *run.Proposal) { p.Digest = "sha256:0" }), []Scope{Once, Session, Same, Always}},
	} {
		r := deferred(t, newApprovals(t, nil), test.p)
		if !slices.Equal(r.Question.Answers(), test.want) {
			t.Errorf("%s: %q, want %q", name, r.Question.Answers(), test.want)
		}
		for _, kind := range []string{`"same"`, `"below"`, `"plugin"`} {
			if strings.Contains(string(r.Question.schema()), kind) {
				t.Errorf("%s: a form offers %s", name, kind)
			}
		}
	}
}
