package trust

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newWorkspaces(t *testing.T) (w *Workspaces, s *store.Store, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	state := filepath.Join(dir, "state")
	s = store.New(filepath.Join(state, "skills-mcp.db"), nil)
	t.Cleanup(func() { must(t, s.Close()) })
	return New(s, seal.New(filepath.Join(state, "key"), nil), nil), s, dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Trust is for the folder that was proposed, and ends when another one, or a link, takes
// its place. It comes back with the folder.
func TestTrustBelongsToTheFolder(t *testing.T) {
	w, s, dir := newWorkspaces(t)
	project, aside := filepath.Join(dir, "project"), filepath.Join(dir, "aside")
	must(t, os.MkdirAll(filepath.Join(project, "inner"), 0o755))
	check := func(want bool, state State) {
		t.Helper()
		if got := w.Trusts(t.Context(), project); got != want {
			t.Errorf("trusted: %t", got)
		}
		all, err := w.List(t.Context())
		if err != nil || len(all) != 1 || all[0].State != state {
			t.Errorf("list %+v, %v", all, err)
		}
	}
	if w.Trusts(t.Context(), project) || s.Exists() {
		t.Error("trusted without a decision, or looking makes a store")
	}
	proposed, err := w.Propose(project)
	must(t, err)
	must(t, w.Trust(t.Context(), proposed))
	check(true, Trusted)
	for _, other := range []string{dir, filepath.Join(project, "inner"), project + "/", filepath.Join(dir, "none")} {
		if w.Trusts(t.Context(), other) {
			t.Errorf("%s is trusted", other)
		}
	}
	must(t, os.Rename(project, aside))
	check(false, Gone)
	must(t, os.Symlink(aside, project))
	check(false, Replaced)
	if _, err := w.Propose(project); err == nil {
		t.Error("a link was proposed")
	}
	must(t, os.Remove(project))
	must(t, os.Mkdir(project, 0o755))
	check(false, Replaced)
	must(t, os.Remove(project))
	must(t, os.Rename(aside, project))
	check(true, Trusted)
	if found, err := w.Untrust(t.Context(), project); !found || err != nil || w.Trusts(t.Context(), project) {
		t.Errorf("found %t, %v", found, err)
	}
}

// A row that something else writes, or changes, does not count.
func TestForgedRow(t *testing.T) {
	w, s, dir := newWorkspaces(t)
	path, _, err := identify(dir)
	must(t, err)
	proposed, err := w.Propose(dir)
	must(t, err)
	must(t, w.Trust(t.Context(), proposed))
	rows, err := s.Decisions(t.Context(), "workspace", store.DecisionFilter{})
	must(t, err)
	inner := filepath.Join(dir, "inner")
	must(t, os.Mkdir(inner, 0o755))
	_, innerFolder, err := identify(inner)
	must(t, err)
	moved, unsigned := rows[0], rows[0]
	moved.Key = inner
	moved.Body, err = json.Marshal(trusted{Path: inner, Folder: innerFolder})
	must(t, err)
	unsigned.Proofs, unsigned.MAC = nil, nil
	copied := rows[0]
	copied.Key = filepath.Join(dir, "copy")
	must(t, os.Mkdir(copied.Key, 0o755))
	must(t, w.table.Seal(&copied)) // as a program can that reads the key
	must(t, s.ChangeDecisions(t.Context(), store.Quiet, "workspace", func(tx *store.Decisions) error {
		return errors.Join(tx.Put(moved), tx.Put(copied))
	}))
	if w.Trusts(t.Context(), copied.Key) || !w.Trusts(t.Context(), path) {
		t.Error("a signature counts for another folder, or the real one not")
	}
	must(t, s.ChangeDecisions(t.Context(), store.Quiet, "workspace", func(tx *store.Decisions) error {
		return errors.Join(tx.Put(unsigned), tx.Remove(copied.Key))
	}))
	if w.Trusts(t.Context(), path) || w.Trusts(t.Context(), inner) {
		t.Error("a forged row counts")
	}
	if all, err := w.List(t.Context()); len(all) > 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
}

// The skills that a person trusts with a workspace are those that they were shown.
func TestSkills(t *testing.T) {
	w, _, dir := newWorkspaces(t)
	tool := &skills.Skill{Name: "tool", Workspace: dir, File: "/tool"}
	first := &skills.Skill{Name: "first", Workspace: dir, File: "/first", Tools: []*skills.Skill{tool}}
	tool.Of = first
	catalog := &skills.Catalog{Skills: []*skills.Skill{first, tool, {Name: "other", Workspace: "/other", File: "/other"}}}
	proposed, err := w.Propose(dir)
	must(t, err)
	if all := w.Skills(proposed); all != nil {
		t.Errorf("without a catalog: %v", all)
	}
	w.Apply(t.Context(), catalog)
	proposed, err = w.Propose(dir)
	must(t, err)
	if all := w.Skills(proposed); len(all) != 1 || all[0] != first {
		t.Errorf("skills %v", all)
	}
	second := &skills.Skill{Name: "second", Workspace: dir, File: "/second"}
	w.Apply(t.Context(), &skills.Catalog{Skills: append(catalog.Skills, second)})
	if all := w.Skills(proposed); all != nil {
		t.Errorf("skills that were not shown: %v", all)
	}
}

// The changes name the skills that take names first, then those that ask for something.
func TestChanges(t *testing.T) {
	skill := func(name, prefix, workspace string, entry *skills.Entry, class skills.Class) *skills.Skill {
		return &skills.Skill{Name: name, Prefix: prefix, Workspace: workspace, Entry: entry, Class: class, File: "/" + name}
	}
	asks := &skills.Entry{Network: []string{"b:443", "a:443", "a:443"}, Env: []string{"KEY"}}
	caller := skill("caller", "", "/work", &skills.Entry{}, skills.Safe)
	caller.Calls, caller.Asks = []string{"deploy"}, []skills.Asked{skills.AskModel}
	catalog := &skills.Catalog{Skills: []*skills.Skill{
		caller, skill("deploy", "", "", nil, skills.Safe), skill("elsewhere", "", "/other", asks, skills.Dangerous),
		skill("plain", "", "/work", nil, skills.Safe), skill("safe", "", "/work", &skills.Entry{}, skills.Safe),
		skill("wipe", "", "/work", &skills.Entry{}, skills.Dangerous), skill("deploy", "workspace", "/work", asks, skills.Mutating),
	}}
	want := []string{
		"deploy: mutating; connects to a:443, b:443; reads the variables KEY; takes the name of /deploy",
		"caller: safe; asks the model; calls deploy", "wipe: dangerous", "2 other skills, which ask for nothing",
	}
	if diff := cmp.Diff(want, Changes(catalog, "/work")); diff != "" {
		t.Error(diff)
	}
	catalog.Skills = slices.Delete(catalog.Skills, 4, 5)
	if all := Changes(catalog, "/work"); all[len(all)-1] != "one other skill, which asks for nothing" {
		t.Errorf("%q", all)
	}
}
