package scan

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/invopop/jsonschema"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// sameCatalog compares all that a catalog says.
func sameCatalog(t *testing.T, want, got *skills.Catalog) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(skills.Skill{}, "Files"), cmpopts.IgnoreFields(skills.ParsedCLI{}, "CommandLine"), cmpopts.IgnoreUnexported(skills.Entry{}), cmp.Transformer("JSON", func(s *jsonschema.Schema) string { return shown(s) }), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("rescan is not what a scan is (-scan +rescan):\n%s", diff)
	}
}

// Whatever is done to the folders, a rescan of what was touched comes to what a
// whole scan does.
func TestRescanIsAScan(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			base := realTempDir(t)
			e := &editor{Rand: rand.New(rand.NewPCG(seed, 1)), root: filepath.Join(base, "real")}
			for _, dir := range []string{"skills", "plugins", "more"} {
				must(t, os.MkdirAll(filepath.Join(e.root, dir), 0o755))
			}
			roots := []Root{
				{Source: skills.SourceSession, Dir: filepath.Join(base, "link", "skills"), Within: base},
				{Source: skills.SourceUser, Dir: filepath.Join(base, "link", "plugins"), Plugins: true},
				{Source: skills.SourceExtra, Dir: filepath.Join(e.root, "more")},
				{Source: skills.SourceExtra, Dir: filepath.Join(e.root, "later")},
			}
			if err := os.Symlink("real", filepath.Join(base, "link")); err != nil {
				t.Skip("no symbolic links here:", err)
			}
			for range 60 {
				e.act()
			}
			scanner := NewScanner(roots, nil)
			if _, err := scanner.Scan(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 60 {
				e.touched = nil
				for range 1 + e.IntN(3) {
					e.act()
				}
				got, err := scanner.Rescan(t.Context(), e.touched)
				if err != nil {
					t.Fatal(err)
				}
				want, err := Scan(t.Context(), roots, nil)
				if err != nil {
					t.Fatal(err)
				}
				sameCatalog(t, want, got)
			}
		})
	}
}

// editor does at random what people and programs do to folders of skills, with
// few names, so that they meet, and notes what it touched.
type editor struct {
	*rand.Rand
	root    string
	touched []string
}

func (e *editor) pick(from ...string) string { return from[e.IntN(len(from))] }

func (e *editor) folder() string {
	path := filepath.Join(e.root, e.pick("skills", "skills", "plugins", "plugins", "more", "later"))
	for range e.IntN(4) {
		path = filepath.Join(path, e.pick("a", "b", "skills", ".claude-plugin", "node_modules"))
	}
	return path
}

func (e *editor) file() string {
	return filepath.Join(e.folder(), e.pick("SKILL.md", "SKILL.md", "SKILL.md", "skill.md", "plugin.json", "run.sh", "tools.yaml", "notes.txt", "p.zip", "q.tgz"))
}

func (e *editor) content(file string) string {
	switch filepath.Base(file) {
	case "plugin.json":
		return e.pick(`{"name": "p"}`, `{"name": "q", "skills": ["a", "./b"]}`, `{"name": 1`, `{}`)
	case "tools.yaml":
		return e.pick("tools: [{name: one, script: run.sh}]\n", "tools: [{name: two, script: run.sh, params: {a: string}}, {name: x, script: gone.sh}]\n", "tools: 1\n")
	case "p.zip", "q.tgz":
		text := skillText(e.pick("a", "b", "c"))
		return e.pick(zipOf("SKILL.md", text), tarOf("in/SKILL.md", text), zipOf("SKILL.md", text, "../x", ""), zipOf("x", ""), "no package")
	case "run.sh":
		return e.pick("#!/bin/sh\n", "#!/usr/bin/env python3\n", "echo\r\n")
	}
	return e.pick(
		"---\nname: "+e.pick("a", "b", "c")+"\ndescription: d\n---\n"+fmt.Sprint(e.IntN(100)),
		"---\ndescription: "+e.pick("d", "e")+"\nscript: run.sh\nparams: {x: {type: integer, default: 3}}\n---\n",
		"---\ndescription: d\nhooks: x\nallowed-tools: y\nclass: what\n---\n",
		"---\nbroken", "",
	)
}

// act does one thing. What is impossible just now fails, and that is fine.
func (e *editor) act() {
	switch e.IntN(8) {
	case 0, 1, 2, 3:
		file := e.file()
		e.make(filepath.Dir(file))
		e.touch(file)
		_ = os.WriteFile(file, []byte(e.content(file)), 0o644)
	case 4:
		file := e.file()
		e.touch(file)
		_ = os.Remove(file)
	case 5:
		dir := e.folder()
		e.touch(dir)
		_ = os.RemoveAll(dir)
	case 6:
		from, to := e.folder(), e.folder()
		e.touch(from, to)
		_ = os.Rename(from, to)
	case 7:
		link := filepath.Join(e.folder(), "link")
		e.touch(link)
		_ = os.Remove(link)
		_ = os.Symlink(e.folder(), link)
	}
}

