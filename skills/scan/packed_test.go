package scan

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// packers pack files, of which every second argument is the content.
func packers() map[string]func(files ...string) string {
	return map[string]func(files ...string) string{".zip": zipOf, ".tar.gz": tarOf}
}

func zipOf(files ...string) string {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for pair := range slices.Chunk(files, 2) {
		f, err := w.Create(pair[0])
		if err == nil {
			_, err = io.WriteString(f, pair[1])
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.String()
}

func tarOf(files ...string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for pair := range slices.Chunk(files, 2) {
		err := w.WriteHeader(&tar.Header{Name: pair[0], Mode: 0o644, Size: int64(len(pair[1])), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = io.WriteString(w, pair[1])
		}
		if err != nil {
			panic(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		panic(err)
	}
	return out.String()
}

// A package is what its folder would be, wherever in it SKILL.md is.
func TestPacked(t *testing.T) {
	const manifest = "---\ndescription: d\nskill_type: langchain_tool\nentry_points: {go: run.sh}\n---\nRead me.\n"
	for ending, pack := range packers() {
		for inside, name := range map[string]string{"": "demo", "inner/": "inner"} {
			dir := realTempDir(t)
			file := filepath.Join(dir, "below", "demo"+ending)
			write(t, dir, "below/demo"+ending, pack(inside+"SKILL.md", manifest, inside+"run.sh", "#!/bin/sh\necho $1\n"))
			for _, root := range []string{dir, file} {
				catalog := scanDir(t, root, false)
				if got := names(catalog); !slices.Equal(got, []string{name, name + "__go"}) || len(catalog.Problems) > 0 {
					t.Fatalf("%s: skills %q, problems %v", file, got, catalog.Problems)
				}
				skill, tool := catalog.Skills[0], catalog.Skills[1]
				if want := filepath.Join(file, inside, "SKILL.md"); skill.File != want || tool.File != want || skill.Dir != "" {
					t.Errorf("file %q, of the tool %q, want %q; folder %q", skill.File, tool.File, want, skill.Dir)
				}
				if skill.Instructions != "Read me." || tool.Entry == nil || tool.Entry.Script != "run.sh" {
					t.Errorf("%s: %q, %+v", file, skill.Instructions, tool.Entry)
				}
				for _, s := range catalog.Skills {
					if err := fstest.TestFS(s.Files, "SKILL.md", "run.sh"); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// What is no skill is left alone; what is meant to be one says why it is none.
func TestPackedProblems(t *testing.T) {
	link := zipOf("SKILL.md", skillText("a"), "../x", "x")
	for _, test := range []struct {
		file, content string
		want          string // of the problem; "" is none
	}{
		{"notes.zip", zipOf("notes.txt", "x"), ""},
		{"notes.tgz", tarOf("notes.txt", "x"), ""},
		{"empty.zip", "", ""},
		{"text.zip", "text", ""},
		{"hostile.zip", zipOf("../notes.txt", "x"), ""},
		{"demo.zip", link, `demo.zip/../x: note: its path leads out of the package (pack the skill's folder with paths inside of it)`},
		{"demo.tgz", tarOf("../x", "x", "SKILL.md", skillText("a")), `demo.tgz/../x: note: its path leads out`},
		{"two.zip", zipOf("a/SKILL.md", skillText("a"), "b/SKILL.md", skillText("b")), "two.zip: note: it has 2 skills"},
		{"deep.zip", zipOf("a/b/SKILL.md", skillText("a")), "deep.zip: note: it has no SKILL.md, neither at its top"},
		{"demo.skill", zipOf("notes.txt", "x"), "demo.skill: error: it has no SKILL.md"},
		{"demo.SKILL", "text", "demo.SKILL: error: it is neither a ZIP nor a tar.gz file"},
		{"broken.zip", zipOf("SKILL.md", "---\nopen"), "broken.zip/SKILL.md:1: error: "},
		{"case.zip", zipOf("SKILL.md", skillText("case"), "a", "", "A", ""), ""},
	} {
		dir := realTempDir(t)
		write(t, dir, test.file, test.content)
		write(t, dir, "other/SKILL.md", skillText("other"))
		catalog := scanDir(t, dir, false)
		got := lines(catalog.Problems)
		if test.want == "" && got != "" || !strings.HasPrefix(filepath.ToSlash(got), filepath.ToSlash(dir)+"/"+test.want) && test.want != "" {
			t.Errorf("%s: %q, want %q", test.file, got, test.want)
		}
		if !slices.Contains(names(catalog), "other") {
			t.Errorf("%s cost another skill: %q", test.file, names(catalog))
		}
		if named := scanDir(t, filepath.Join(dir, test.file), false); len(named.Skills) == 0 && (len(named.Problems) != 1 || named.Problems[0].Severity != skills.Error) {
			t.Errorf("%s as a root: %v", test.file, named.Problems)
		}
	}
}

// A package is reached once, and no link leads out of the root.
func TestPackedLinks(t *testing.T) {
	base := realTempDir(t)
	write(t, base, "outside/out.zip", zipOf("SKILL.md", skillText("out")))
	write(t, base, "root/a.zip", zipOf("SKILL.md", skillText("a")))
	write(t, base, "root/packs/linked", zipOf("SKILL.md", skillText("linked")))
	for link, target := range map[string]string{"z.zip": "a.zip", "b.zip": "packs/linked", "out.zip": "../outside/out.zip", "none.zip": "none"} {
		if err := os.Symlink(target, filepath.Join(base, "root", link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	catalog := scanDir(t, filepath.Join(base, "root"), false)
	if got := names(catalog); !slices.Equal(got, []string{"a", "linked"}) || len(catalog.Problems) > 0 {
		t.Errorf("skills %q, problems %v", got, catalog.Problems)
	}
	within, err := Scan(t.Context(), []Root{{Source: skills.SourceSession, Dir: filepath.Join(base, "root", "out.zip"), Within: filepath.Join(base, "root")}}, nil)
	if err != nil || len(within.Skills) > 0 || len(within.Problems) != 1 {
		t.Errorf("a link out of the workspace: %+v, %v", within, err)
	}
	within, err = Scan(t.Context(), []Root{{Source: skills.SourceSession, Dir: filepath.Join(base, "root", "a.zip"), Within: base}}, nil)
	if err != nil || !slices.Equal(names(within), []string{"a"}) {
		t.Errorf("a package of a workspace: %+v, %v", within, err)
	}
}

// Roots that are no folders have packages, too.
func TestPackedInFiles(t *testing.T) {
	catalog := scanFiles(t, map[string]string{"sub/demo.zip": zipOf("SKILL.md", skillText("demo"))})
	if len(catalog.Skills) != 1 || catalog.Skills[0].File != "root/sub/demo.zip/SKILL.md" {
		t.Errorf("%q, %v", names(catalog), catalog.Problems)
	}
}

// However often packages are read, none stays open.
func TestPackedLeavesNothingOpen(t *testing.T) {
	const folder = "/proc/self/fd"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("open files are not listed here:", err)
	}
	dir := realTempDir(t)
	for i := range 100 {
		pack := zipOf
		if i%2 == 1 {
			pack = tarOf
		}
		write(t, dir, fmt.Sprintf("p%d.skill", i), pack("SKILL.md", skillText(fmt.Sprint("p", i)), "sub/file", "x"))
	}
	write(t, dir, "broken.zip", zipOf("SKILL.md", skillText("x"), "../x", ""))
	write(t, dir, "none.tgz", tarOf("x", ""))
	before := open(t, folder)
	for round := range 50 {
		catalog := scanDir(t, dir, false)
		if len(catalog.Skills) != 100 {
			t.Fatalf("%d skills: %v", len(catalog.Skills), catalog.Problems)
		}
		for _, skill := range catalog.Skills[round : round+2] {
			held, release, err := skillfs.Hold(skill.Files)
			must(t, err)
			for _, files := range []fs.FS{skill.Files, held} {
				must(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() {
						_, err = fs.ReadFile(files, name)
					}
					return err
				}))
				if _, err := files.Open("none"); !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
			release()
		}
	}
	if after := open(t, folder); len(after) > len(before) {
		t.Errorf("%d open files became %d: %q", len(before), len(after), after)
	}
}

// open lists what the process has open below the temporary folder.
func open(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var found []string
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(folder, e.Name())); err == nil && strings.HasPrefix(target, os.TempDir()) {
			found = append(found, target)
		}
	}
	return found
}

// A package that changes, comes or goes is read again, and others are not.
func TestRescanOfPackages(t *testing.T) {
	dir := realTempDir(t)
	write(t, dir, "a.zip", zipOf("SKILL.md", skillText("a")))
	write(t, dir, "b.tgz", tarOf("SKILL.md", skillText("b")))
	root := Root{Source: skills.SourceExtra, Dir: dir}
	named := Root{Source: skills.SourceUser, Dir: filepath.Join(dir, "sub", "c.zip")}
	scanner := NewScanner([]Root{named, root}, nil)
	before, err := scanner.Scan(t.Context())
	must(t, err)
	for _, step := range []struct {
		file, content string // "" removes it
	}{
		{"b.tgz", tarOf("SKILL.md", skillText("new"))},
		{"b.tgz", tarOf("b/SKILL.md", skillText("b"))},
		{"b.tgz", "no package"},
		{"b.tgz", zipOf("SKILL.md", skillText("b"))},
		{"sub/c.zip", zipOf("SKILL.md", skillText("c"))},
		{"sub/c.zip", zipOf("SKILL.md", skillText("d"), "x", "y")},
		{"sub/c.zip", ""},
		{"b.tgz", ""},
	} {
		if step.content == "" {
			must(t, os.Remove(filepath.Join(dir, step.file)))
		} else {
			write(t, dir, step.file, step.content)
		}
		got, err := scanner.Rescan(t.Context(), []string{filepath.Join(dir, step.file)})
		must(t, err)
		want, err := Scan(t.Context(), []Root{named, root}, nil)
		must(t, err)
		sameCatalog(t, want, got)
		if step.file == "b.tgz" && got.Skills[0] != before.Skills[0] {
			t.Error("a package that did not change was read again")
		}
		before = got
	}
}
