package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// TestSources installs sources of every layout, and reports the refusals.
func TestSources(t *testing.T) {
	one := skill("one", "Does one.", "")
	two := skill("two", "Does two.", "")
	plugin := func(name string) string {
		return `{"name": "` + name + `", "version": "1.0.0", "description": "Has skills."}`
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		names []string
		all   bool
		want  string // the tree below the target, or the error
		note  string // the beginning of one
	}{
		{name: "a skill at the root", files: map[string]string{"SKILL.md": one, "a/b.txt": "b"},
			want: "skills/one/SKILL.md, skills/one/a/b.txt"},
		{name: "in the only folder of an archive", files: map[string]string{"repo-main/SKILL.md": one, "repo-main/LICENSE": "MIT"},
			want: "skills/one/LICENSE, skills/one/SKILL.md"},
		{name: "the only one of a repository", files: map[string]string{"README.md": "hi", "skills/x/SKILL.md": one},
			want: "skills/one/SKILL.md"},
		{name: "several, none chosen", files: map[string]string{"one/SKILL.md": one, "two/SKILL.md": two},
			want: "error: the source has 2 skills; choose with --skill NAME, or --all: one, two"},
		{name: "several, one chosen", files: map[string]string{"one/SKILL.md": one, "two/SKILL.md": two}, names: []string{"two"},
			want: "skills/two/SKILL.md"},
		{name: "several, all", files: map[string]string{"one/SKILL.md": one, "two/SKILL.md": two}, all: true,
			want: "skills/one/SKILL.md, skills/two/SKILL.md"},
		{name: "several, one that is not there", files: map[string]string{"one/SKILL.md": one, "two/SKILL.md": two}, names: []string{"three"},
			want: `error: the source has no "three"; it has one, two`},
		{name: "two of one name", files: map[string]string{"a/one/SKILL.md": one, "b/one/SKILL.md": skill("one", "Does another one.", "")}, names: []string{"one"},
			want: `error: the source has 2 called "one": a/one, b/one; choose one by its path`},
		{name: "by its path", files: map[string]string{"a/one/SKILL.md": one, "b/one/SKILL.md": skill("one", "Does another one.", "")}, names: []string{"b/one"},
			want: "skills/one/SKILL.md"},
		{name: "a skill with examples in it", files: map[string]string{"SKILL.md": one, "examples/two/SKILL.md": two},
			want: "skills/one/SKILL.md, skills/one/examples/two/SKILL.md"},
		{name: "a plugin at the root", files: map[string]string{".claude-plugin/plugin.json": plugin("kit"), "skills/one/SKILL.md": one},
			want: "plugins/kit/.claude-plugin/plugin.json, plugins/kit/skills/one/SKILL.md"},
		{name: "one skill of a plugin", files: map[string]string{".claude-plugin/plugin.json": plugin("kit"), "skills/one/SKILL.md": one, "skills/two/SKILL.md": two}, names: []string{"two"},
			want: "skills/two/SKILL.md"},
		{name: "a marketplace of two", files: map[string]string{
			".claude-plugin/marketplace.json": `{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "kit", "source": "./kit"}, {"name": "box", "source": "./box"}]}`,
			"kit/skills/one/SKILL.md":         one, "box/.claude-plugin/plugin.json": plugin("box"), "box/skills/two/SKILL.md": two},
			want: "error: the source has 2 skills; choose with --skill NAME, or --all: kit, box"},
		{name: "a plugin of a marketplace", files: map[string]string{
			".claude-plugin/marketplace.json": `{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "kit", "source": "./kit"}, {"name": "box", "source": "./box"}]}`,
			"kit/skills/one/SKILL.md":         one, "box/.claude-plugin/plugin.json": plugin("box"), "box/skills/two/SKILL.md": two}, names: []string{"kit"},
			want: "plugins/kit/.claude-plugin/marketplace.json, plugins/kit/skills/one/SKILL.md"},
		{name: "a plugin that its marketplace has elsewhere", files: map[string]string{
			".claude-plugin/marketplace.json": `{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "far", "source": {"source": "url", "url": "https://far.example/kit.git"}}]}`},
			want: "plugins/far/.claude-plugin/plugin.json, plugins/far/skills/two/SKILL.md"},
		{name: "a plugin that a command gets", files: map[string]string{
			".claude-plugin/marketplace.json": `{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "far", "source": {"source": "command", "command": "curl evil"}}]}`},
			want: "error: plugin far: the marketplace gets the plugin with a command of its own"},
		{name: "a pack of ongrid's, whose skills share a program", files: map[string]string{
			"a/skill.json": `{"name": "a_tool", "description": "Does a.", "entry": "../bin/tool"}`, "b/skill.json": `{"name": "b_tool", "description": "Does b.", "entry": "../bin/tool"}`, "bin/tool": "#!/bin/sh\necho '{}'\n"},
			want: "skills/pack/a/skill.json, skills/pack/b/skill.json, skills/pack/bin/tool"},
		{name: "a link to a file that skills share", files: map[string]string{"one/SKILL.md": one, "one/lib.sh": "-> ../shared/lib.sh", "one/same.sh": "-> lib.sh", "shared/lib.sh": "#!/bin/sh\n", "two/SKILL.md": two}, names: []string{"one"},
			want: "skills/one/SKILL.md, skills/one/lib.sh, skills/one/same.sh"},
		{name: "a link to a folder that skills share", files: map[string]string{"one/SKILL.md": one, "one/lib": "-> ../shared", "shared/a/lib.sh": "#!/bin/sh\n", "two/SKILL.md": two}, names: []string{"one"},
			want: "skills/one/SKILL.md, skills/one/lib/a/lib.sh"},
		{name: "a link out of the source", files: map[string]string{"SKILL.md": one, "key": "-> ../../../.ssh/id_rsa"},
			want: `error: skill one: "key": the link to "../../../.ssh/id_rsa" leads out of the folder; put the file in its place`},
		{name: "links beside the chosen skill", files: map[string]string{"one/SKILL.md": one, "two/SKILL.md": two, "two/gone": "-> nowhere", "docs/key": "-> /etc/passwd", "docs/over": "-> key"}, names: []string{"one"},
			want: "skills/one/SKILL.md", note: `links that lead out or nowhere are left out: ["docs/key" "docs/over" "two/gone"]`},
		{name: "a link in the chosen skill", files: map[string]string{"one/SKILL.md": one, "two/SKILL.md": two, "two/gone": "-> nowhere"}, names: []string{"one", "two"},
			want: `error: skill two: "two/gone": the link to "nowhere" leads to nothing; put the file in its place`},
		{name: "a link in a folder that the chosen skill links to", files: map[string]string{"one/SKILL.md": one, "one/lib": "-> ../shared", "shared/gone": "-> nowhere", "two/SKILL.md": two}, names: []string{"one"},
			want: `error: "shared/gone": the link to "nowhere" leads to nothing`},
		{name: "a link in one of all", files: map[string]string{"one/SKILL.md": one, "two/SKILL.md": two, "two/gone": "-> nowhere"}, all: true,
			want: "skills/one/SKILL.md", note: `left out: skill two: "two/gone": the link to "nowhere" leads to nothing`},
		{name: "a link to nothing as a skill", files: map[string]string{"one/SKILL.md": one, "two": "-> ../two"}, names: []string{"two"},
			want: `error: "two": the link to "../two" leads out of the folder`},
		{name: "a link to nothing as the file of a skill", files: map[string]string{"two/SKILL.md": "-> ../AGENTS.md"},
			want: `error: "two/SKILL.md": the link to "../AGENTS.md" leads to nothing`},
		{name: "no skill", files: map[string]string{"README.md": "hi"},
			want: "error: there is no skill in it; name a source with a SKILL.md, a plugin or a marketplace"},
		{name: "a skill that does not load", files: map[string]string{"SKILL.md": "---\nname: [\n---\n"},
			want: "error: it does not load: SKILL.md: "},
		{name: "a name that is another's folder", files: map[string]string{"a/SKILL.md": skill("../../etc", "Does harm.", "")},
			want: "skills/etc/SKILL.md"},
		{name: "two of which only the case differs", files: map[string]string{"a/SKILL.md": skill("Foo", "Does.", ""), "b/SKILL.md": skill("foo", "Does.", "")}, all: true,
			want: "error: skills/foo is also the folder of a in this source; install them one by one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.fake.set("https://example.com/pack.git", "1", test.files)
			f.fake.set("https://far.example/kit.git", "7", map[string]string{".claude-plugin/plugin.json": plugin("far"), "skills/two/SKILL.md": two})
			r := at1("https://example.com/pack.git")
			r.Names, r.All = test.names, test.all
			plan, err := f.Prepare(t.Context(), r)
			if err == nil {
				err = plan.Commit(t.Context())
			}
			want, fails := strings.CutPrefix(test.want, "error: ")
			if fails {
				if err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("got the error %v, want %s", err, want)
				}
				want = ""
			} else if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, dir := range []string{"plugins", "skills"} {
				for line := range strings.Lines(f.tree(dir)) {
					name, _, _ := strings.Cut(line, ":")
					got = append(got, dir+"/"+name)
				}
			}
			if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
				t.Error(diff)
			}
			if test.note != "" && !slices.ContainsFunc(plan.Fetched.Notes, func(n source.Note) bool { return strings.HasPrefix(n.Text, test.note) }) {
				t.Errorf("notes %v, want %s", plan.Fetched.Notes, test.note)
			}
			f.clean()
		})
	}
}

