package watch

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestFiles(t *testing.T) {
	root := tempDir(t)
	file := write(t, mkdir(t, root, "skill"), "SKILL.md")
	p := newProbe(t, root)

	p.expect(func() {})
	p.expect(func() { write(t, file) }, file)
	other := filepath.Join(root, "skill", "other.md")
	p.expect(func() { rename(t, file, other) }, file, other)
	p.expect(func() { remove(t, other) }, other)
	p.expect(func() { write(t, root, "new.md") }, filepath.Join(root, "new.md"))
}

func TestAtomicSave(t *testing.T) {
	root := tempDir(t)
	file := write(t, mkdir(t, root, "skill"), "SKILL.md")
	temp, backup := file+".tmp", file+"~"
	p := newProbe(t, root)

	for range 2 { // what took the file's place is watched as well
		p.expect(func() {
			write(t, temp)
			rename(t, temp, file)
		}, file, temp)
	}
	p.expect(func() {
		rename(t, file, backup)
		write(t, file)
		remove(t, backup)
	}, file, backup)
	p.expect(func() { write(t, file) }, file)
}

func TestNewFolders(t *testing.T) {
	root := tempDir(t)
	p := newProbe(t, root)

	top := filepath.Join(root, "a")
	p.expect(func() { write(t, mkdir(t, top, "b", "c"), "SKILL.md") }, top)
	file := filepath.Join(top, "b", "c", "SKILL.md")
	p.expect(func() { write(t, file) }, file)
}

func TestRemovedFolders(t *testing.T) {
	root := tempDir(t)
	top := filepath.Join(root, "a")
	file := write(t, mkdir(t, top, "b"), "SKILL.md")
	p := newProbe(t, root)

	p.expect(func() { remove(t, top) }, top)
	p.expect(func() { write(t, mkdir(t, top, "b"), "SKILL.md") }, top)
	p.expect(func() { write(t, file) }, file)
	p.expect(func() { // at once
		remove(t, top)
		mkdir(t, top, "b")
	}, top)
	p.expect(func() { write(t, file) }, file)
}

func TestRenamedFolders(t *testing.T) {
	root, outside := tempDir(t), tempDir(t)
	from, to, out := filepath.Join(root, "from"), filepath.Join(root, "to"), filepath.Join(outside, "out")
	write(t, mkdir(t, from, "sub"), "SKILL.md")
	p := newProbe(t, root)

	p.expect(func() { rename(t, from, to) }, from, to)
	p.expect(func() { write(t, to, "sub", "SKILL.md") }, filepath.Join(to, "sub", "SKILL.md"))
	p.expect(func() { rename(t, to, out) }, to)
	p.expect(func() { write(t, out, "sub", "SKILL.md") })
	p.expect(func() { rename(t, out, from) }, from)
	p.expect(func() { write(t, from, "sub", "SKILL.md") }, filepath.Join(from, "sub", "SKILL.md"))
	p.expect(func() { // through several names at once
		rename(t, from, to)
		rename(t, to, from+"2")
		rename(t, from+"2", from)
	}, from, to, from+"2")
	p.expect(func() { write(t, from, "sub", "SKILL.md") }, filepath.Join(from, "sub", "SKILL.md"))
}

func TestFolderThatReplacesAnEmptyOne(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder is not renamed over another here")
	}
	root := tempDir(t)
	empty, full := mkdir(t, root, "empty"), mkdir(t, root, "full")
	write(t, full, "SKILL.md")
	p := newProbe(t, root)

	p.expect(func() { must(t, syscall.Rename(full, empty)) }, empty, full)
	p.expect(func() { write(t, empty, "SKILL.md") }, filepath.Join(empty, "SKILL.md"))
}

