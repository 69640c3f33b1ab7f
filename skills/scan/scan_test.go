package scan

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// skillText is the SKILL.md of a skill that is fine.
func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: What " + name + " does.\n---\nDo it.\n"
}

func names(catalog *skills.Catalog) []string {
	var names []string
	for _, s := range catalog.Skills {
		names = append(names, s.QualifiedName())
	}
	return names
}

func TestScanFindsSkills(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"a/SKILL.md":                             skillText("a"),
		"group/b/SKILL.md":                       skillText("b"),
		"a/nested/c/SKILL.md":                    skillText("c"),
		"README.md":                              "no skill",
		"d/other.md":                             skillText("d"),
		".git/e/SKILL.md":                        skillText("e"),
		"node_modules/f/SKILL.md":                skillText("f"),
		"1/2/3/4/5/6/7/8/9/10/11/12/SKILL.md":    skillText("12"),
		"1/2/3/4/5/6/7/8/9/10/11/12/13/SKILL.md": skillText("13"),
		"1/2/3/4/5/6/7/8/9/10/11/12/bin/run.py":  "no skill lies here, so nobody is told",
		"g/SKILL.md/unexpectedly/a/dir":          "",
	})
	if diff := cmp.Diff([]string{"12", "a", "b", "c"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	const want = "root/1/2/3/4/5/6/7/8/9/10/11/12/13: error: it lies more than 12 folders below its root and is left out (name it with --skills, or raise scan.depth in the configuration)\n"
	if got := lines(catalog.Problems); got != want {
		t.Errorf("problems:\n%swant %s", got, want)
	}
}

func TestScanOneSkill(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "demo/SKILL.md", "---\ndescription: d\n---\n")
	catalog := scanDir(t, filepath.Join(dir, "demo"), false)
	if got := names(catalog); !slices.Equal(got, []string{"demo"}) {
		t.Errorf("skills %v", got)
	}
}

func TestScanFolderLimit(t *testing.T) {
	fsys := files(map[string]string{"a/SKILL.md": skillText("a"), "b/SKILL.md": skillText("b"), "c/SKILL.md": skillText("c"), "d/SKILL.md": skillText("d")})
	catalog, err := Scan(t.Context(), []Root{{Source: skills.SourceExtra, FS: fsys, Label: "root"}}, &Options{Folders: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(catalog); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("skills %v", got)
	}
	const want = "root/c: error: the root has more than 3 folders; those from this one on are left out (name the folders that have skills with --skills, or raise scan.folders in the configuration)\n"
	if got := lines(catalog.Problems); got != want {
		t.Errorf("problems:\n%swant:\n%s", got, want)
	}
}

// TestScanBoundsAreOfOthers leaves no skill out for folders inside of another one.
func TestScanBoundsAreOfOthers(t *testing.T) {
	tree := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		tree[name+"/SKILL.md"] = skillText(name)
		for _, folder := range []string{"assets", "references/x", "scripts/lib"} {
			tree[name+"/"+folder+"/file"] = ""
		}
	}
	tree["a/references/nested/SKILL.md"] = skillText("nested")
	tree["a/scripts/last/SKILL.md"] = skillText("last")
	for name, test := range map[string]struct {
		options  Options
		want     []string
		problems string
	}{
		"folders of skills": {Options{Folders: 17}, []string{"a", "b", "c", "last", "nested"}, ""},
		"too many inside of skills": {Options{Folders: 4}, []string{"a", "b", "c", "nested"},
			"root/a/scripts: note: skills have more than 4 folders inside, or one has more than 10000; no skill is looked for in those from this one on (name the folders that have skills with --skills)\n"},
		"none of them a skill": {Options{Folders: 7}, []string{"a", "b", "c", "last", "nested"},
			"root/b/assets: note: skills have more than 7 folders inside, or one has more than 10000; no skill is looked for in those from this one on (name the folders that have skills with --skills)\n"},
		"manifests": {Options{Manifests: 2}, []string{"a", "nested"},
			"root/a/scripts/last: error: the root has more than 2 skills; left out are this one and 2 more (name the folders that you use with --skills, or raise scan.manifests in the configuration)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			catalog, err := Scan(t.Context(), []Root{{Source: skills.SourceExtra, FS: files(tree), Label: "root"}}, &test.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, names(catalog)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.problems, lines(catalog.Problems)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScanMissingRoot(t *testing.T) {
	catalog := scanDir(t, filepath.Join(t.TempDir(), "later"), false)
	if len(catalog.Skills)+len(catalog.Problems) > 0 {
		t.Errorf("catalog %+v", catalog)
	}
}

func TestScanRootThatIsAFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "")
	catalog := scanDir(t, filepath.Join(dir, "file"), false)
	if got := lines(catalog.Problems); !strings.Contains(got, "neither a ZIP nor a tar.gz file") {
		t.Errorf("problems:\n%s", got)
	}
}