// The files that somebody else has added or changed survive each change.
func TestEditedFilesAreKept(t *testing.T) {
	for name, change := range map[string]func(f *fixture) (kept []string){
		"uninstall": func(f *fixture) []string {
			removed, err := f.Uninstall(f.t.Context(), "one")
			if err != nil {
				f.t.Fatal(err)
			}
			return removed.Kept
		},
		"update": func(f *fixture) []string {
			f.fake.set("one", "2", map[string]string{"SKILL.md": skill("one", "Does one.", "new"), "a.txt": "new", "run.sh": "#!/bin/sh\n"})
			plans := f.update()
			if edited := fmt.Sprint(plans[0].Items[0].Edited); edited != "[{skills/one a.txt changed} {skills/one notes/mine.txt added}]" {
				f.t.Error(edited)
			}
			return plans[0].Kept
		},
		"locked": func(f *fixture) []string {
			return f.commit(f.Locked(f.t.Context(), nil)).Kept
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.fake.set("one", "1", map[string]string{"SKILL.md": skill("one", "Does one.", "old"), "a.txt": "old", "run.sh": "#!/bin/sh\n"})
			f.install("one")
			write(t, filepath.Join(f.target.Skills, "one", "a.txt"), "edited")
			write(t, filepath.Join(f.target.Skills, "one", "notes", "mine.txt"), "mine")
			kept := change(f)
			if want := []string{filepath.Join(f.target.State, keptDir, "one")}; !slices.Equal(kept, want) {
				t.Errorf("kept %v", kept)
			}
			if got := f.tree(".state/kept"); !strings.Contains(got, "one/a.txt: edited\n") || !strings.Contains(got, "one/notes/mine.txt: mine\n") {
				t.Errorf("kept:\n%s", got)
			}
			f.clean()
		})
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// Nothing that is not ours is overwritten, and nothing of another source.
func TestConflicts(t *testing.T) {
	for name, test := range map[string]struct {
		before func(f *fixture)
		want   string
	}{
		"a folder of the person's":           {func(f *fixture) { write(f.t, filepath.Join(f.target.Skills, "one", "SKILL.md"), "mine") }, "skills/one is there already"},
		"one in capitals":                    {func(f *fixture) { write(f.t, filepath.Join(f.target.Skills, "ONE", "SKILL.md"), "mine") }, "skills/one is there already"},
		"a file":                             {func(f *fixture) { write(f.t, filepath.Join(f.target.Skills, "one"), "mine") }, "skills/one is there already"},
		"a skill of the name of another one": {func(f *fixture) { f.fake.set("other", "1", f.fake.sources["one"]); f.install("other") }, "skills/one is installed from other; uninstall it first"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.fake.set("one", "1", map[string]string{"SKILL.md": skill("one", "Does one.", "")})
			early, err := f.Prepare(t.Context(), at1("one"))
			if err != nil {
				t.Fatal(err)
			}
			test.before(f)
			before := f.tree("skills")
			plan, err := f.Prepare(t.Context(), at1("one"))
			if !errors.As(err, new(*ConflictError)) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("prepared %v, %v", plan, err)
			}
			if err := early.Commit(t.Context()); !errors.As(err, new(*ConflictError)) {
				t.Errorf("committed: %v", err)
			}
			if diff := cmp.Diff(before, f.tree("skills")); diff != "" {
				t.Error(diff)
			}
			f.clean()
		})
	}
}

