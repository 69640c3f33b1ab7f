package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func demo() fstest.MapFS {
	return fstest.MapFS{
		"SKILL.md":       {Data: []byte("skill"), Mode: 0o600},
		"scripts/run.sh": {Data: []byte("echo"), Mode: 0o700},
		".git/config":    {Data: []byte("secret"), Mode: 0o600},
	}
}

func take(t *testing.T, s *Store, fsys fs.FS) *Snapshot {
	t.Helper()
	snap, err := s.Take(t.Context(), fsys, Use{Skill: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// listing describes the files below dir: mode, path and content.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		content := ""
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
			found[name] = "link " + content
			return err
		case !d.IsDir():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		}
		found[name] = strings.TrimSpace(info.Mode().String() + " " + content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "when needed")
	snap := take(t, New(dir), demo())
	want := map[string]string{"SKILL.md": "-rw-r--r-- skill", "scripts": "drwxr-xr-x", "scripts/run.sh": "-rwxr-xr-x echo"}
	if diff := cmp.Diff(want, listing(t, snap.Dir)); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(snap.Digest, "sha256:") || len(snap.Digest) != 71 || filepath.Base(snap.Dir) != snap.Digest[7:] {
		t.Errorf("digest %s of %s", snap.Digest, snap.Dir)
	}
	if left := asides(t, dir); len(left) > 0 {
		t.Errorf("left beside the snapshot: %v", left)
	}
	if digest, err := Digest(t.Context(), demo()); err != nil || digest != snap.Digest {
		t.Errorf("Digest says %s, %v", digest, err)
	}
}

func TestDigestTellsChangesApart(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(fstest.MapFS){
		"nothing":        func(fstest.MapFS) {},
		"content":        func(f fstest.MapFS) { f["SKILL.md"] = &fstest.MapFile{Data: []byte("other")} },
		"executable bit": func(f fstest.MapFS) { f["SKILL.md"] = &fstest.MapFile{Data: []byte("skill"), Mode: 0o755} },
		"name":           func(f fstest.MapFS) { f["skill.md"] = f["SKILL.md"]; delete(f, "SKILL.md") },
		"one more":       func(f fstest.MapFS) { f["a"] = &fstest.MapFile{} },
		"empty folder":   func(f fstest.MapFS) { f["b"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755} },
	} {
		fsys := demo()
		change(fsys)
		digest, err := Digest(t.Context(), fsys)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := seen[digest]; taken {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[digest] = name
	}
	without := demo()
	delete(without, ".git/config")
	if digest, err := Digest(t.Context(), without); err != nil || seen[digest] != "nothing" {
		t.Errorf("without .git: %s, %v", digest, err)
	}
}

func TestTakeAgain(t *testing.T) {
	dir := t.TempDir()
	first := take(t, New(dir), demo())
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(first.Dir, old, old); err != nil {
		t.Fatal(err)
	}
	again := take(t, New(dir), demo())
	if *again != *first {
		t.Errorf("%+v, then %+v", first, again)
	}
	if info, err := os.Stat(first.Dir); err != nil || !info.ModTime().After(old) {
		t.Errorf("the snapshot was not marked as used: %v", err)
	}
}

// A snapshot that is not what its digest says is made anew.
func TestDamagedSnapshot(t *testing.T) {
	dir := t.TempDir()
	first := take(t, New(dir), demo())
	file := filepath.Join(first.Dir, "SKILL.md")
	if err := os.WriteFile(file, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := take(t, New(dir), demo())
	if data, err := os.ReadFile(file); err != nil || string(data) != "skill" || again.Dir != first.Dir {
		t.Errorf("content %q, %v", data, err)
	}
}

// asides returns the entries of a store that are not snapshots.
func asides(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, asidePrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestLinks(t *testing.T) {
	source, outside := t.TempDir(), t.TempDir()
	for path, content := range map[string]string{filepath.Join(source, "file"): "content", filepath.Join(outside, "secret"): "secret"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"inside":   "file",
		"out":      filepath.Join(outside, "secret"),
		"up":       "../" + filepath.Base(outside) + "/secret",
		"dangling": "nowhere",
		"loop":     "loop",
	} {
		if err := os.Symlink(target, filepath.Join(source, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	snap := take(t, New(t.TempDir()), skillfs.DirFS(source))
	want := map[string]string{"file": "-rw-r--r-- content", "inside": "link file"}
	if diff := cmp.Diff(want, listing(t, snap.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestTakeConcurrently(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if snap, err := New(dir).Take(t.Context(), demo(), Use{}); err != nil || !check(t.Context(), snap.Dir, snap.Digest) {
				t.Errorf("%+v, %v", snap, err)
			}
		})
	}
	all.Wait()
	if left := asides(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestTooLarge(t *testing.T) {
	fsys := demo()
	for i := range maxFiles {
		fsys[fmt.Sprintf("many/%d", i)] = &fstest.MapFile{}
	}
	dir := t.TempDir()
	_, err := New(dir).Take(t.Context(), fsys, Use{})
	if err == nil || !strings.Contains(err.Error(), "larger than 20000 files or 256 MiB") {
		t.Errorf("error %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := New(dir).Take(ctx, demo(), Use{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestDigestOfLinks does not let a link's target imitate further entries.
func TestDigestOfLinks(t *testing.T) {
	one := tree{{name: "a", kind: link, target: "t\nl 1:b u"}}
	two := tree{{name: "a", kind: link, target: "t"}, {name: "b", kind: link, target: "u"}}
	if one.digest() == two.digest() {
		t.Error("one link and two have one digest")
	}
}

// growing is a file system whose one file has more in it than it says.
type growing struct{ fstest.MapFS }

func (g growing) Open(name string) (fs.File, error) {
	file, err := g.MapFS.Open(name)
	if name != "SKILL.md" || err != nil {
		return file, err
	}
	return longer{file}, nil
}

type longer struct{ fs.File }

func (longer) Read(p []byte) (int, error) { return len(p), nil }

// A file that grows while it is read does not fill the disk.
func TestGrowingFile(t *testing.T) {
	dir := t.TempDir()
	_, err := New(dir).Take(t.Context(), growing{fstest.MapFS{"SKILL.md": {Data: []byte("x")}}}, Use{})
	if err == nil || !strings.Contains(err.Error(), "SKILL.md has changed while it was read") {
		t.Errorf("error %v", err)
	}
	if left := asides(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