func TestPrecedence(t *testing.T) {
	roots := []Root{
		{Source: skills.SourceUser, Label: "user", FS: files(map[string]string{"a/SKILL.md": skillText("a"), "z/SKILL.md": skillText("z")})},
		{Source: skills.SourceUser, Label: "plugins", Plugins: true, FS: files(map[string]string{
			"p/plugin.json": `{"name": "p"}`, "p/skills/a/SKILL.md": skillText("a")})},
		{Source: skills.SourceSystem, Label: "system", FS: files(map[string]string{"a/SKILL.md": skillText("a"), "b/SKILL.md": skillText("b")})},
	}
	catalog, err := Scan(t.Context(), roots, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "p/a", "z"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	a, err := catalog.Lookup("a")
	if err != nil || a.Source != skills.SourceUser || a.File != "user/a/SKILL.md" {
		t.Errorf("a is %+v, %v", a, err)
	}
	var shadows []string
	for _, s := range catalog.Shadowed {
		shadows = append(shadows, s.Skill.File+" by "+s.By.File)
	}
	if diff := cmp.Diff([]string{"system/a/SKILL.md by user/a/SKILL.md"}, shadows); diff != "" {
		t.Error(diff)
	}
	// Only within one root is it a mistake: see TestSameNameInOneRoot.
	if got := lines(catalog.Problems); got != "" {
		t.Errorf("problems:\n%s", got)
	}
}

func TestPlugins(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"full/.claude-plugin/plugin.json": `{"name": "full", "version": "1.2", "description": "All of it.", "author": {"name": "Ann"}, "skills": ["./more", "single"], "hooks": {"x": 1}}`,
		"full/skills/a/SKILL.md":          skillText("a"),
		"full/more/b/SKILL.md":            skillText("b"),
		"full/single/SKILL.md":            skillText("single"),
		"full/elsewhere/c/SKILL.md":       skillText("c"),
		"bare/plugin.json":                `{"name": "bare", "author": "Bob", "skills": "extra"}`,
		"bare/extra/d/SKILL.md":           skillText("d"),
		"one/.claude-plugin/plugin.json":  `{"name": "one"}`,
		"one/SKILL.md":                    skillText("e"),
		"unnamed/plugin.json":             `{"skills": 5}`,
		"unnamed/skills/f/SKILL.md":       skillText("f"),
		"loose/SKILL.md":                  skillText("loose"),
	}, func(r *Root) { r.Plugins = true })
	if diff := cmp.Diff([]string{"bare/d", "full/a", "full/b", "full/single", "one/e", "unnamed/f"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	if p := catalog.Plugins[1]; p.Name != "full" || p.Version != "1.2" || p.Author != "Ann" || p.Description != "All of it." {
		t.Errorf("plugin %+v", p)
	}
	if p := catalog.Plugins[0]; p.Author != "Bob" {
		t.Errorf("plugin %+v", p)
	}
}

func TestPluginProblems(t *testing.T) {
	for name, test := range map[string]struct{ manifest, want string }{
		"no JSON":      {"{\n\"name\": \"p\",\n}", "p/plugin.json:3: error: it is not JSON: invalid character '}' looking for beginning of object key string (correct the JSON)"},
		"tabs":         {"{\n\t\"name\":\t\"p\",\n\t\"version\": []\n}\n", `p/plugin.json:3: warning: "version" is not text and is ignored (write text)`},
		"escapes":      {`{"name": "p\ud83d\ude00\/q", "version": []}`, `p/plugin.json:1: warning: "version" is not text and is ignored (write text)`},
		"no object":    {`["p"]`, `p/plugin.json:1: error: it is not a JSON object (write an object with a "name")`},
		"no name":      {`{}`, `p/plugin.json: warning: the plugin has no name; its folder's is used: "p" (add "name")`},
		"leaving path": {`{"name": "p", "skills": "../other"}`, `p/plugin.json: error: the skills path "../other" leads out of the plugin (put the skills into the plugin's folder)`},
		"missing path": {`{"name": "p", "skills": "gone"}`, `p/plugin.json: error: the skills path "gone" cannot be read: file does not exist (correct the path)`},
		"wrong type":   {"{\"name\": \"p\",\n\"version\": {\"a\": 1}}", `p/plugin.json:2: warning: "version" is not text and is ignored (write text)`},
		"taken name":   {`{"name": "first"}`, `p/plugin.json: warning: the plugin name "first" is also that of a/plugin.json; the skills of both are loaded (rename one of them)`},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, map[string]string{
				"a/plugin.json":       `{"name": "first"}`,
				"a/skills/b/SKILL.md": skillText("b"),
				"p/plugin.json":       test.manifest,
			}, func(r *Root) { r.Plugins, r.Label = true, "" })
			if got := lines(catalog.Problems); got != test.want+"\n" {
				t.Errorf("problems:\n%swant:\n%s", got, test.want)
			}
			if !slices.Contains(names(catalog), "first/b") {
				t.Error("the neighbour did not load")
			}
		})
	}
}