// A change that fails in the middle is undone: all items or none.
func TestUndo(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 && runtime.GOOS != "linux" {
		t.Log("the system has no folders that their owner may not write to")
		return
	}
	f := newFixture(t)
	both := func(version string) map[string]string {
		return map[string]string{"alpha/SKILL.md": skill("alpha", "Does alpha.", version), "kit/.claude-plugin/plugin.json": `{"name": "kit", "description": "A kit."}`, "kit/skills/x/SKILL.md": skill("x", "Does x.", version)}
	}
	f.fake.set("both", "1", both("1"))
	r := at1("both")
	r.All = true
	f.commit(f.Prepare(t.Context(), r))
	before := f.tree("skills") + f.tree("plugins")
	f.fake.set("both", "2", both("2"))
	plan, err := f.Prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is broken")
	plan.installer.fail = func(step string) error {
		if step == "move skills/alpha" { // after plugins/kit
			return broken
		}
		return nil
	}
	if err := plan.Commit(t.Context()); !errors.Is(err, broken) {
		t.Errorf("committed: %v", err)
	}
	if diff := cmp.Diff(before, f.tree("skills")+f.tree("plugins")); diff != "" {
		t.Error(diff)
	}
	f.Installer.fail = nil
	if len(f.update()) != 1 {
		t.Error("it is not updated later")
	}
	f.clean()
}

