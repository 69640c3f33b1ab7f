package snapshot

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// A guarded folder fails each operation while it is shut.
type guarded struct {
	skillfs.Dir
	shut *bool
}

var errShut = errors.New("the folder was opened")

func guard[T any](g guarded, do func() (T, error)) (T, error) {
	if *g.shut {
		var zero T
		return zero, errShut
	}
	return do()
}

func (g guarded) Open(name string) (fs.File, error) {
	return guard(g, func() (fs.File, error) { return g.Dir.Open(name) })
}

func (g guarded) ReadDir(name string) ([]fs.DirEntry, error) {
	return guard(g, func() ([]fs.DirEntry, error) { return g.Dir.ReadDir(name) })
}

func (g guarded) Stat(name string) (fs.FileInfo, error) {
	return guard(g, func() (fs.FileInfo, error) { return g.Dir.Stat(name) })
}

func (g guarded) ReadLink(name string) (string, error) {
	return guard(g, func() (string, error) { return g.Dir.ReadLink(name) })
}

// certainly skips a test where no stamp is certain.
func certainly(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("files have no time of their last change here")
	}
}

// later returns a store whose stamps are settled at once.
func later(t *testing.T) *Store {
	s := New(t.TempDir())
	s.now = func() time.Time { return time.Now().Add(time.Minute) }
	return s
}

