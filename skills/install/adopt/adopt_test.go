package adopt

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write writes files below a folder; a content "-> TARGET" is a link.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(content, "-> "); link {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func skill(name string) string {
	return "---\nname: " + name + "\ndescription: Says hello. Use it to greet.\n---\n# " + name + "\n"
}

// TestHostileLocks: a lock file of a project is a stranger's, and names no file that is
// not in the project's folders of skills.
func TestHostileLocks(t *testing.T) {
	out := t.TempDir()
	write(t, out, map[string]string{"evil/SKILL.md": skill("evil")})
	long := strings.Repeat("a", maxField+1)
	for _, test := range []struct {
		name, file, content, want string
		files                     map[string]string
	}{
		{name: "traversal in the name", file: projectLockFile, content: `{"version":1,"skills":{"../../evil":{"source":"a/b","sourceType":"github"}}}`, want: "its folder is not there"},
		{name: "traversal in the path", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"source":"a/b","sourceType":"github","skillPath":"../../etc/SKILL.md"}}}`, want: "leads out of the source"},
		{name: "an absolute path", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"source":"a/b","sourceType":"github","skillPath":"/etc/SKILL.md"}}}`, want: "leads out of the source"},
		{name: "a link out", file: projectLockFile, content: `{"version":1,"skills":{"evil":{"source":"a/b","sourceType":"github"}}}`, want: "its folder is not there", files: map[string]string{".agents/skills/evil": "-> " + out + "/evil"}},
		{name: "a folder that is a link out", file: projectLockFile, content: `{"version":1,"skills":{"evil":{"source":"a/b","sourceType":"github"}}}`, want: "its folder is not there", files: map[string]string{".agents/skills": "-> " + out}},
		{name: "ext::", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"source":"ext::sh -c id","sourceUrl":"ext::sh -c id","sourceType":"git"}}}`, want: "start a program"},
		{name: "an option", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"source":"--upload-pack=id","sourceType":"local"}}}`, want: ""},
		{name: "credentials", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"sourceUrl":"https://u:p@example.com/x.git","sourceType":"git"}}}`, want: "credentials"},
		{name: "http", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"sourceUrl":"http://example.com/x.git","sourceType":"git"}}}`, want: "not protected"},
		{name: "control characters", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"source":"a/\u001b[2Jb","sourceType":"github"}}}`, want: "control characters"},
		{name: "a long text", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"source":"` + long + `","sourceType":"github"}}}`, want: "too long"},
		{name: "another kind", file: projectLockFile, content: `{"version":1,"skills":{"pdf":{"source":"a/b","sourceType":"magic"}}}`, want: "unknown kind"},
		{name: "not an object", file: projectLockFile, content: `{"version":1,"skills":{"pdf":7}}`, want: "cannot unmarshal"},
		{name: "a later version", file: projectLockFile, content: `{"version":9,"skills":{"pdf":{}}}`, want: "-"},
		{name: "no JSON", file: projectLockFile, content: `{`, want: "-"},
		{name: "clawhub: traversal", file: ".clawhub/lock.json", content: `{"version":1,"skills":{"@a/../../evil":{"version":"1.0.0","installedAt":1}}}`, want: "its source is not read"},
		{name: "clawhub: the mirror", file: ".clawhub/lock.json", content: `{"version":1,"skills":{"skills-sh:a/b/pdf":{"version":"1.0.0","installedAt":1,"sourceRef":"skills-sh:a/b/pdf"}}}`, want: "skills.sh mirrors"},
		{name: "clawhub: a registry without protection", file: ".clawhub/lock.json", content: `{"version":1,"skills":{"pdf":{"version":"1.0.0","installedAt":1}}}`, want: "not protected", files: map[string]string{"skills/pdf/SKILL.md": skill("pdf"), "skills/pdf/.clawhub/origin.json": `{"version":1,"registry":"http://example.com","slug":"pdf","installedVersion":"1.0.0"}`}},
		{name: "no skill in the folder", file: projectLockFile, content: `{"version":1,"skills":{"none":{"source":"a/b","sourceType":"github"}}}`, want: "no skill in it that loads", files: map[string]string{".agents/skills/none/SKILL.md": "\x00"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if test.files == nil {
				test.files = map[string]string{".agents/skills/pdf/SKILL.md": skill("pdf")}
			}
			write(t, dir, test.files)
			write(t, dir, map[string]string{test.file: test.content})
			found, err := Find(t.Context(), Options{Dir: dir})
			if test.want == "-" {
				if err == nil || len(found) > 0 {
					t.Fatalf("read: %v, %v", found, err)
				}
				return
			}
			if err != nil || len(found) != 1 {
				t.Fatalf("%d candidates, %v", len(found), err)
			}
			c := found[0]
			if test.want == "" {
				return
			}
			if c.State != nil || !strings.Contains(c.Reason, test.want) {
				t.Errorf("adopted %v, reason %q; want %q", c.State != nil, c.Reason, test.want)
			}
		})
	}
}