// Locked makes a target what its lock says, or changes nothing.
func TestLocked(t *testing.T) {
	files := map[string]string{"one/SKILL.md": skill("one", "Does one.", ""), "two/SKILL.md": skill("two", "Does two.", ""), "two/run.sh": "#!/bin/sh\n"}
	setUp := func(t *testing.T) *fixture {
		first := newFixture(t)
		first.fake.set("team", "1", files)
		r := at1("team")
		r.All = true
		first.commit(first.Prepare(t.Context(), r))
		second := newFixture(t)
		second.fake.set("team", "1", files)
		data, err := os.ReadFile(filepath.Join(first.target.Dir, lock.Name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(second.target.Dir, lock.Name), string(data))
		return second
	}
	t.Run("from nothing", func(t *testing.T) {
		f := setUp(t)
		before, _ := os.ReadFile(filepath.Join(f.target.Dir, lock.Name))
		plan := f.commit(f.Locked(t.Context(), nil))
		if len(plan.Items) != 2 || len(plan.Items[1].Gained) == 0 {
			t.Errorf("%+v", plan.Items)
		}
		f.clean()
		after, _ := os.ReadFile(filepath.Join(f.target.Dir, lock.Name))
		if diff := cmp.Diff(string(before), string(after)); diff != "" {
			t.Error(diff)
		}
		fetches := f.fake.fetches
		if plan := f.commit(f.Locked(t.Context(), nil)); len(plan.Items) != 0 || f.fake.fetches != fetches {
			t.Error("it is fetched again")
		}
	})
	for name, test := range map[string]struct {
		publish func(f *fixture)
		want    string
	}{
		"another revision": {func(f *fixture) { f.fake.set("team", "2", files) }, `the source has the revision "2", and the lock says "1"`},
		"other files": {func(f *fixture) {
			f.fake.set("team", "1", map[string]string{"one/SKILL.md": files["one/SKILL.md"], "two/SKILL.md": skill("two", "Does two.", "and more"), "two/run.sh": "#!/bin/sh\n"})
		}, `the files at revision "1" have the digest`},
		"a mode": {func(f *fixture) {
			files := clone(files)
			files["two/run.sh"] = "no program"
			f.fake.set("team", "1", files)
		}, "have the digest"},
		"not there":   {func(f *fixture) { delete(f.fake.sources, "team") }, "no route to team"},
		"one is gone": {func(f *fixture) { files := clone(files); delete(files, "two/SKILL.md"); f.fake.set("team", "1", files) }, `no skill "two" any more`},
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t)
			test.publish(f)
			if _, err := f.Locked(t.Context(), nil); err == nil || !strings.Contains(err.Error(), test.want) || !errors.As(err, new(*EntryError)) {
				t.Errorf("got %v", err)
			}
			if got := f.tree("skills"); got != "" {
				t.Error(got)
			}
		})
	}
}