// exampleFolder makes the folder of a skill in a folder of its own.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "skill")
	for name, content := range map[string]string{"SKILL.md": "skill", "scripts/run.sh": "echo", "scripts/lib/lib.sh": "lib", "data/a": "a"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("run.sh", filepath.Join(dir, "scripts/link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	return dir
}

// TestUnchangedIsNotOpened takes a snapshot of an unchanged folder that must be neither
// listed nor read.
func TestUnchangedIsNotOpened(t *testing.T) {
	certainly(t)
	s, shut := later(t), false
	files := guarded{skillfs.DirFS(exampleFolder(t)), &shut}
	first := take(t, s, files)
	shut = true
	if again := take(t, s, files); *again != *first {
		t.Errorf("%+v, then %+v", first, again)
	}
	if err := os.RemoveAll(first.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take(t.Context(), files, Use{Skill: "demo"}); !errors.Is(err, errShut) {
		t.Errorf("without the snapshot: %v", err)
	}
}

// TestUnsettledIsReadAgain wants a file that may have been written twice within a tick
// of the clock to be read, and only that.
func TestUnsettledIsReadAgain(t *testing.T) {
	certainly(t)
	dir, s := exampleFolder(t), New(t.TempDir())
	var opened []string
	files := recorded{skillfs.DirFS(dir), &opened}
	// All were written now; for the store, that is long ago, except for one.
	s.now = func() time.Time { return time.Now().Add(time.Minute) }
	if err := os.Chtimes(filepath.Join(dir, "data/a"), time.Time{}, time.Now().Add(59*time.Second)); err != nil {
		t.Fatal(err)
	}
	// Each is read, and read again for the copy; data/a is asked for a writer as well.
	for i, want := range []int{4 + 4 + 1, 2, 2} {
		opened = nil
		take(t, s, files)
		if len(opened) != want {
			t.Errorf("%d: opened %v", i, opened)
		}
	}
	s.now = func() time.Time { return time.Now().Add(time.Hour) }
	take(t, s, files)
	opened = nil
	if take(t, s, files); len(opened) > 0 {
		t.Errorf("opened %v", opened)
	}
}

// A recorded folder records which files were opened.
type recorded struct {
	skillfs.Dir
	opened *[]string
}

func (r recorded) Open(name string) (fs.File, error) {
	if info, err := r.Lstat(name); err == nil && info.Mode().IsRegular() {
		*r.opened = append(*r.opened, name)
	}
	return r.Dir.Open(name)
}

// TestEachChangeIsSeen changes a folder in each way that there is.
func TestEachChangeIsSeen(t *testing.T) {
	certainly(t)
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(dir string){
		"written in place": func(dir string) { must(os.WriteFile(dir+"/data/a", []byte("longer"), 0o644)) },
		"same size":        func(dir string) { must(os.WriteFile(dir+"/data/a", []byte("b"), 0o644)) },
		"same size and time": func(dir string) {
			info, err := os.Stat(dir + "/data/a")
			must(err, os.WriteFile(dir+"/data/a", []byte("b"), 0o644), os.Chtimes(dir+"/data/a", info.ModTime(), info.ModTime()))
		},
		"renamed over": func(dir string) {
			must(os.WriteFile(dir+"/../b", []byte("b"), 0o644), os.Rename(dir+"/../b", dir+"/data/a"))
		},
		"executable":    func(dir string) { must(os.Chmod(dir+"/scripts/run.sh", 0o755)) },
		"new":           func(dir string) { must(os.WriteFile(dir+"/data/b", nil, 0o644)) },
		"new folder":    func(dir string) { must(os.Mkdir(dir+"/scripts/lib/empty", 0o755)) },
		"removed":       func(dir string) { must(os.Remove(dir + "/data/a")) },
		"renamed":       func(dir string) { must(os.Rename(dir+"/data/a", dir+"/data/b")) },
		"link's target": func(dir string) { must(os.Remove(dir+"/scripts/link"), os.Symlink("lib/lib.sh", dir+"/scripts/link")) },
		"link's target removed": func(dir string) {
			must(os.Remove(dir + "/scripts/run.sh"))
		},
		"folder swapped": func(dir string) {
			must(os.Rename(dir+"/data", dir+"/../old"), os.Mkdir(dir+"/data", 0o755), os.WriteFile(dir+"/data/a", []byte("b"), 0o644))
		},
		"skill swapped": func(dir string) {
			must(os.Rename(dir, dir+"-old"), os.Mkdir(dir, 0o755), os.WriteFile(dir+"/SKILL.md", []byte("other"), 0o644))
		},
		"by another name": func(dir string) {
			must(os.Link(dir+"/data/a", dir+"/../other"), os.WriteFile(dir+"/../other", []byte("b"), 0o644))
		},
		"file became a folder": func(dir string) { must(os.Remove(dir+"/data/a"), os.Mkdir(dir+"/data/a", 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, s := exampleFolder(t), later(t)
			first := take(t, s, skillfs.DirFS(dir))
			change(dir)
			again := take(t, s, skillfs.DirFS(dir))
			if again.Digest == first.Digest {
				t.Error("it was not seen")
			}
			if !check(t.Context(), again.Dir, again.Digest) || !check(t.Context(), first.Dir, first.Digest) {
				t.Error("a snapshot is not what its digest says")
			}
			if fresh := take(t, New(t.TempDir()), skillfs.DirFS(dir)); fresh.Digest != again.Digest {
				t.Errorf("digest %s, of a fresh snapshot %s", again.Digest, fresh.Digest)
			}
		})
	}
}

// TestLinksThroughHiddenFolders sees a change in a folder that is not copied, where a
// link depends on it.
func TestLinksThroughHiddenFolders(t *testing.T) {
	dir, s := exampleFolder(t), later(t)
	if err := errors.Join(os.Mkdir(dir+"/.git", 0o755), os.Symlink(".git/HEAD", dir+"/head")); err != nil {
		t.Fatal(err)
	}
	first := take(t, s, skillfs.DirFS(dir))
	if err := os.WriteFile(dir+"/.git/HEAD", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if again := take(t, s, skillfs.DirFS(dir)); again.Digest == first.Digest {
		t.Error("the link is still omitted")
	}
}

// TestDamagedFileIsNotLinked wants a file that somebody wrote in the last snapshot to be
// copied again.
func TestDamagedFileIsNotLinked(t *testing.T) {
	dir, s := exampleFolder(t), later(t)
	first := take(t, s, skillfs.DirFS(dir))
	if err := os.WriteFile(filepath.Join(first.Dir, "SKILL.md"), []byte("wrong"), 0o644); err != nil {
		t.Fatal(err)
	}
	future := time.Now().Add(time.Second) // later than a tick of the clock
	if err := os.Chtimes(filepath.Join(first.Dir, "SKILL.md"), future, future); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data/a"), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if again := take(t, s, skillfs.DirFS(dir)); !check(t.Context(), again.Dir, again.Digest) {
		t.Error("the damage was inherited")
	}
}

// TestUnchangedFilesAreLinked wants the copy of what has changed, and links to the rest.
func TestUnchangedFilesAreLinked(t *testing.T) {
	certainly(t)
	dir, s := exampleFolder(t), later(t)
	first := take(t, s, skillfs.DirFS(dir))
	for _, remove := range []bool{false, true} {
		if err := os.WriteFile(dir+"/data/a", []byte(first.Digest), 0o644); err != nil {
			t.Fatal(err)
		}
		if remove { // by a sweep, in the middle of a call
			if err := os.RemoveAll(first.Dir); err != nil {
				t.Fatal(err)
			}
		}
		again := take(t, s, skillfs.DirFS(dir))
		for name, want := range map[string]bool{"SKILL.md": !remove, "scripts/run.sh": !remove, "data/a": false} {
			before, _ := os.Stat(filepath.Join(first.Dir, name))
			after, err := os.Stat(filepath.Join(again.Dir, name))
			if err != nil || os.SameFile(before, after) != want {
				t.Errorf("%s is linked: %t, %v", name, !want, err)
			}
		}
		first = again
	}
}

// TestLinkedFilesCountOnce wants the bound of a store to be about the disk's space.
func TestLinkedFilesCountOnce(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one/a", "two/a"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(dir+"/one/a", make([]byte, 1<<20), 0o644), os.Link(dir+"/one/a", dir+"/two/a")); err != nil {
		t.Skip(err)
	}
	counted := counter{}
	if one, two := counted.of(dir+"/one"), counted.of(dir+"/two"); one < 1<<20 || two >= 1<<20 {
		t.Errorf("%d and %d bytes", one, two)
	}
}

// pack returns a package with a skill.
func pack(t *testing.T, content string) []byte {
	t.Helper()
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	file, err := w.Create("SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// TestRenew makes the snapshot of an edited skill before it is taken, once for each
// time that it was taken.
func TestRenew(t *testing.T) {
	dir, s := exampleFolder(t), later(t)
	renewed := func(content string, want int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "data/a"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := s.Renew(t.Context(), skillfs.DirFS(dir), Use{Skill: "demo"}); err != nil {
			t.Fatal(err)
		}
		if all, err := filepath.Glob(filepath.Join(s.dir, ofPrefix+"*/*")); err != nil || len(all) != want {
			t.Errorf("%s: %d snapshots, want %d; %v", content, len(all), want, err)
		}
	}
	renewed("not taken yet", 0)
	take(t, s, skillfs.DirFS(dir))
	renewed("taken", 2)
	renewed("taken before the last renewal", 2)
	take(t, s, skillfs.DirFS(dir))
	renewed("taken again", 4)
}

// TestPackage compares the stamp of a packed skill's file only.
func TestPackage(t *testing.T) {
	certainly(t)
	dir, s := t.TempDir(), later(t)
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(dir+"/new", pack(t, content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir+"/new", dir+"/a.skill"); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	files := skillfs.PackageFS(skillfs.DirFS(dir), "a.skill")
	first := take(t, s, files)
	if _, r := s.memory.of("demo"); !r.current(place{dir, "a.skill"}) {
		t.Error("it would be read again")
	}
	write("two")
	if again := take(t, s, files); again.Digest == first.Digest {
		t.Error("a change was not seen")
	}
}

// TestMemoryIsBounded discards the records that were used the longest ago.
func TestMemoryIsBounded(t *testing.T) {
	m := newMemory()
	put := func(skill string, entries int) *remembered {
		r, _ := m.of(skill)
		m.put(r, &record{tree: make(tree, entries)})
		return r
	}
	a, b := put("a", maxRemembered/2), put("b", maxRemembered/4)
	m.of("a")
	c := put("c", maxRemembered/2)
	if a.last == nil || b.last != nil || c.last == nil || m.size != maxRemembered {
		t.Errorf("%v %v %v, %d entries", a.last != nil, b.last != nil, c.last != nil, m.size)
	}
	d := put("d", 2*maxRemembered)
	if a.last != nil || c.last != nil || d.last == nil {
		t.Error("not only the newest is left")
	}
}

// TestSnapshotIsShared wants a call that waited for another's snapshot to take that, if
// it is of a time after the call began and the folder is still there.
func TestSnapshotIsShared(t *testing.T) {
	dir, s := exampleFolder(t), New(t.TempDir())
	began := time.Now()
	take(t, s, skillfs.DirFS(dir))
	_, last := s.memory.of("demo")
	at, _ := placeOf(skillfs.DirFS(dir))
	if !last.since(began, at) || last.since(time.Now(), at) || last.since(began, place{dir + "/data", ""}) {
		t.Error("not shared, or by others")
	}
	if err := errors.Join(os.Rename(dir, dir+"-old"), os.Mkdir(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if last.since(began, at) {
		t.Error("shared with another folder")
	}
}

// TestRecheck sees a write that no stamp shows: within two seconds after the last, with
// the same size and times.
func TestRecheck(t *testing.T) {
	certainly(t)
	dir, s := exampleFolder(t), later(t)
	// All were written long ago, for the store, except for one.
	name := filepath.Join(dir, "data/a")
	if err := os.Chtimes(name, time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	first := take(t, s, skillfs.DirFS(dir))
	if again := take(t, s, skillfs.DirFS(dir)); *again != *first {
		t.Errorf("%+v, then %+v", first, again)
	}
	known, last := s.memory.of("demo")
	if err := os.WriteFile(name, []byte("b"), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	forged := *last
	forged.tree = slices.Clone(last.tree)
	for i := range forged.tree {
		if e := &forged.tree[i]; e.name == "data/a" {
			e.stamp = stamp.Of(info)
		}
	}
	forged.watched = forged.tree
	s.memory.put(known, &forged)
	if again := take(t, s, skillfs.DirFS(dir)); again.Digest == first.Digest {
		t.Error("the second write was not seen")
	}
}