func TestRootThatAppearsLater(t *testing.T) {
	base := tempDir(t)
	root := filepath.Join(base, "a", "b", "root")
	p := newProbe(t, root)

	p.expect(func() { write(t, base, "other") })
	p.expect(func() { mkdir(t, base, "other-folder", "b", "root") })
	p.expect(func() { mkdir(t, base, "a") })
	p.expect(func() { write(t, base, "a", "b2") })
	p.expect(func() { write(t, mkdir(t, root), "SKILL.md") }, root)
	p.expect(func() { write(t, root, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
	p.expect(func() { write(t, base, "a", "b", "beside") })
}

func TestRootThatComesAndGoes(t *testing.T) {
	base := tempDir(t)
	root := mkdir(t, base, "a", "root")
	p := newProbe(t, root)

	p.expect(func() { remove(t, root) }, root)
	p.expect(func() { mkdir(t, root) }, root)
	p.expect(func() { remove(t, filepath.Dir(root)) }, root)
	p.expect(func() { mkdir(t, filepath.Dir(root)) })
	p.expect(func() { mkdir(t, root) }, root)
	p.expect(func() { // at once
		remove(t, filepath.Dir(root))
		mkdir(t, root)
	}, root)
	p.expect(func() { write(t, root, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
}

func TestAncestorOfAMissingRootVanishes(t *testing.T) {
	base := tempDir(t)
	root := filepath.Join(base, "a", "b", "root")
	mkdir(t, base, "a", "b")
	p := newProbe(t, root)

	p.expect(func() { remove(t, filepath.Join(base, "a")) })
	p.expect(func() { mkdir(t, root) }, root)
	p.expect(func() { write(t, root, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
}

func TestAncestorOfARootIsRenamed(t *testing.T) {
	if !wholeTrails {
		t.Skip("not watched on this system")
	}
	base := tempDir(t)
	root := mkdir(t, base, "a", "b", "root")
	p := newProbe(t, root)

	p.expect(func() { rename(t, filepath.Join(base, "a"), filepath.Join(base, "z")) }, root)
	p.expect(func() { write(t, base, "z", "b", "root", "SKILL.md") })
	p.expect(func() { rename(t, filepath.Join(base, "z"), filepath.Join(base, "a")) }, root)
	p.expect(func() { write(t, root, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
}

func TestRootThatIsALink(t *testing.T) {
	base := tempDir(t)
	one, two := mkdir(t, base, "versions", "one", "skills"), mkdir(t, base, "versions", "two", "skills")
	current := link(t, filepath.Join("versions", "one"), filepath.Join(base, "current"))
	root := filepath.Join(current, "skills")
	p := newProbe(t, root)

	p.expect(func() { write(t, one, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
	p.expect(func() { write(t, two, "SKILL.md") })
	p.expect(func() {
		next := link(t, filepath.Join("versions", "two"), filepath.Join(base, "next"))
		rename(t, next, current)
	}, root)
	p.expect(func() { write(t, two, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
	p.expect(func() { write(t, one, "SKILL.md") })
	p.expect(func() { remove(t, two) }, root)
	p.expect(func() { mkdir(t, two) }, root)
}

func TestRootsInRootsAndTwice(t *testing.T) {
	outer := tempDir(t)
	inner := mkdir(t, outer, "inner")
	other := link(t, outer, filepath.Join(tempDir(t), "other"))
	p := newProbe(t, outer, inner, outer+string(filepath.Separator), other)

	p.expect(func() { write(t, inner, "SKILL.md") },
		filepath.Join(inner, "SKILL.md"), filepath.Join(other, "inner", "SKILL.md"))
	p.expect(func() {
		remove(t, inner)
		mkdir(t, inner)
	}, inner, filepath.Join(other, "inner"))
	p.expect(func() { write(t, inner, "SKILL.md") },
		filepath.Join(inner, "SKILL.md"), filepath.Join(other, "inner", "SKILL.md"))
}

func TestLinkedFolders(t *testing.T) {
	root := tempDir(t)
	skill := mkdir(t, root, "kept", "skill")
	one, two := link(t, skill, filepath.Join(root, "one")), filepath.Join(root, "two")
	p := newProbe(t, root)
	own := filepath.Join(skill, "SKILL.md")

	p.expect(func() { write(t, skill, "SKILL.md") }, own, filepath.Join(one, "SKILL.md"))
	p.expect(func() { link(t, skill, two) }, two)
	p.expect(func() { write(t, skill, "SKILL.md") }, own, filepath.Join(one, "SKILL.md"), filepath.Join(two, "SKILL.md"))
	p.expect(func() { remove(t, one) }, one)
	p.expect(func() { write(t, skill, "SKILL.md") }, own, filepath.Join(two, "SKILL.md"))
	p.expect(func() { remove(t, skill) }, skill, two)
	p.expect(func() { mkdir(t, skill, "sub") }, skill, two)
	p.expect(func() { write(t, skill, "sub", "x") }, filepath.Join(skill, "sub", "x"), filepath.Join(two, "sub", "x"))
}

// What lies outside of a root is not watched, whatever links lead there; where
// such a link leads is.
func TestLinksOutOfTheRoot(t *testing.T) {
	root, elsewhere := tempDir(t), tempDir(t)
	skill := write(t, mkdir(t, elsewhere, "skill"), "SKILL.md")
	out := link(t, filepath.Dir(skill), filepath.Join(root, "out"))
	link(t, "/", filepath.Join(root, "everything"))
	p := newProbe(t, root)

	p.expect(func() { write(t, skill) })
	p.expect(func() { remove(t, filepath.Dir(skill)) }, out)
	inside := mkdir(t, root, "inside")
	p.expect(func() {
		remove(t, out)
		link(t, inside, out)
	}, out, inside)
	p.expect(func() { write(t, inside, "SKILL.md") }, filepath.Join(inside, "SKILL.md"), filepath.Join(out, "SKILL.md"))
}

func TestLinkedFiles(t *testing.T) {
	root, elsewhere := tempDir(t), tempDir(t)
	target := write(t, elsewhere, "shared.md")
	file := link(t, target, filepath.Join(root, "SKILL.md"))
	p := newProbe(t, root)

	p.expect(func() { write(t, target) }, file)
	p.expect(func() { write(t, elsewhere, "other.md") })
	p.expect(func() { remove(t, target) }, file)
	p.expect(func() { write(t, target) }, file)
}

// Kubernetes mounts a ConfigMap like this, and swaps the link ..data.
func TestSwappedVersions(t *testing.T) {
	root := tempDir(t)
	write(t, mkdir(t, root, "..v1"), "SKILL.md")
	data := link(t, "..v1", filepath.Join(root, "..data"))
	file := link(t, filepath.Join("..data", "SKILL.md"), filepath.Join(root, "SKILL.md"))
	p := newProbe(t, root)

	v2 := filepath.Join(root, "..v2")
	p.expect(func() {
		write(t, mkdir(t, v2), "SKILL.md")
		rename(t, link(t, "..v2", filepath.Join(root, "..next")), data)
	}, data, file, v2, filepath.Join(root, "..next"))
}

func TestLoops(t *testing.T) {
	base := tempDir(t)
	root := mkdir(t, base, "root")
	deep := mkdir(t, root, "a", "b")
	link(t, root, filepath.Join(deep, "up"))
	link(t, base, filepath.Join(deep, "further-up"))
	link(t, "self", filepath.Join(deep, "self"))
	aside := mkdir(t, root, "aside")
	link(t, aside, filepath.Join(deep, "aside"))
	link(t, deep, filepath.Join(aside, "back"))
	p := newProbe(t, root)

	p.expect(func() { write(t, deep, "SKILL.md") }, filepath.Join(deep, "SKILL.md"), filepath.Join(aside, "back", "SKILL.md"))
	if gaps := p.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps: %v", gaps)
	}
}

func TestRootThatIsALoop(t *testing.T) {
	base := tempDir(t)
	root := link(t, "loop", filepath.Join(base, "loop"))
	p := newProbe(t, root)
	p.expect(func() {
		remove(t, root)
		mkdir(t, root)
	}, root)
	p.expect(func() { write(t, root, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
}

func TestSkippedFolders(t *testing.T) {
	root := tempDir(t)
	git := mkdir(t, root, ".git", "objects")
	p := newProbe(t, root)

	p.expect(func() { write(t, git, "x") })
	p.expect(func() { write(t, root, ".git", "HEAD") })
	p.expect(func() { write(t, mkdir(t, root, "node_modules", "x"), "SKILL.md") })
	p.expect(func() { remove(t, filepath.Join(root, "node_modules")) })
}

// A name that is skipped below a root may be on the way to one.
func TestRootWithASkippedName(t *testing.T) {
	root := filepath.Join(tempDir(t), ".venv", "skills")
	p := newProbe(t, root)
	p.expect(func() { mkdir(t, root) }, root)
	p.expect(func() { write(t, root, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
}

func TestRootThatIsAFile(t *testing.T) {
	root := write(t, tempDir(t), "file")
	p := newProbe(t, root)
	p.expect(func() { write(t, root) }, root)
	p.expect(func() {
		remove(t, root)
		mkdir(t, root)
	}, root)
	p.expect(func() { write(t, root, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes here")
	}
	root := tempDir(t)
	file := write(t, root, "run.sh")
	p := newProbe(t, root)

	p.expect(func() { must(t, os.Chmod(file, 0o755)) }, file)
	p.expect(func() { must(t, os.Chmod(file, 0o755)) })
	p.expect(func() { must(t, os.Chtimes(file, time.Now(), time.Now())) })
	p.expect(func() { must(t, os.Chmod(file, 0o644)) }, file)
	p.expect(func() { _, err := os.ReadFile(file); must(t, err) })
}

func TestUnreadableFolder(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("every folder is readable here")
	}
	root := tempDir(t)
	shut := mkdir(t, root, "shut")
	must(t, os.Chmod(shut, 0))
	t.Cleanup(func() { _ = os.Chmod(shut, 0o755) })
	p := newProbe(t, root)

	if gaps := p.Gaps(); len(gaps) != 1 || gaps[0].Path != shut {
		t.Errorf("gaps = %v", gaps)
	} else {
		isError(t, gaps[0].Err, fs.ErrPermission)
	}
	p.expect(func() { write(t, root, "x") }, filepath.Join(root, "x"))
	p.expect(func() { must(t, os.Chmod(shut, 0o755)) }, shut)
	p.expect(func() { write(t, shut, "SKILL.md") }, filepath.Join(shut, "SKILL.md"))
	if gaps := p.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps are left: %v", gaps)
	}
	p.expect(func() { must(t, os.Chmod(shut, 0)) }, shut)
	if gaps := p.Gaps(); len(gaps) != 1 {
		t.Errorf("gaps = %v", gaps)
	}
}

func TestUnsearchableAncestor(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("every folder is readable here")
	}
	base := tempDir(t)
	root := mkdir(t, base, "shut", "root")
	shut := filepath.Dir(root)
	must(t, os.Chmod(shut, 0))
	t.Cleanup(func() { _ = os.Chmod(shut, 0o755) })
	p := newProbe(t, root)

	if gaps := p.Gaps(); len(gaps) != 1 || gaps[0].Path != root {
		t.Errorf("gaps = %v", gaps)
	}
	p.expect(func() { must(t, os.Chmod(shut, 0o111)) }, root)
	p.expect(func() { write(t, root, "SKILL.md") }, filepath.Join(root, "SKILL.md"))
	if gaps := p.Gaps(); len(gaps) != 0 {
		t.Errorf("gaps are left: %v", gaps)
	}
}

func TestClose(t *testing.T) {
	root := tempDir(t)
	w, err := newBegun([]string{root}, nil)
	must(t, err)
	write(t, root, "never settles")
	must(t, w.Close())
	must(t, w.Close())
	if change, ok := <-w.Changes(); ok {
		t.Errorf("a change after Close: %v", change)
	}
}

// A folder that is watched ahead is not read again, and what changed in it before Begin is
// reported.
func TestAhead(t *testing.T) {
	root := tempDir(t)
	must(t, os.MkdirAll(filepath.Join(root, "old"), 0o755))
	w, err := New(&Options{quiet: time.Millisecond})
	must(t, err)
	p := &probe{T: t, Watcher: w, bell: tempDir(t), logs: &logs{}}
	defer w.Close()
	if !w.Ahead(root) || !w.Ahead(filepath.Join(root, "old")) {
		t.Fatal("the folders are not watched")
	}
	entries, err := os.ReadDir(root)
	must(t, err)
	asked := 0
	p.expect(func() {
		write(t, filepath.Join(root, "old"), "SKILL.md")
		must(t, os.Mkdir(filepath.Join(root, "new"), 0o755))
		must(t, w.Begin([]string{root, p.bell}, func(folder string) []fs.DirEntry {
			switch asked++; folder {
			case root:
				return entries
			case filepath.Join(root, "old"):
				return []fs.DirEntry{}
			}
			return nil
		}))
	}, filepath.Join(root, "old", "SKILL.md"), filepath.Join(root, "new"))
	if w.Ahead(root) {
		t.Error("a folder is watched ahead after the begin")
	}
	if asked != 3 {
		t.Errorf("entries of %d folders were asked for, want those of the first plan", asked)
	}
	p.expect(func() { write(t, filepath.Join(root, "new"), "SKILL.md") }, filepath.Join(root, "new", "SKILL.md"))
}

// A watcher that never began can be closed.
func TestCloseBeforeBegin(t *testing.T) {
	w, err := New(nil)
	must(t, err)
	root := tempDir(t)
	w.Ahead(root)
	write(t, root, "file")
	must(t, w.Close())
}

func TestCloseAmidEvents(t *testing.T) {
	root := tempDir(t)
	p := newProbe(t, root)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.MkdirAll(filepath.Join(root, "a", "b"), 0o755)
				_ = os.RemoveAll(filepath.Join(root, "a"))
			}
		}
	}()
	p.next()
	must(t, p.Close())
	close(stop)
	<-done
	if got := p.logs.all(); slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "closed") }) {
		t.Errorf("closing is logged: %q", got)
	}
}

func TestRelativeRoot(t *testing.T) {
	if _, err := newBegun([]string{"skills"}, nil); err == nil || !strings.Contains(err.Error(), "not absolute") {
		t.Errorf("error = %v", err)
	}
}

func TestNoRoots(t *testing.T) {
	w, err := newBegun(nil, nil)
	must(t, err)
	must(t, w.Close())
}

// A root may be a file, which is reported when its content changes. Its neighbours are
// not.
func TestFileRoot(t *testing.T) {
	dir := tempDir(t)
	file := filepath.Join(dir, "decisions", "changed")
	p := newProbe(t, file)

	p.expect(func() { write(t, mkdir(t, dir, "decisions"), "changed") }, file)
	p.expect(func() { must(t, os.WriteFile(file, []byte("1"), 0o600)) }, file)
	p.expect(func() { must(t, os.WriteFile(file, []byte("2"), 0o600)) }, file)
	p.expect(func() { write(t, dir, "decisions", "other") })
}

// A system without watchers is no error: the receiver looks for changes itself.
func TestNoWatchers(t *testing.T) {
	root, logs := tempDir(t), &logs{}
	d := deaf{asLimit(syscall.EMFILE, instanceRemedy), make(chan fsnotify.Event)}
	w := start(d, d.events, nil, (&Options{Logger: slog.New(logs)}).withDefaults())
	defer w.Close()
	if w.Ahead(root) {
		t.Error("a folder is watched ahead")
	}
	must(t, w.Begin([]string{root}, nil))
	if !w.Limited() {
		t.Error("the watcher is not limited")
	}
	for _, gap := range w.Gaps() {
		isError(t, gap.Err, ErrLimit)
	}
	if got := logs.all(); len(got) != 1 {
		t.Errorf("%d warnings, want one: %q", len(got), got)
	}
}