func clone(files map[string]string) map[string]string {
	all := map[string]string{}
	for name, content := range files {
		all[name] = content
	}
	return all
}

func TestVerify(t *testing.T) {
	f := newFixture(t)
	f.fake.set("one", "1", map[string]string{"SKILL.md": skill("one", "Does one.", ""), "run.sh": "#!/bin/sh\n", "data.txt": "data", "link": "-> data.txt"})
	f.install("one")
	dir := filepath.Join(f.target.Skills, "one")
	for _, step := range []struct {
		change func() error
		want   string
	}{
		{func() error { return nil }, ""},
		{func() error { return os.Chmod(filepath.Join(dir, "run.sh"), 0o644) }, "run.sh mode"},
		{func() error { return os.WriteFile(filepath.Join(dir, "data.txt"), []byte("DATA"), 0o644) }, "data.txt changed, run.sh mode"},
		{func() error { return os.Remove(filepath.Join(dir, "data.txt")) }, "data.txt missing, run.sh mode"},
		{func() error {
			return errors.Join(os.Remove(filepath.Join(dir, "link")), os.Symlink("SKILL.md", filepath.Join(dir, "link")))
		}, "data.txt missing, link link, run.sh mode"},
		{func() error { return os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755) }, ".git added, data.txt missing, link link, run.sh mode"},
		{func() error { return os.RemoveAll(dir) }, " missing"},
		{func() error { return os.MkdirAll(filepath.Join(dir, "empty"), 0o755) }, "SKILL.md missing, data.txt missing, link missing, run.sh missing"},
		{func() error { return errors.Join(os.RemoveAll(dir), os.Symlink(t.TempDir(), dir)) }, " link"},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		found, err := f.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range found {
			got = append(got, d.File+" "+string(d.Kind))
		}
		if diff := cmp.Diff(step.want, strings.Join(got, ", ")); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := f.Verify(t.Context(), "two"); !errors.As(err, new(*UnknownError)) || err.Error() != `"two" is not installed; installed are one` {
		t.Error(err)
	}
}

