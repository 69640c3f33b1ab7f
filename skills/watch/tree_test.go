package watch

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A fakeNotifier is a notifier that keeps its watches as inotify does, by
// folder and not by path, and sends nothing: tests apply the batches.
type fakeNotifier struct {
	watches map[string]os.FileInfo
	adds    int
	fail    func(folder string) error // what Add returns, if not nil
}

func (n *fakeNotifier) Add(folder string) error {
	n.adds++
	if n.fail != nil {
		if err := n.fail(folder); err != nil {
			return err
		}
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	for _, other := range n.watches {
		if os.SameFile(other, info) {
			return nil
		}
	}
	n.watches[folder] = info
	return nil
}

func (n *fakeNotifier) Remove(folder string) error {
	if n.watches[folder] == nil {
		return fsnotify.ErrNonExistentWatch
	}
	delete(n.watches, folder)
	return nil
}

func (n *fakeNotifier) WatchList() []string { return slices.Collect(maps.Keys(n.watches)) }
func (n *fakeNotifier) Close() error        { return nil }

// A stand is a tree on a fakeNotifier.
type stand struct {
	*testing.T
	*tree
	source *fakeNotifier
	logs   *logs
}

func newStand(t *testing.T, o Options, fail func(string) error, roots ...string) *stand {
	logs := &logs{}
	o.Logger = slog.New(logs)
	source := &fakeNotifier{watches: map[string]os.FileInfo{}, fail: fail}
	tree := newTree(source, o.withDefaults())
	tree.begin(roots, nil)
	return &stand{t, tree, source, logs}
}

// apply applies one event and checks which paths it touched.
func (s *stand) event(op fsnotify.Op, path string, want ...string) {
	s.Helper()
	got := s.apply(batch{ops: map[string]fsnotify.Op{path: op}})
	if diff := cmp.Diff(shortest(want), shortest(got)); diff != "" {
		s.Errorf("paths touched (-want +got):\n%s", diff)
	}
}

// watched checks which folders below base have a watch.
func (s *stand) watched(base string, want ...string) {
	s.Helper()
	var got []string
	for path := range s.source.watches {
		if skillfs.Inside(base, path) {
			got = append(got, path)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("watches (-want +got):\n%s", diff)
	}
}

// gapsAre checks the paths of the gaps.
func (s *stand) gapsAre(want ...string) []Gap {
	s.Helper()
	var got []string
	list := s.gaps.list()
	for _, gap := range list {
		got = append(got, gap.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("gaps (-want +got):\n%s", diff)
	}
	return list
}

func TestAnEventCostsWhatItTouched(t *testing.T) {
	root := tempDir(t)
	for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		mkdir(t, root, name, "scripts")
	}
	s := newStand(t, Options{}, nil, root)
	s.source.adds = 0

	s.event(fsnotify.Write, filepath.Join(root, "c", "SKILL.md"), filepath.Join(root, "c", "SKILL.md"))
	s.event(fsnotify.Create, filepath.Join(root, "c", "new.md"), filepath.Join(root, "c", "new.md"))
	if s.source.adds != 0 {
		t.Errorf("events of files added %d watches", s.source.adds)
	}
	made := filepath.Dir(mkdir(t, root, "made", "scripts"))
	s.event(fsnotify.Create, made, made)
	if s.source.adds != 2 {
		t.Errorf("two new folders added %d watches", s.source.adds)
	}
	before := s.plan
	s.event(fsnotify.Create, mkdir(t, filepath.Dir(root), "other"))
	if s.plan != before {
		t.Error("a folder beside the root made a new plan")
	}
}

// Some systems say that a folder is written when an entry of it changes.
func TestWriteToAFolderIsNoChange(t *testing.T) {
	root := tempDir(t)
	skill := mkdir(t, root, "skill")
	s := newStand(t, Options{}, nil, root)
	s.event(fsnotify.Write, skill)
}

// On Linux the attributes of a file change when it is removed.
func TestAttributesOfWhatIsGoneAreNoChange(t *testing.T) {
	root := tempDir(t)
	s := newStand(t, Options{}, nil, root)
	s.event(fsnotify.Chmod, filepath.Join(root, "gone"))
}

// A root appears after it was looked for and before the folder that it would
// appear in is watched.
func TestRootThatAppearsWhileItIsLookedFor(t *testing.T) {
	base := tempDir(t)
	root := filepath.Join(base, "a", "root")
	appear := func(folder string) error {
		if folder == base {
			mkdir(t, root)
		}
		return nil
	}
	s := newStand(t, Options{}, appear, root)
	s.watched(root, root)
	s.watched(base, base, filepath.Dir(root), root)
}

// A folder moves into a new one before that is watched. It is found at its new path, where
// it shares the old watch, before the event that it left.
// The removal of a file and the creation of what takes its place may be one batch.
func TestFileReplacedAtOnce(t *testing.T) {
	dir, elsewhere := tempDir(t), mkdir(t, tempDir(t), "elsewhere")
	for name, replace := range map[string]func(root string){
		"folder": func(root string) { mkdir(t, root) },
		"link":   func(root string) { link(t, elsewhere, root) },
	} {
		root := write(t, dir, name)
		s := newStand(t, Options{}, nil, root)
		remove(t, root)
		replace(root)
		s.event(fsnotify.Remove|fsnotify.Create, root, root)
		real, err := filepath.EvalSymlinks(root)
		must(t, err)
		s.event(fsnotify.Create, write(t, real, "SKILL.md"), filepath.Join(root, "SKILL.md"))
	}
}

func TestMovedFolderKeepsItsWatch(t *testing.T) {
	root := tempDir(t)
	from := mkdir(t, root, "from")
	s := newStand(t, Options{}, nil, root)

	into := mkdir(t, root, "into")
	to := filepath.Join(into, "to")
	rename(t, from, to)
	s.event(fsnotify.Create, into, into, from)
	s.watched(root, root, into, to)
	s.event(fsnotify.Rename, from, from)
	s.watched(root, root, into, to)
}

func TestExchangedFoldersKeepTheirWatches(t *testing.T) {
	root := tempDir(t)
	a, b, aside := mkdir(t, root, "a"), mkdir(t, root, "b"), filepath.Join(root, "aside")
	s := newStand(t, Options{}, nil, root)
	rename(t, a, aside)
	rename(t, b, a)
	rename(t, aside, b)
	moved := fsnotify.Rename | fsnotify.Create

	got := s.apply(batch{ops: map[string]fsnotify.Op{a: moved, b: moved, aside: moved}})
	if diff := cmp.Diff([]string{a, aside, b}, shortest(got)); diff != "" {
		t.Errorf("paths touched (-want +got):\n%s", diff)
	}
	s.watched(root, root, a, b)
	for _, path := range []string{a, b} {
		info, err := os.Stat(path)
		must(t, err)
		if !os.SameFile(info, s.source.watches[path]) {
			t.Errorf("the watch of %s is on what was there before", path)
		}
	}
}

func TestOverflowStartsAfresh(t *testing.T) {
	root, missing := tempDir(t), filepath.Join(tempDir(t), "missing")
	old := mkdir(t, root, "old")
	s := newStand(t, Options{}, nil, root, missing)
	rename(t, old, filepath.Join(root, "new"))

	got := s.apply(batch{overflow: true})
	if diff := cmp.Diff(shortest([]string{root, missing}), shortest(got)); diff != "" {
		t.Errorf("paths touched (-want +got):\n%s", diff)
	}
	s.watched(root, root, filepath.Join(root, "new"))
}

func TestLimitOfWatches(t *testing.T) {
	root := tempDir(t)
	var folders []string
	for _, name := range []string{"a", "b", "c"} {
		folders = append(folders, mkdir(t, root, name))
	}
	full := func(folder string) error {
		if folder == folders[1] || folder == folders[2] {
			return syscall.ENOSPC
		}
		return nil
	}
	s := newStand(t, Options{}, full, root)
	s.watched(root, root, folders[0])
	for _, gap := range s.gapsAre(folders[1], folders[2]) {
		isError(t, gap.Err, ErrLimit)
		isError(t, gap.Err, syscall.ENOSPC)
	}
	if got := s.logs.all(); len(got) != 1 {
		t.Errorf("%d warnings, want one: %q", len(got), got)
	} else if runtime.GOOS == "linux" && !strings.Contains(got[0], "fs.inotify.max_user_watches") {
		t.Errorf("the warning names no remedy: %s", got[0])
	}

	// What is not watched is still reported by the folder that holds it.
	remove(t, folders[1])
	s.event(fsnotify.Remove, folders[1], folders[1])
	s.gapsAre(folders[2])
	s.source.fail = nil
	remove(t, folders[2])
	mkdir(t, folders[2])
	s.event(fsnotify.Remove|fsnotify.Create, folders[2], folders[2])
	s.gapsAre()
	s.watched(root, root, folders[0], folders[2])
}

func TestLimitNamesItsSetting(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE} {
		err := asLimit(cause, instanceRemedy)
		isError(t, err, ErrLimit)
		isError(t, err, cause)
		if runtime.GOOS == "linux" && !strings.Contains(err.Error(), "fs.inotify.max_user_instances") {
			t.Errorf("no remedy in %q", err)
		}
	}
	if err := asLimit(syscall.EACCES, watchRemedy); errors.Is(err, ErrLimit) {
		t.Errorf("a limit: %v", err)
	}
}

func TestLimitOfFolders(t *testing.T) {
	root := tempDir(t)
	a, b := mkdir(t, root, "a"), mkdir(t, root, "b")
	mkdir(t, root, "a", "deep")
	s := newStand(t, Options{Folders: 2}, nil, root)
	s.watched(root, root, a, b) // the near ones, not the first in order
	isError(t, s.gapsAre(root)[0].Err, ErrFolders)

	remove(t, b)
	s.event(fsnotify.Remove, b, root) // where changes may have gone unnoticed
	s.gapsAre()
	c := mkdir(t, root, "c")
	s.event(fsnotify.Create, c, c, filepath.Join(a, "deep"))
	s.watched(root, root, a, c)
	s.gapsAre(root)
}

func TestDepth(t *testing.T) {
	root := tempDir(t)
	deep := mkdir(t, root, "1", "2", "3")
	s := newStand(t, Options{Depth: 2}, nil, root)
	s.watched(root, root, filepath.Join(root, "1"), filepath.Dir(deep))
	s.gapsAre()
}

func TestNothingIsHeldForWhatIsGone(t *testing.T) {
	base := tempDir(t)
	root := mkdir(t, base, "root")
	for _, name := range []string{"a", "b"} {
		mkdir(t, root, name, "x", "y")
		link(t, filepath.Join(base, "elsewhere"), filepath.Join(root, name, "link"))
	}
	mkdir(t, base, "elsewhere", "z")
	s := newStand(t, Options{}, nil, root)
	remove(t, filepath.Join(base, "elsewhere"))
	remove(t, root)
	s.event(fsnotify.Remove, root, root)

	for path := range s.plan.found {
		if skillfs.Inside(root, path) {
			t.Errorf("%s is still held", path)
		}
	}
	for path := range s.source.watches {
		if !s.plan.watches(path) {
			t.Errorf("%s is watched for nothing", path)
		}
	}
	if len(s.armed) != len(s.source.watches) {
		t.Errorf("%d watches are held, of %d", len(s.armed), len(s.source.watches))
	}
}
