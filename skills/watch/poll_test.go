package watch

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// settled makes a file, or changes what is in one, as of long ago, so that the
// next look tells it from what it becomes.
func settled(t *testing.T, content string, elements ...string) string {
	t.Helper()
	file := filepath.Join(elements...)
	must(t, os.WriteFile(file, []byte(content), 0o644))
	must(t, os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)))
	return file
}

// polls polls once and checks which paths that touched.
func (s *stand) polls(want ...string) {
	s.Helper()
	got := shortest(s.apply(s.poll()))
	if diff := cmp.Diff(shortest(want), got); diff != "" {
		s.Errorf("paths touched (-want +got):\n%s", diff)
	}
}

// Where there are no watches, whatever happens is found by looking.
func TestPolling(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	root := tempDir(t)
	a := mkdir(t, root, "a")
	file := settled(t, "1", a, "SKILL.md")
	for _, dir := range []string{a, root} {
		must(t, os.Chtimes(dir, old, old))
	}
	s := newStand(t, Options{}, func(string) error { return syscall.ENOSPC }, root)
	s.polls()
	settled(t, "22", file)
	s.polls(file)
	s.polls()
	must(t, os.Chmod(file, 0o755))
	s.polls(file)
	remove(t, file)
	s.polls(file)
	inner := mkdir(t, a, "b", "c")
	s.polls(filepath.Join(a, "b"))
	deep := settled(t, "1", inner, "new")
	s.polls(deep)
	rename(t, filepath.Join(a, "b"), filepath.Join(root, "z"))
	s.polls(filepath.Join(a, "b"), filepath.Join(root, "z"))
	settled(t, "333", root, "z", "c", "new")
	s.polls(filepath.Join(root, "z", "c", "new"))
	remove(t, filepath.Join(root, "z"))
	s.polls(filepath.Join(root, "z"))
	if got := s.logs.all(); len(got) != 1 {
		t.Errorf("%d warnings, want one: %q", len(got), got)
	}
}

// Once the system has watches again, they are used, and nothing is lost on the way.
func TestPollingEnds(t *testing.T) {
	root := tempDir(t)
	file := settled(t, "1", mkdir(t, root, "a"), "SKILL.md")
	s := newStand(t, Options{}, func(string) error { return syscall.ENOSPC }, root)
	s.apply(s.poll())
	s.source.fail = nil
	settled(t, "22", file)
	if got := s.apply(s.poll()); !slices.Contains(got, file) && !slices.Contains(got, root) {
		t.Errorf("touched %q, want %s", got, file)
	}
	s.gapsAre()
	s.watched(root, root, filepath.Dir(file))
	if len(s.places.polled.folders) > 0 {
		t.Errorf("still polled: %v", s.places.polled.folders)
	}
}

// Each interval has a bound, and every folder its turn.
func TestPollingTakesTurns(t *testing.T) {
	root := tempDir(t)
	var files []string
	for i := range 9 {
		files = append(files, settled(t, "1", mkdir(t, root, fmt.Sprint(i)), "SKILL.md"))
	}
	old := time.Now().Add(-time.Hour)
	s := newStand(t, Options{}, func(folder string) error {
		if skillfs.Inside(root, folder) && folder != root {
			return syscall.ENOSPC
		}
		return nil
	}, root)
	for i := range files {
		must(t, os.Chtimes(filepath.Dir(files[i]), old, old))
	}
	s.apply(s.poll())
	for i := range files {
		settled(t, "22", files[i])
	}
	s.places.polled.looks = 4 // two folders of one file each
	found := map[string]bool{}
	for range 5 {
		touched := s.apply(s.poll())
		if len(touched) > 3 {
			t.Errorf("%d folders in one turn", len(touched))
		}
		for _, path := range touched {
			found[path] = true
		}
	}
	for _, file := range files {
		if !found[file] {
			t.Errorf("not found: %s", file)
		}
	}
}

// A system without watchers has all of it polled, and the watcher ends as ever.
func TestNoWatchers(t *testing.T) {
	root := tempDir(t)
	file := settled(t, "1", root, "SKILL.md")
	must(t, os.Chtimes(root, time.Time{}, time.Now().Add(-time.Hour)))
	logs := &logs{}
	synctest.Test(t, func(t *testing.T) {
		o := (&Options{Logger: slog.New(logs)}).withDefaults()
		d := deaf{asLimit(syscall.EMFILE, instanceRemedy), make(chan fsnotify.Event)}
		w := start(d, d.events, nil, []string{root}, o)
		defer w.Close()
		began := time.Now()
		must(t, os.WriteFile(file, []byte("22"), 0o644))
		change := <-w.Changes()
		if !slices.Equal(change.Paths, []string{file}) {
			t.Errorf("paths %q, want %s", change.Paths, file)
		}
		if took := time.Since(began); took > pollEvery+o.quiet {
			t.Errorf("it took %v", took)
		}
		for _, gap := range w.Gaps() {
			isError(t, gap.Err, ErrLimit)
		}
	})
	if got := logs.all(); len(got) != 1 {
		t.Errorf("%d warnings, want one: %q", len(got), got)
	}
}