// Of entries whose source is out of reach each is told, and the others are updated.
func TestOffline(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"one", "two"} {
		f.fake.set(name, "1", map[string]string{"SKILL.md": skill(name, "Does "+name+".", "old")})
		f.install(name)
	}
	f.fake.set("one", "2", map[string]string{"SKILL.md": skill("one", "Does one.", "new")})
	delete(f.fake.sources, "two")
	var updated, failed []string
	for p, err := range f.Update(t.Context(), nil) {
		var entry *EntryError
		if errors.As(err, &entry) {
			failed = append(failed, entry.Error())
			continue
		}
		f.commit(p, err)
		updated = append(updated, p.Items[0].Path)
	}
	if !slices.Equal(updated, []string{"skills/one"}) || !slices.Equal(failed, []string{"skills/two: no route to two"}) {
		t.Errorf("updated %v, failed %v", updated, failed)
	}
	delete(f.fake.sources, "one")
	f.commit(f.Rollback(t.Context(), "one"))
	if plan := f.commit(f.Locked(t.Context(), nil)); len(plan.Items) > 0 {
		t.Error("it wants to fetch what is there")
	}
	if found, err := f.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
	f.clean()
	if _, err := f.Uninstall(t.Context(), "one", "two"); err != nil {
		t.Error(err)
	}
	f.clean()
}

// An update of a part of the source that is not installed changes the revision alone.
func TestUpdateElsewhere(t *testing.T) {
	f := newFixture(t)
	files := map[string]string{"one/SKILL.md": skill("one", "Does one.", ""), "two/SKILL.md": skill("two", "Does two.", "")}
	f.fake.set("both", "1", files)
	f.install("both", "one")
	f.fake.set("both", "2", map[string]string{"one/SKILL.md": files["one/SKILL.md"], "two/SKILL.md": skill("two", "Does two.", "new")})
	if plans := f.update(); len(plans) > 0 {
		t.Errorf("%d plans", len(plans))
	}
	file, err := f.Installed()
	if err != nil || file.Entries["skills/one"].Revision != "2" {
		t.Errorf("%+v, %v", file, err)
	}
	f.clean()
}

