package scan

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// textOf is a SKILL.md of a name that others have, too.
func textOf(name, body string) string {
	return "---\nname: " + name + "\ndescription: d\n---\n" + body + "\n"
}

func TestSameNameInOneRoot(t *testing.T) {
	ongrid := func(description string) string {
		return `{"name": "x", "description": "` + description + `", "entry": "run.sh"}`
	}
	for name, test := range map[string]struct {
		files   map[string]string
		plugins bool
		want    []string
		shadows int
		warning string // part of the only one
	}{
		"owner and slug": {
			files: map[string]string{"alice/deploy/SKILL.md": textOf("deploy", "A."), "bob/deploy/SKILL.md": textOf("deploy", "B."), "bob/other/SKILL.md": skillText("other")},
			want:  []string{"alice/deploy", "bob/deploy", "other"}, warning: `2 different skills have the name "deploy" and are told apart by their folders: alice/deploy (root/alice/deploy/SKILL.md) and bob/deploy (root/bob/deploy/SKILL.md)`,
		},
		"the owner further up": {
			files: map[string]string{"alice/skills/deploy/SKILL.md": textOf("deploy", "A."), "bob/skills/deploy/SKILL.md": textOf("deploy", "B.")},
			want:  []string{"alice/deploy", "bob/deploy"}, warning: "told apart",
		},
		"folders of other names": {
			files: map[string]string{"deploy/SKILL.md": textOf("deploy", "A."), "deploy-v2/SKILL.md": textOf("deploy", "B.")},
			want:  []string{"deploy-v2/deploy", "root/deploy"}, warning: "told apart",
		},
		"one below the other": {
			files: map[string]string{"deploy/SKILL.md": textOf("deploy", "A."), "deploy/deploy/SKILL.md": textOf("deploy", "B.")},
			want:  []string{"deploy/deploy", "root/deploy"}, warning: "told apart",
		},
		"equal contents count once": {
			files: map[string]string{"a/deploy/SKILL.md": textOf("deploy", "A."), "a/deploy/ref/x": "1", "b/deploy/SKILL.md": textOf("deploy", "A."), "b/deploy/ref/x": "1"},
			want:  []string{"deploy"},
		},
		"equal but for a file": {
			files: map[string]string{"a/deploy/SKILL.md": textOf("deploy", "A."), "a/deploy/ref/x": "1", "b/deploy/SKILL.md": textOf("deploy", "A."), "b/deploy/ref/x": "2"},
			want:  []string{"a/deploy", "b/deploy"}, warning: "told apart",
		},
		"two copies and another": {
			files: map[string]string{"a/deploy/SKILL.md": textOf("deploy", "A."), "b/deploy/SKILL.md": textOf("deploy", "A."), "c/deploy/SKILL.md": textOf("deploy", "C.")},
			want:  []string{"a/deploy", "c/deploy"}, warning: "2 different skills",
		},
		"skill.json": {
			files: map[string]string{"a/skill.json": ongrid("one"), "a/run.sh": "#!/bin/sh\n", "b/skill.json": ongrid("two"), "b/run.sh": "#!/bin/sh\n"},
			want:  []string{"x"}, shadows: 1, warning: `the name "x" is taken by root/a/skill.json`,
		},
		"plugins of one name": {
			files: map[string]string{
				"one/p/plugin.json": `{"name": "p"}`, "one/p/skills/deploy/SKILL.md": textOf("deploy", "A."), "one/p/skills/a/SKILL.md": skillText("a"),
				"two/p/plugin.json": `{"name": "p"}`, "two/p/skills/deploy/SKILL.md": textOf("deploy", "B."), "two/p/skills/b/SKILL.md": skillText("b"),
			},
			plugins: true,
			want:    []string{"p/a", "p/b", "p/one/deploy", "p/two/deploy"}, warning: "told apart",
		},
		"a plugin is called as the owner": {
			files: map[string]string{
				"alice/plugin.json": `{"name": "alice"}`, "alice/skills/deploy/SKILL.md": skillText("deploy"),
				"p/plugin.json": `{"name": "p", "commands": ["x/run.md", "y/run.md"]}`, "p/x/run.md": "X.", "p/y/run.md": "Y.",
			},
			plugins: true,
			want:    []string{"alice/deploy", "p/x/run", "p/y/run"}, warning: "told apart",
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, test.files, func(r *Root) { r.Plugins = test.plugins })
			if diff := cmp.Diff(test.want, names(catalog)); diff != "" {
				t.Error(diff)
			}
			if len(catalog.Shadowed) != test.shadows {
				t.Errorf("shadowed: %v", catalog.Shadowed)
			}
			var warnings []string
			for _, p := range catalog.Problems {
				if p.Severity == skills.Warning && !strings.Contains(p.Message, "differs from the folder's") && !strings.Contains(p.Message, "plugin name") {
					warnings = append(warnings, p.Message)
				}
			}
			got := strings.Join(warnings, "\n")
			if test.warning == "" && got != "" || len(warnings) > 1 || !strings.Contains(got, test.warning) {
				t.Errorf("warnings:\n%s\nwant one of: %s", got, test.warning)
			}
		})
	}
}

