package scan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// repository writes a project and a home folder that have skills of the same names, and
// returns their roots.
func repository(t *testing.T) (work, home string, roots []Root) {
	t.Helper()
	dir := realTempDir(t)
	work, home = filepath.Join(dir, "work"), filepath.Join(dir, "home")
	for _, top := range []string{work, home} {
		write(t, top, "skills/deploy/SKILL.md", skillText("deploy"))
		write(t, top, "plugins/team/plugin.json", `{"name": "team"}`)
		write(t, top, "plugins/team/skills/tidy/SKILL.md", skillText("tidy"))
	}
	write(t, work, "skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n")
	write(t, work, "skills/a/tools.yaml", "tools: [{name: x, script: x.sh}]")
	write(t, work, "skills/a/x.sh", "echo")
	write(t, work, "plugins/team/commands/go.md", "Go.")
	write(t, home, "plugins/team/skills/mine/SKILL.md", skillText("mine"))
	write(t, home, "skills/own/SKILL.md", skillText("own"))
	in := func(top string, source skills.Source, within string) []Root {
		return []Root{
			{Source: source, Dir: filepath.Join(top, "skills"), Within: within},
			{Source: source, Dir: filepath.Join(top, "plugins"), Within: within, Plugins: true},
		}
	}
	return work, home, append(in(work, skills.SourceSession, work), in(home, skills.SourceUser, "")...)
}

// origins lists the skills and plugins of a catalog, and whether they are of an untrusted
// workspace (?) or a trusted one (!).
func origins(catalog *skills.Catalog) (all []string) {
	mark := func(name, workspace string, untrusted bool) string {
		switch {
		case untrusted:
			return name + " ?"
		case workspace != "":
			return name + " !"
		}
		return name
	}
	for _, s := range catalog.Skills {
		all = append(all, mark(s.QualifiedName(), s.Workspace, s.Untrusted()))
	}
	for _, p := range catalog.Plugins {
		all = append(all, "plugin "+mark(p.QualifiedName(), p.Workspace, p.Untrusted()))
	}
	return all
}

// A workspace's skills come first if the person trusts it. If not, they take no name of
// another skill or plugin. Each scan asks again, and rereads nothing for that.
func TestWorkspace(t *testing.T) {
	work, home, roots := repository(t)
	untrusted := []string{
		"a ?", "a__x ?", "deploy", "own", "team/mine", "team/tidy",
		"workspace/deploy ?", "workspace/team/go ?", "workspace/team/tidy ?", "plugin team", "plugin workspace/team ?",
	}
	trusted := []string{
		"a !", "a__x !", "deploy !", "own", "team/go !", "team/mine", "team/tidy !", "plugin team !", "plugin team",
	}
	trust := false
	scanner := NewScanner(roots, &Options{Trusted: func(workspace string) bool { return trust && workspace == work }})
	check := func(want []string, shadows int) func(*skills.Catalog, error) {
		return func(catalog *skills.Catalog, err error) {
			t.Helper()
			must(t, err)
			if diff := cmp.Diff(want, origins(catalog)); diff != "" {
				t.Error(diff)
			}
			if len(catalog.Shadowed) != shadows {
				t.Errorf("shadowed %v", catalog.Shadowed)
			}
		}
	}
	check(untrusted, 0)(scanner.Scan(t.Context()))
	write(t, work, "skills/deploy/SKILL.md", skillText("deploy")+"More.\n")
	check(untrusted, 0)(scanner.Rescan(t.Context(), []string{filepath.Join(work, "skills", "deploy", "SKILL.md")}))
	trust = true
	check(trusted, 2)(scanner.Rescan(t.Context(), nil))
	check(trusted, 2)(scanner.Scan(t.Context()))
	trust = false
	check(untrusted, 0)(scanner.Rescan(t.Context(), nil))

	// The person adds a skill, and one that they are writing still: the workspace's moves.
	write(t, home, "skills/a/SKILL.md", skillText("a"))
	catalog, err := scanner.Rescan(t.Context(), []string{filepath.Join(home, "skills", "a")})
	must(t, err)
	if a, err := catalog.Lookup("a"); err != nil || a.Untrusted() {
		t.Errorf("a is %v, %v", a, err)
	}
	if a, err := catalog.Lookup("workspace/a__x"); err != nil || a.Owner().QualifiedName() != "workspace/a" {
		t.Errorf("the workspace's is %v, %v", a, err)
	}
	write(t, home, "skills/a/SKILL.md", "---\nname: [\n---\n")
	catalog, err = scanner.Rescan(t.Context(), []string{filepath.Join(home, "skills", "a", "SKILL.md")})
	must(t, err)
	if _, err := catalog.Lookup("a"); err == nil {
		t.Error("the workspace has a name whose skill does not load")
	}

	// The person names folders of the workspace with roots of their own.
	must(t, os.RemoveAll(filepath.Join(home, "skills", "a")))
	check([]string{"a ?", "a__x ?", "deploy", "own", "team/go", "team/mine", "team/tidy", "plugin team", "plugin team"}, 2)(
		Scan(t.Context(), append(roots,
			Root{Source: skills.SourceExtra, Dir: filepath.Join(work, "skills", "deploy")},
			Root{Source: skills.SourceExtra, Dir: filepath.Join(work, "plugins"), Plugins: true}), nil))
}