func TestImageRole(t *testing.T) {
	fsys := files(map[string]string{"a/SKILL.md": "---\nname: a\ndescription: d\nscript: run.sh\nsandbox_image_role: gpu\n---\n", "a/run.sh": ""})
	catalog, err := Scan(t.Context(), []Root{{FS: fsys, Label: "root"}}, &Options{ImageRole: func(role string) bool { return role == "default" }})
	if err != nil {
		t.Fatal(err)
	}
	if got := catalog.Skills[0].Unavailable; got != "no image is configured for role gpu" {
		t.Errorf("unavailable: %q", got)
	}
	if got, want := lines(catalog.Problems), "root/a/SKILL.md: error: no image is configured for role gpu (set images.gpu in the configuration)\n"; got != want {
		t.Errorf("problems:\n%swant:\n%s", got, want)
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	write(t, outside, "away/SKILL.md", skillText("away"))
	write(t, outside, "secret", "secret")
	write(t, dir, "real/SKILL.md", "---\nname: real\ndescription: d\nscript: run.sh\n---\n")
	write(t, dir, "lib/run.sh", "echo")
	write(t, dir, "stolen/SKILL.md", "---\nname: stolen\ndescription: d\nscript: run.sh\n---\n")
	write(t, dir, "inner/SKILL.md", "---\nname: inner\ndescription: d\nscript: link.sh\n---\n")
	write(t, dir, "inner/run.sh", "echo")
	link(t, "../real", dir, "zz-again")                             // the same skill by another name
	link(t, filepath.Join(dir, "real"), dir, "zz-absolute")         // and by an absolute link
	link(t, "..", dir, "real/loop")                                 // around
	link(t, "../lib/run.sh", dir, "real/run.sh")                    // out of the skill, inside of the root
	link(t, filepath.Join(outside, "secret"), dir, "stolen/run.sh") // out of everything
	link(t, "run.sh", dir, "inner/link.sh")                         // inside of the skill
	link(t, filepath.Join(outside, "away"), dir, "away")            // a skill out of the root
	link(t, "nowhere", dir, "dangling")

	// The temporary folder itself may be reached by a link.
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	catalog := scanDir(t, dir, false)
	if diff := cmp.Diff([]string{"inner"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	target, err := filepath.EvalSymlinks(filepath.Join(outside, "away"))
	if err != nil {
		t.Fatal(err)
	}
	want := root + "/away: warning: the link leads out of its root to " + target + " and was not followed (add --skills " + target + ")\n" +
		root + "/real/SKILL.md:4: error: script \"run.sh\" leads out of the skill's folder (put the script into the skill's folder)\n" +
		root + "/stolen/SKILL.md:4: error: script \"run.sh\" leads out of the skill's folder (put the script into the skill's folder)\n"
	if got := lines(catalog.Problems); got != want {
		t.Errorf("problems:\n%swant:\n%s", got, want)
	}
}

func TestStrict(t *testing.T) {
	fsys := fstest.MapFS{}
	for name, text := range map[string]string{
		"good/SKILL.md": skillText("good"), "other/SKILL.md": skillText("another"), "Big/SKILL.md": skillText("Big"), "under_score/SKILL.md": skillText("under_score"),
		"bare/SKILL.md": "---\nname: bare\n---\nDoes things.\n", "none/SKILL.md": "# Title\n\nDoes things.\n",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	catalog, err := Scan(t.Context(), []Root{{FS: fsys, Label: "root"}}, &Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `root/Big/SKILL.md:2: error: it is left out (scan.strict): the name "Big" is not one that the standard allows (correct it, or set scan.strict: false)
root/bare/SKILL.md: error: it is left out (scan.strict): there is no description (correct it, or set scan.strict: false)
root/none/SKILL.md: error: it is left out (scan.strict): the name "" is not one that the standard allows (correct it, or set scan.strict: false)
root/other/SKILL.md:2: error: it is left out (scan.strict): the name "another" differs from the folder's, "other" (correct it, or set scan.strict: false)
root/under_score/SKILL.md:2: error: it is left out (scan.strict): the name "under_score" is not one that the standard allows (correct it, or set scan.strict: false)
`
	if diff := cmp.Diff(want, lines(catalog.Problems)) + cmp.Diff([]string{"good"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
}

// A link to a skill of another root is no fault: the skill is found there.
func TestLinkToAnotherRoot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "installed/real/SKILL.md", skillText("real"))
	write(t, dir, "claude/own/SKILL.md", skillText("own"))
	link(t, filepath.Join(dir, "installed", "real"), dir, "claude/real")
	catalog, err := Scan(t.Context(), []Root{{Source: skills.SourceUser, Dir: filepath.Join(dir, "claude")}, {Source: skills.SourceUser, Dir: filepath.Join(dir, "installed"), Installed: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"own", "real"}, names(catalog)); diff != "" || len(catalog.Problems)+len(catalog.Shadowed) > 0 {
		t.Errorf("%s%v, shadowed %v", diff, catalog.Problems, catalog.Shadowed)
	}
}

func TestLinkedSkillIsLoadedOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "real/SKILL.md", skillText("real"))
	link(t, "real", dir, "again")
	catalog := scanDir(t, dir, false)
	if diff := cmp.Diff([]string{"real"}, names(catalog)); diff != "" || len(catalog.Problems)+len(catalog.Shadowed) > 0 {
		t.Error(diff, catalog.Problems, catalog.Shadowed)
	}
}

func TestSameFolderByTwoRoots(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "skills/a/SKILL.md", skillText("a"))
	catalog, err := Scan(t.Context(), []Root{{Source: skills.SourceSession, Dir: filepath.Join(dir, "skills")}, {Source: skills.SourceUser, Dir: dir}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(catalog.Skills) != 1 || len(catalog.Shadowed) != 0 || catalog.Skills[0].Source != skills.SourceSession {
		t.Errorf("skills %v, shadowed %v", names(catalog), catalog.Shadowed)
	}
}

func TestDirFSStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "secret", "secret")
	write(t, dir, "file", "content")
	link(t, outside, dir, "out")
	fsys := skillfs.DirFS(dir)
	for _, name := range []string{"out/secret", "../" + filepath.Base(outside) + "/secret", "/etc/passwd"} {
		if file, err := fsys.Open(name); err == nil {
			file.Close()
			t.Errorf("%s was opened", name)
		}
	}
	if _, err := fsys.Open("file"); err != nil {
		t.Error(err)
	}
}

func TestScanEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/SKILL.md", skillText("a"))
	ctx, cancel := contextWithCancel(t)
	cancel()
	if catalog, err := Scan(ctx, []Root{{Dir: dir}}, nil); err == nil {
		t.Errorf("catalog %v", names(catalog))
	}
}

func scanDir(t *testing.T, dir string, plugins bool) *skills.Catalog {
	t.Helper()
	catalog, err := Scan(t.Context(), []Root{{Source: skills.SourceExtra, Dir: dir, Plugins: plugins}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, dir, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