func FuzzProjectLock(f *testing.F) {
	f.Add([]byte(`{"version":1,"skills":{"pdf":{"source":"a/b","sourceType":"github","skillPath":"x/SKILL.md","computedHash":"00"}}}`))
	f.Add([]byte(`{"version":1,"skills":{"pdf":{"source":"./x","sourceType":"local"}}}`))
	fuzz(f, projectLockFile)
}

func FuzzPersonLock(f *testing.F) {
	f.Add([]byte(`{"version":3,"skills":{"pdf":{"source":"a/b","sourceType":"github","sourceUrl":"https://github.com/a/b.git","skillFolderHash":"00","installedAt":"2026-01-01T00:00:00Z"}}}`))
	fuzz(f, ".agents/"+personLockFile)
}

func FuzzClawHubLock(f *testing.F) {
	f.Add([]byte(`{"version":1,"skills":{"pdf":{"version":"1.2.0","installedAt":1795417938920,"ownerHandle":"ann","pinned":true}}}`))
	fuzz(f, ".clawhub/lock.json")
}

func FuzzClawHubOrigin(f *testing.F) {
	f.Add([]byte(`{"version":1,"registry":"https://example.com","slug":"pdf","installedVersion":"1.2.0","fingerprint":"00"}`))
	fuzz(f, "skills/pdf/.clawhub/origin.json")
}

func FuzzStamp(f *testing.F) {
	f.Add([]byte("---\nname: pdf\ndescription: x\nmetadata:\n    github-path: skills/pdf\n    github-ref: refs/heads/main\n    github-repo: https://github.com/a/b\n    github-tree-sha: 7a8633b2cf8d7f4a0ee055cfc53e9821a26be2dd\n---\nx\n"))
	fuzz(f, ".agents/skills/stamped/SKILL.md")
}

// fuzz reads files of strangers: what is adopted lies in a folder of skills, and can be
// written to our lock.
func fuzz(f *testing.F, name string) {
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		write(t, dir, map[string]string{".agents/skills/pdf/SKILL.md": skill("pdf"), "skills/pdf/SKILL.md": skill("pdf"), ".clawhub/lock.json": `{"version":1,"skills":{"pdf":{"version":"1","installedAt":1}}}`, name: string(data)})
		found, _ := Find(t.Context(), Options{Dir: dir, Home: true})
		file := &lock.File{Version: lock.Version, Entries: map[string]*lock.Entry{}}
		for _, c := range found {
			if c.State == nil {
				continue
			}
			if !lock.InClientFolder(c.Path) {
				t.Fatalf("%q is no folder of skills", c.Path)
			}
			file.Entries[c.Path] = &lock.Entry{State: *c.State}
		}
		encoded, err := file.Encode()
		if err == nil {
			_, err = lock.Decode(encoded)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// unpack writes the files of an archive of testdata below a folder.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for from := tar.NewReader(file); ; {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{header.Name: string(content)})
		if err := os.Chmod(filepath.Join(dir, filepath.FromSlash(header.Name)), header.FileInfo().Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFixtures finds all that the skills tool and clawhub have installed in the archives
// of testdata, which TestAdoptRealTools of integration writes with -update-adoption; the
// folder of gh is made after its source.
func TestFixtures(t *testing.T) {
	for _, test := range []struct {
		dir  string
		want []string
	}{
		{"project", []string{
			"skills .agents/skills/listed from https://skills.example.com@ 1",
			"skills .agents/skills/local from own@ 1",
			"skills .agents/skills/report from https://skills.example.com/team/repo.git@ 1",
			"skills .claude/skills/chart from https://skills.example.com/team/repo.git@ 1",
			"gh skill .github/skills/stamped from https://skills.example.com/team/repo.git#main@ 0",
			"clawhub skills/packed from clawhub+https://skills.example.com#ann/packed@1.2.0 1",
		}},
		{"home", []string{
			"skills .agents/skills/packed from /home/ann/skills@ 1",
			"skills .agents/skills/report from https://skills.example.com/team/repo.git@ 1",
		}},
	} {
		dir := t.TempDir()
		unpack(t, filepath.Join("testdata", test.dir+".tar"), dir)
		found, err := Find(t.Context(), Options{Dir: dir, Home: test.dir == "home"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range found {
			if c.State == nil {
				got = append(got, c.Name+": "+c.Reason)
				continue
			}
			revision := c.State.Revision
			if source.IsCommit(revision) {
				revision = "commit"
			}
			from := strings.TrimPrefix(c.State.Source.String(), dir+string(filepath.Separator))
			got = append(got, fmt.Sprintf("%s %s from %s@%s %d", c.Tool, c.Path, from, revision, len(c.State.Checked)))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.dir, diff)
		}
	}
}