// A project's lock and folders may be a stranger's.
func TestProject(t *testing.T) {
	dir := t.TempDir()
	f := fixtureIn(t, dir)
	f.target = Target{Dir: dir, Skills: filepath.Join(dir, ".agents", "skills"), Plugins: filepath.Join(dir, ".agents", "plugins"), State: filepath.Join(dir, ".agents", ".skills-mcp"), Project: true}
	f.Installer = New(f.target, &f.options)
	theirs := `{"version": 1, "custom": {"b": 1, "a": [2]}, "skills": {"other": {"source": "x/y", "sourceType": "github", "computedHash": "00", "extra": true}}}`
	write(t, filepath.Join(dir, lock.NPMName), theirs)
	f.fake.set("https://github.com/owner/repo.git", "1", map[string]string{"skills/one/SKILL.md": skill("one", "Does one.", ""), "skills/one/B.md": "b", "skills/one/a.md": "a"})
	plan := f.install("https://github.com/owner/repo.git")
	if plan.Shared != nil {
		t.Error(plan.Shared)
	}
	var shared struct {
		Custom json.RawMessage
		Skills map[string]map[string]any
	}
	data, _ := os.ReadFile(filepath.Join(dir, lock.NPMName))
	if err := json.Unmarshal(data, &shared); err != nil {
		t.Fatal(err)
	}
	one := shared.Skills["one"]
	if one["source"] != "owner/repo" || one["sourceType"] != "github" || one["skillPath"] != "skills/one/SKILL.md" || len(one["computedHash"].(string)) != 64 ||
		shared.Skills["other"]["extra"] != true || len(shared.Custom) == 0 {
		t.Errorf("%s", data)
	}
	f.clean()
	if _, err := f.Uninstall(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	data, _ = os.ReadFile(filepath.Join(dir, lock.NPMName))
	if strings.Contains(string(data), `"one"`) || !strings.Contains(string(data), `"other"`) {
		t.Errorf("%s", data)
	}
	write(t, filepath.Join(dir, lock.NPMName), "{ not JSON")
	plan = f.install("https://github.com/owner/repo.git")
	if plan.Shared == nil || !strings.Contains(plan.Shared.Error(), "left as it is") {
		t.Error(plan.Shared)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, lock.NPMName)); string(data) != "{ not JSON" {
		t.Errorf("%s", data)
	}

	t.Run("an entry elsewhere", func(t *testing.T) {
		data, _ := os.ReadFile(filepath.Join(dir, lock.Name))
		write(t, filepath.Join(dir, lock.Name), strings.Replace(string(data), ".agents/skills/one", "src/main", 1))
		for _, err := range []error{second(f.Verify(t.Context())), second(f.Uninstall(t.Context(), "one")), second(f.Locked(t.Context(), nil))} {
			if err == nil || !strings.Contains(err.Error(), `"src/main" lies in neither`) {
				t.Error(err)
			}
		}
		write(t, filepath.Join(dir, lock.Name), string(data))
	})
	t.Run("links out", func(t *testing.T) {
		outside := t.TempDir()
		write(t, filepath.Join(outside, "one", "SKILL.md"), "theirs")
		for _, link := range []string{f.target.Skills, filepath.Join(f.target.State, oldDir), filepath.Join(f.target.State, previousDir), f.target.State} {
			if err := errors.Join(os.RemoveAll(link), os.Symlink(outside, link)); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Uninstall(t.Context(), "one"); err == nil {
				t.Errorf("%s is followed", link)
			}
			if got := treeOf(t, outside); got != "one/SKILL.md: theirs\n" {
				t.Fatalf("the outside has changed: %s", got)
			}
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A plugin that a marketplace has elsewhere is outdated when that place has another
// revision, and is locked to both.
func TestOrigin(t *testing.T) {
	const market, far = "https://example.com/market.git", "https://far.example/kit.git"
	f := newFixture(t)
	f.fake.set(market, "1", map[string]string{".claude-plugin/marketplace.json": `{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "far", "source": {"source": "url", "url": "` + far + `"}}]}`})
	kit := func(body string) map[string]string {
		return map[string]string{".claude-plugin/plugin.json": `{"name": "far", "description": "Far."}`, "skills/two/SKILL.md": skill("two", "Does two.", body)}
	}
	f.fake.set(far, "7", kit("old"))
	f.install(market)
	if all, err := f.Outdated(t.Context()); err != nil || len(all) != 1 || all[0].Outdated {
		t.Errorf("%+v, %v", all, err)
	}
	f.fake.set(far, "8", kit("new"))
	if all, err := f.Outdated(t.Context()); err != nil || !all[0].Outdated || all[0].Revision != "8" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.RemoveAll(filepath.Join(f.target.Plugins, "far")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Locked(t.Context(), nil); err == nil || !strings.Contains(err.Error(), `plugins/far: the source has the revision "8", and the lock says "7"`) {
		t.Error(err)
	}
	if plans := f.update("far"); len(plans) != 1 || !strings.Contains(plans[0].Items[0].Diff, "there is nothing to compare with") {
		t.Errorf("%+v", plans)
	}
	f.clean()
}

func second[T any](_ T, err error) error { return err }

// The limits of the quarantine count the copies that links make.
func TestCopiesCount(t *testing.T) {
	f := newFixture(t)
	f.options.Limits = quarantine.Limits{Total: 100_000}
	files := map[string]string{"big.txt": strings.Repeat("x", 60_000), "two/SKILL.md": skill("two", "Does two.", "")}
	for n := range 3 {
		files[fmt.Sprintf("one/%d.txt", n)] = "-> ../big.txt"
	}
	files["one/SKILL.md"] = skill("one", "Does one.", "")
	f.fake.set("bomb", "1", files)
	r := at1("bomb")
	r.Names = []string{"one"}
	if _, err := f.Prepare(t.Context(), r); !errors.As(err, new(*quarantine.Error)) {
		t.Errorf("got %v", err)
	}
	f.clean()
}