// An untrusted workspace takes no URI either, whatever its skills are called.
func TestWorkspaceResources(t *testing.T) {
	work, home, roots := repository(t)
	write(t, work, "skills/a/SKILL.md", "---\nname: a\ndescription: d\nresources: [{uri: \"note:x\", file: x.sh}]\n---\n")
	write(t, home, "skills/own/SKILL.md", "---\nname: own\ndescription: d\nresources: [{uri: \"note:x\", file: SKILL.md}]\n---\n")
	for _, trusted := range []bool{false, true} {
		catalog, err := Scan(t.Context(), roots, &Options{Trusted: func(string) bool { return trusted }})
		must(t, err)
		want := map[bool]string{false: "own", true: "a"}[trusted]
		if all := catalog.Resources(); len(all) != 1 || all[0].Skill.Name != want {
			t.Errorf("trusted %t: resources %v", trusted, all)
		}
	}
}

// A name that could be mistaken for a person's gets a prefix: by case, accents, hidden
// characters, letters of other scripts, separators, by the name of its tool, as a bare
// name, by the folder that tells skills apart, as SOURCE:NAME.
func TestMistakable(t *testing.T) {
	for _, test := range []struct{ theirs, want string }{
		{"deploy", "workspace/deploy"},
		{"Deploy", "workspace/Deploy"},
		{"déploy", "workspace/déploy"},
		{"dep\u200dloy", "workspace/dep-loy"},
		{"dерlоy", "workspace/dерlоy"},
		{"ＤＥＰＬＯＹ", "workspace/ＤＥＰＬＯＹ"},
		{"DΕΡLΟΥ", "workspace/DΕΡLΟΥ"},
		{"de-ploy", "workspace/de-ploy"},
		{"team__tidy", "workspace/team__tidy"},
		{"team:other", "workspace/team:other"},
		{"team", "workspace/team"},
		{"Tidy", "workspace/Tidy"},
		{"workspace-deploy", "workspace-deploy"},
		{"user:other", "workspace/user:other"},
		{"user", "user"},
		{"deployer", "deployer"},
		{"技能", "技能"},
		{"🦊", "🦊"},
		{"_", "workspace/_"},
	} {
		dir := realTempDir(t)
		work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
		write(t, home, "skills/deploy/SKILL.md", skillText("deploy"))
		write(t, home, "plugins/team/plugin.json", `{"name": "team"}`)
		write(t, home, "plugins/team/skills/tidy/SKILL.md", skillText("tidy"))
		write(t, work, "skills/theirs/SKILL.md", skillText(test.theirs))
		catalog, err := Scan(t.Context(), []Root{
			{Source: skills.SourceSession, Dir: filepath.Join(work, "skills"), Within: work},
			{Source: skills.SourceUser, Dir: filepath.Join(home, "skills")},
			{Source: skills.SourceUser, Dir: filepath.Join(home, "plugins"), Plugins: true},
		}, nil)
		must(t, err)
		i := slices.IndexFunc(catalog.Skills, (*skills.Skill).Untrusted)
		if i < 0 || catalog.Skills[i].QualifiedName() != test.want || len(catalog.Skills) != 3 {
			t.Errorf("%q: %v, %v", test.theirs, origins(catalog), catalog.Problems)
		}
		for _, name := range []string{"deploy", "team/tidy", "tidy"} {
			if s, err := catalog.Lookup(name); err != nil || s.Untrusted() {
				t.Errorf("%q: %s is %v, %v", test.theirs, name, s, err)
			}
		}
	}
}