// A bare name means either skill, and the qualified one its own; a rescan comes to
// the same, also where a copy stops to be one.
func TestSameNameIsFound(t *testing.T) {
	dir := realTempDir(t)
	write(t, dir, "alice/deploy/SKILL.md", textOf("deploy", "A."))
	write(t, dir, "bob/deploy/SKILL.md", textOf("deploy", "A."))
	roots := []Root{{Source: skills.SourceUser, Dir: dir}}
	scanner := NewScanner(roots, nil)
	catalog, err := scanner.Scan(t.Context())
	must(t, err)
	if diff := cmp.Diff([]string{"deploy"}, names(catalog)); diff != "" {
		t.Fatal(diff)
	}
	for _, body := range []string{"B.", "C.", "A.", "D."} {
		write(t, dir, "bob/deploy/SKILL.md", textOf("deploy", body))
		catalog, err = scanner.Rescan(t.Context(), []string{filepath.Join(dir, "bob", "deploy", "SKILL.md")})
		must(t, err)
		want, err := Scan(t.Context(), roots, nil)
		must(t, err)
		sameCatalog(t, want, catalog)
	}
	if _, err := catalog.Lookup("deploy"); err == nil || err.Error() != `"deploy" could be alice/deploy or bob/deploy` {
		t.Errorf("bare name: %v", err)
	}
	if s, err := catalog.Lookup("bob/deploy"); err != nil || s.Instructions != "D." || s.PlainToolName() != "bob__deploy" {
		t.Errorf("qualified name: %+v, %v", s, err)
	}
}

// A plugin that has the name of one with a higher priority hides those of its
// skills that both have, and no others.
func TestPluginsOfOneNameInTwoRoots(t *testing.T) {
	root := func(source skills.Source, label string, skills ...string) Root {
		tree := map[string]string{"p/plugin.json": `{"name": "p"}`}
		for _, name := range skills {
			tree["p/skills/"+name+"/SKILL.md"] = skillText(name)
		}
		return Root{Source: source, Label: label, Plugins: true, FS: files(tree)}
	}
	catalog, err := Scan(t.Context(), []Root{root(skills.SourceSession, "mine", "a"), root(skills.SourceUser, "yours", "a", "b")}, nil)
	must(t, err)
	if diff := cmp.Diff([]string{"p/a", "p/b"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	if len(catalog.Shadowed) != 1 || catalog.Shadowed[0].Skill.File != "yours/p/skills/a/SKILL.md" {
		t.Errorf("shadowed: %+v", catalog.Shadowed)
	}
	if len(catalog.Plugins) != 2 || len(catalog.Problems) > 0 {
		t.Errorf("%d plugins, problems:\n%s", len(catalog.Plugins), lines(catalog.Problems))
	}
}

// Colony's plugins name skills below skills/ by their folder alone.
func TestBareNamesOfSkills(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"p/plugin.json":                     `{"name": "p", "skills": ["code-complexity", "gone", "own"]}`,
		"p/skills/code-complexity/SKILL.md": skillText("code-complexity"),
		"p/own/SKILL.md":                    skillText("own"),
		"p/skills/own/SKILL.md":             skillText("own"),
	}, func(r *Root) { r.Plugins = true })
	if got := lines(catalog.Problems); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"gone" cannot be read`) || !strings.Contains(got, "p/own/SKILL.md: note: it is left out: it has the same files as root/p/skills/own/SKILL.md") {
		t.Errorf("problems:\n%s", got)
	}
	if diff := cmp.Diff([]string{"p/code-complexity", "p/own"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
}
