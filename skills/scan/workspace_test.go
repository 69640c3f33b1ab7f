package scan

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// TestWorkspace knows a workspace's skills by their location, whatever their name;
// a person's skill that one hides is reported and can still be found.
func TestWorkspace(t *testing.T) {
	dir := realTempDir(t)
	work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
	for _, top := range []string{work, home} {
		write(t, top, "skills/deploy/SKILL.md", skillText("deploy"))
		write(t, top, "plugins/team/plugin.json", `{"name": "team"}`)
	}
	write(t, work, "skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n")
	write(t, work, "skills/a/tools.yaml", "tools: [{name: x, script: x.sh}]")
	write(t, work, "skills/a/x.sh", "echo")
	write(t, work, "plugins/team/skills/tidy/SKILL.md", skillText("tidy"))
	write(t, work, "plugins/team/commands/go.md", "Go.")
	write(t, home, "plugins/team/skills/tidy/SKILL.md", skillText("tidy"))
	write(t, home, "plugins/team/skills/mine/SKILL.md", skillText("mine"))
	write(t, home, "skills/own/SKILL.md", skillText("own"))
	roots := func(top string, source skills.Source, within string) []Root {
		return []Root{
			{Source: source, Dir: filepath.Join(top, "skills"), Within: within},
			{Source: source, Dir: filepath.Join(top, "plugins"), Within: within, Plugins: true},
		}
	}
	both := append(roots(work, skills.SourceSession, work), roots(home, skills.SourceUser, "")...)
	scanner := NewScanner(both, nil)
	check := func(catalog *skills.Catalog, err error) {
		t.Helper()
		must(t, err)
		var from []string
		for _, s := range catalog.Skills {
			if s.Workspace != "" && s.Workspace != work {
				t.Errorf("%s is of %s", s.QualifiedName(), s.Workspace)
			}
			from = append(from, fmt.Sprintf("%s %t", s.QualifiedName(), s.Workspace != ""))
		}
		if diff := cmp.Diff([]string{"a true", "a__x true", "deploy true", "own false", "team/go true", "team/mine false", "team/tidy true"}, from); diff != "" {
			t.Error(diff)
		}
		var hidden []string
		for _, s := range catalog.Shadowed {
			by, _ := filepath.Rel(dir, s.By.File)
			hidden = append(hidden, fmt.Sprintf("%s by %s %t", s.Skill.QualifiedName(), filepath.ToSlash(by), s.Takes()))
		}
		slices.Sort(hidden)
		if diff := cmp.Diff([]string{
			"deploy by work/skills/deploy/SKILL.md true", "team/tidy by work/plugins/team/skills/tidy/SKILL.md true",
		}, hidden); diff != "" {
			t.Error(diff)
		}
		if taken := catalog.Taken(); len(taken) != 3 || taken[0].Path != filepath.Join(work, "plugins", "team", "plugin.json") {
			t.Errorf("taken %v", taken)
		}
	}
	check(scanner.Scan(t.Context()))
	write(t, work, "skills/deploy/SKILL.md", skillText("deploy")+"More.\n")
	check(scanner.Rescan(t.Context(), []string{filepath.Join(work, "skills", "deploy", "SKILL.md")}))

	// A workspace takes no URI either, whatever its skills are called.
	write(t, work, "skills/a/SKILL.md", "---\nname: a\ndescription: d\nresources: [{uri: \"note:x\", file: x.sh}]\n---\n")
	write(t, home, "skills/own/SKILL.md", "---\nname: own\ndescription: d\nresources: [{uri: \"note:x\", file: SKILL.md}]\n---\n")
	catalog, err := scanner.Scan(t.Context())
	must(t, err)
	if all := catalog.Resources(); len(all) != 1 || all[0].Skill.Name != "own" {
		t.Errorf("resources %v", all)
	}

	// The person names folders of the workspace with roots of their own.
	catalog, err = Scan(t.Context(), append(both,
		Root{Source: skills.SourceExtra, Dir: filepath.Join(work, "skills", "deploy")},
		Root{Source: skills.SourceExtra, Dir: filepath.Join(work, "plugins"), Plugins: true}), nil)
	must(t, err)
	var strange []string
	for _, s := range catalog.Skills {
		if s.Workspace != "" {
			strange = append(strange, s.QualifiedName())
		}
	}
	if diff := cmp.Diff([]string{"a", "a__x"}, strange); diff != "" || len(catalog.Taken()) != 0 {
		t.Error(diff, catalog.Taken())
	}
}