// make makes a folder, and the ones above it.
func (e *editor) make(dir string) {
	for dir := range upwards(dir) {
		if _, err := os.Lstat(dir); err != nil {
			e.touch(dir)
		}
	}
	_ = os.MkdirAll(dir, 0o755)
}

// touch notes paths by every way that leads to them: those of the roots as they
// were given, as a watcher says them.
func (e *editor) touch(paths ...string) {
	for _, path := range paths {
		below, err := filepath.Rel(e.root, path)
		if err != nil {
			continue
		}
		given := filepath.Join(filepath.Dir(e.root), "link", below)
		if slices.Contains([]string{"more", "later"}, filepath.ToSlash(below)) || skillfs.Inside(filepath.Join(e.root, "more"), path) || skillfs.Inside(filepath.Join(e.root, "later"), path) {
			given = path
		}
		e.touched = append(e.touched, given)
	}
}

// A change of a file's content costs its skill, and the others stay as they are.
func TestRescanKeepsOthers(t *testing.T) {
	dir := realTempDir(t)
	for _, name := range []string{"a", "b", "c"} {
		write(t, dir, name+"/SKILL.md", skillText(name))
	}
	scanner := NewScanner([]Root{{Source: skills.SourceExtra, Dir: dir}}, nil)
	before, err := scanner.Scan(t.Context())
	must(t, err)
	write(t, dir, "b/SKILL.md", "---\nname: b\ndescription: New.\n---\n")
	after, err := scanner.Rescan(t.Context(), []string{filepath.Join(dir, "b", "SKILL.md")})
	must(t, err)
	if after.Skills[0] != before.Skills[0] || after.Skills[2] != before.Skills[2] {
		t.Error("skills that did not change were read again")
	}
	if got := after.Skills[1].Description; got != "New." || before.Skills[1].Description == got {
		t.Errorf("description is %q, and was %q", got, before.Skills[1].Description)
	}
	same, err := scanner.Rescan(t.Context(), []string{filepath.Join(filepath.Dir(dir), "elsewhere")})
	if err != nil || same != after {
		t.Errorf("what lies in no root made a new catalog (%v)", err)
	}
}

func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A skill that shadows another is read again with what it is in the catalog.
func TestRescanOfShadows(t *testing.T) {
	dir := realTempDir(t)
	roots := []Root{{Source: skills.SourceUser, Dir: filepath.Join(dir, "1")}, {Source: skills.SourceExtra, Dir: filepath.Join(dir, "2")}}
	for _, root := range roots {
		write(t, root.Dir, "a/SKILL.md", skillText("a"))
	}
	scanner := NewScanner(roots, nil)
	_, err := scanner.Scan(t.Context())
	must(t, err)
	for _, root := range roots {
		write(t, root.Dir, "a/SKILL.md", "---\nname: a\ndescription: New in "+filepath.Base(root.Dir)+".\n---\n")
		got, err := scanner.Rescan(t.Context(), []string{filepath.Join(root.Dir, "a", "SKILL.md")})
		must(t, err)
		want, err := Scan(t.Context(), roots, nil)
		must(t, err)
		sameCatalog(t, want, got)
	}
}

// Recheck finds what changed after the scan, packages and a linked file too, without being
// told, and reads nothing else again.
func TestRecheck(t *testing.T) {
	dir, named := realTempDir(t), filepath.Join(realTempDir(t), "named.zip")
	for _, name := range []string{"a", "b", "c", "linked"} {
		write(t, dir, name+"/SKILL.md", skillText(name))
	}
	must(t, os.Rename(filepath.Join(dir, "linked", "SKILL.md"), filepath.Join(dir, "linked", "real.md")))
	if err := os.Symlink("real.md", filepath.Join(dir, "linked", "SKILL.md")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	write(t, dir, "demo.zip", zipOf("SKILL.md", skillText("demo")))
	write(t, filepath.Dir(named), "named.zip", zipOf("SKILL.md", skillText("named")))
	roots := []Root{{Source: skills.SourceExtra, Dir: dir}, {Source: skills.SourceExtra, Dir: named}}
	scanner := NewScanner(roots, nil)
	before, err := scanner.Scan(t.Context())
	must(t, err)
	scanner.last.looked = time.Now().Add(2*time.Second + 20*time.Millisecond) // as if the files were old
	time.Sleep(50 * time.Millisecond)
	write(t, dir, "b/SKILL.md", "---\nname: b\ndescription: New.\n---\n")
	write(t, dir, "linked/real.md", "---\nname: linked\ndescription: New.\n---\n")
	write(t, dir, "new/SKILL.md", skillText("new"))
	write(t, dir, "demo.zip", zipOf("SKILL.md", "---\nname: demo\ndescription: New.\n---\n"))
	got, err := scanner.Recheck(t.Context())
	must(t, err)
	want, err := Scan(t.Context(), roots, nil)
	must(t, err)
	sameCatalog(t, want, got)
	var shared []string
	for _, skill := range got.Skills {
		if slices.Contains(before.Skills, skill) {
			shared = append(shared, skill.Name)
		}
	}
	if !slices.Equal(shared, []string{"a", "c", "named"}) || len(got.Skills) != 7 {
		t.Errorf("%q of %d skills were not read again", shared, len(got.Skills))
	}
}
