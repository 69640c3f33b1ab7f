package lock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// state returns a valid state.
func state() State {
	return State{
		Name: "pdf", Kind: Skill, Source: source.Source{Kind: source.Git, Location: "https://example.com/pdf.git", Ref: "main"}, Revision: "abc",
		Digest: digest, Files: map[string]FileState{
			"SKILL.md":   {Digest: digest, Size: 12},
			"run.sh":     {Digest: digest, Size: 3, Executable: true},
			"latest.txt": {Link: "SKILL.md"},
		},
		Surface:   []surface.Item{{Kind: surface.Host, Value: "example.com", Text: `a "quoted" {text}`, File: "run.sh", Line: 2}},
		Installed: time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC),
	}
}

func file(entries map[string]*Entry) *File { return &File{Version: Version, Entries: entries} }

// Entries and files are sorted, so that version control merges them.
func TestEncode(t *testing.T) {
	next := state()
	got, err := file(map[string]*Entry{"skills/pdf": {State: state(), Next: &next}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "entries": {
    "skills/pdf": {
      "name": "pdf",
      "kind": "skill",
      "source": {
        "kind": "git",
        "location": "https://example.com/pdf.git",
        "ref": "main"
      },
      "revision": "abc",
      "digest": "` + digest + `",
      "files": {
        "SKILL.md": {
          "digest": "` + digest + `",
          "size": 12
        },
        "latest.txt": {
          "link": "SKILL.md"
        },
        "run.sh": {
          "digest": "` + digest + `",
          "size": 3,
          "executable": true
        }
      },
      "surface": [
        {
          "kind": "host",
          "value": "example.com",
          "text": "a \"quoted\" {text}",
          "file": "run.sh",
          "line": 2
        }
      ],
      "installed": "2026-11-23T07:00:00Z",
      "next": {
`
	if !strings.HasPrefix(string(got), want) {
		t.Error(cmp.Diff(want, string(got)))
	}
	decoded, err := Decode(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file(map[string]*Entry{"skills/pdf": {State: state(), Next: &next}}), decoded); diff != "" {
		t.Error(diff)
	}
}

// Whoever wrote the file, and whatever a merge or a full disk made of it, the error says
// what is wrong and what to do.
func TestDecodeErrors(t *testing.T) {
	valid, err := file(map[string]*Entry{"skills/pdf": {State: state()}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(old, with string) string {
		if !strings.Contains(string(valid), old) {
			t.Fatalf("the file has no %s", old)
		}
		return strings.Replace(string(valid), old, with, 1)
	}
	for _, test := range []struct{ name, data, want string }{
		{"empty", "", "it is empty"},
		{"cut off", string(valid[:len(valid)/2]), "its end is missing"},
		{"cut off in the head", `{"version": 1`, "its end is missing"},
		{"no JSON", "version: 1\n", "skills-mcp.lock:1: it is not JSON"},
		{"of the future", replaced(`"version": 1`, `"version": 2`), "it has version 2, and this program reads version 1; update skills-mcp"},
		{"without a version", "{}", "it has version 0"},
		{"an unknown key", replaced(`"kind": "skill"`, `"kind": "skill", "hook": "x"`), `unknown field "hook"`},
		{"a number for a text", replaced(`"revision": "abc"`, `"revision": 7`), "skills-mcp.lock:12: \"entries.revision\" is a JSON number"},
		{"merge conflict", replaced(`      "revision"`, "<<<<<<< HEAD\n      \"revision\""), "skills-mcp.lock:12: it has the marks of a merge conflict"},
		{"an entry twice", replaced(`"revision": "abc"`, "\"revision\": \"abc\",\n\"revision\": \"def\""), `skills-mcp.lock:13: "revision" is there twice`},
		{"a null entry", `{"version": 1, "entries": {"skills/pdf": null}}`, "it is null"},
		{"a path out", replaced(`"skills/pdf"`, `"../pdf"`), "its path leads elsewhere"},
		{"an absolute path", replaced(`"skills/pdf"`, `"/etc/pdf"`), "its path leads elsewhere"},
		{"a path of Windows", replaced(`"skills/pdf"`, `"skills\\..\\pdf"`), "its path leads elsewhere"},
		{"a control character", replaced(`"skills/pdf"`, `"skills/\u001b[2Jpdf"`), "its path leads elsewhere"},
		{"a control character in the source", replaced(`https://example.com/pdf.git`, `https://example.com/\u001b[2Jpdf.git`), "its source has control characters"},
		{"a line end in the revision", replaced(`"abc"`, `"a\nskills-mcp: all is well"`), "its source has control characters"},
		{"a file out", replaced(`"run.sh"`, `"../../.bashrc"`), `the path of the file "../../.bashrc" leads elsewhere`},
		{"a short digest", replaced(digest, "sha256:00"), "its digest is none"},
		{"a file without digest", replaced(`"link": "SKILL.md"`, ``), `the file "latest.txt" has no digest`},
		{"an unknown kind", replaced(`"kind": "skill"`, `"kind": "hook"`), `its kind "hook" is unknown`},
		{"a negative size", replaced(`"size": 12`, `"size": -12`), "has no digest"},
		{"a time that is none", replaced("2026-11-23T07", "yesterday"), "parsing time"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Decode([]byte(test.data))
			if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "; ") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	two := file(map[string]*Entry{"skills/pdf": {State: state()}, "skills/PDF": {State: state()}})
	if _, err := two.Encode(); err == nil || !strings.Contains(err.Error(), "on some machines") {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	next := state()
	valid, err := file(map[string]*Entry{"skills/pdf": {State: state(), Previous: &next}, "plugins/x": {Next: &next}}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Add([]byte(`{"version":1,"entries":{"a":{"files":{"\"{[":[]}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		decoded, err := Decode(data)
		if err != nil {
			return
		}
		encoded, err := decoded.Encode()
		if err != nil {
			t.Fatalf("it was decoded and cannot be encoded: %v", err)
		}
		again, err := Decode(encoded)
		if err != nil {
			t.Fatalf("its encoding is not accepted: %v\n%s", err, encoded)
		}
		twice, err := again.Encode()
		if err != nil || string(twice) != string(encoded) {
			t.Fatalf("the encoding changes: %v\n%s\n%s", err, encoded, twice)
		}
	})
}

// Processes wait for each other, as long as they want to.
func TestOpenWaits(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(t.Context(), dir, ".state")
	if err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Open(impatient, dir, ".state"); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
	second := make(chan error, 1)
	go func() {
		l, err := Open(t.Context(), dir, ".state")
		if err == nil {
			if l.File.Entries["skills/pdf"] == nil {
				err = errors.New("it did not wait for the first to write")
			}
			err = errors.Join(err, l.Close())
		}
		second <- err
	}()
	s := state()
	first.File.Entries["skills/pdf"] = &Entry{State: s}
	if err := errors.Join(first.Write(), first.Close(), <-second); err != nil {
		t.Error(err)
	}
	read, err := Read(dir)
	if err != nil || len(read.Entries) != 1 {
		t.Errorf("%v, %v", read, err)
	}
}

// Nothing in a stranger's workspace makes a lock be read or written elsewhere.
func TestLinksOut(t *testing.T) {
	if !hasLinks(t) {
		return
	}
	for _, test := range []struct{ name, link string }{{"the lock", Name}, {"the state", ".state"}, {"the side file", ".state/lock"}} {
		t.Run(test.name, func(t *testing.T) {
			outside, dir := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(dir, filepath.FromSlash(test.link))
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(filepath.Join(outside, "secret"), link)); err != nil {
				t.Fatal(err)
			}
			l, err := Open(t.Context(), dir, ".state")
			if err == nil {
				t.Errorf("it was opened: %v", l.Close())
			}
			data, err := os.ReadFile(filepath.Join(outside, "secret"))
			entries, _ := os.ReadDir(outside)
			if err != nil || string(data) != "{}" || len(entries) != 1 {
				t.Errorf("the outside has changed: %q, %v, %v", data, entries, err)
			}
		})
	}
}

func hasLinks(t *testing.T) bool {
	if err := os.Symlink("x", filepath.Join(t.TempDir(), "link")); err != nil {
		t.Logf("the system makes no links here: %v", err)
		return false
	}
	return true
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"SKILL.md": "", "a/run.sh": "#!/bin/sh\n", ".git/config": "secret"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Files(t.Context(), skillfs.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]FileState{"SKILL.md": {Digest: digest}, "a/run.sh": {Digest: "sha256:a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf", Size: 10}, ".git": {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