// The prefix itself may belong to the person.
func TestPrefixTaken(t *testing.T) {
	dir := realTempDir(t)
	work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
	for _, top := range []string{work, home} {
		write(t, top, "skills/deploy/SKILL.md", skillText("deploy"))
	}
	write(t, home, "plugins/workspace/plugin.json", `{"name": "workspace"}`)
	write(t, home, "plugins/workspace/skills/deploy/SKILL.md", skillText("deploy"))
	catalog, err := Scan(t.Context(), []Root{
		{Source: skills.SourceSession, Dir: filepath.Join(work, "skills"), Within: work},
		{Source: skills.SourceUser, Dir: filepath.Join(home, "skills")},
		{Source: skills.SourceUser, Dir: filepath.Join(home, "plugins"), Plugins: true},
	}, nil)
	must(t, err)
	if diff := cmp.Diff([]string{"deploy", "workspace-2/deploy ?", "workspace/deploy", "plugin workspace"}, origins(catalog)); diff != "" {
		t.Error(diff)
	}
}

// Agents take no name either.
func TestWorkspaceAgents(t *testing.T) {
	dir := realTempDir(t)
	work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
	for _, name := range []string{"work/agents/Reviewer.md", "work/agents/other.md", "work/plugins/team/agents/helper.md", "home/agents/reviewer.md"} {
		write(t, dir, name, "---\ndescription: d\n---\nText.\n")
	}
	for _, top := range []string{work, home} {
		write(t, top, "plugins/team/plugin.json", `{"name": "team"}`)
	}
	roots := []Root{
		{Source: skills.SourceSession, Dir: filepath.Join(work, "agents"), Within: work, Agents: true},
		{Source: skills.SourceSession, Dir: filepath.Join(work, "plugins"), Within: work, Plugins: true},
		{Source: skills.SourceUser, Dir: filepath.Join(home, "agents"), Agents: true},
		{Source: skills.SourceUser, Dir: filepath.Join(home, "plugins"), Plugins: true},
	}
	for trusted, want := range map[bool][]string{
		false: {"other", "reviewer", "workspace/Reviewer", "workspace/team/helper"},
		true:  {"Reviewer", "other", "reviewer", "team/helper"},
	} {
		catalog, err := Scan(t.Context(), roots, &Options{Trusted: func(string) bool { return trusted }})
		must(t, err)
		var names []string
		for _, a := range catalog.Agents {
			names = append(names, a.QualifiedName())
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("trusted %t: %s", trusted, diff)
		}
	}
}

// A workspace that is replaced while it is read is not trusted for what the trusted one
// was.
func TestReplacedWhileRead(t *testing.T) {
	workspace := t.TempDir()
	dir := filepath.Join(workspace, ".claude", "skills", "demo")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\ndescription: A demo.\n---\nText."), 0o644); err != nil {
		t.Fatal(err)
	}
	asked := 0
	trusted := func(string) bool { asked++; return asked == 1 }
	root := Root{Source: skills.SourceSession, Dir: filepath.Dir(dir), Within: workspace}
	catalog, err := Scan(t.Context(), []Root{root}, &Options{Trusted: trusted})
	if err != nil || len(catalog.Skills) != 1 || catalog.Skills[0].Trusted {
		t.Errorf("%+v, %v", catalog, err)
	}
	never := func(string) bool { asked++; return asked%2 == 0 }
	if _, err := Scan(t.Context(), []Root{root}, &Options{Trusted: never}); err == nil {
		t.Error("a workspace that is replaced all the time is read")
	}
}
