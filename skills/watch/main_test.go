package watch

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds a wait for what must happen; no test passes or fails by it
// unless something is wrong.
const patience = 30 * time.Second

// A probe is a watcher of real folders and what a test needs to know of it.
type probe struct {
	*testing.T
	*Watcher
	bell string // a watched folder that only touchedBy writes to
	rung int    // how often
	logs *logs
}

// newProbe returns a watcher of roots.
func newProbe(t *testing.T, roots ...string) *probe {
	t.Helper()
	return newProbeWith(t, &Options{}, roots...)
}

func newProbeWith(t *testing.T, o *Options, roots ...string) *probe {
	t.Helper()
	p := &probe{T: t, bell: tempDir(t), logs: &logs{}}
	o.Logger = slog.New(p.logs)
	if o.quiet == 0 {
		o.quiet = time.Millisecond
	}
	w, err := newBegun(append(slices.Clone(roots), p.bell), o)
	if err != nil {
		t.Fatal(err)
	}
	p.Watcher = w
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// newBegun returns a watcher of roots.
func newBegun(roots []string, o *Options) (*Watcher, error) {
	w, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := w.Begin(roots, nil); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// expect runs action and checks that the paths touched by it are want, no more
// and no less. It waits for no length of time: it rings the bell after action,
// and what action touched is reported with the bell at the latest.
func (p *probe) expect(action func(), want ...string) {
	p.Helper()
	if want = shortest(want); want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, p.touchedBy(action)); diff != "" {
		p.Errorf("paths touched (-want +got):\n%s", diff)
	}
}

// touchedBy runs action and returns the paths touched, without those that lie
// below another.
func (p *probe) touchedBy(action func()) []string {
	p.Helper()
	action()
	p.rung++ // a file of its own, not to mistake the rest of one ring for the next
	ring := write(p.T, p.bell, strconv.Itoa(p.rung))
	var touched []string
	for {
		paths := p.next().Paths
		touched = append(touched, slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
			return skillfs.Inside(p.bell, path)
		})...)
		if slices.Contains(paths, ring) {
			return append([]string{}, shortest(touched)...)
		}
	}
}

func (p *probe) next() Change {
	p.Helper()
	select {
	case change := <-p.Changes():
		return change
	case <-time.After(patience):
		p.Fatal("no change was reported")
		return Change{}
	}
}

// shortest returns paths sorted, without those that lie below another.
func shortest(paths []string) []string {
	set := pending{paths: map[string]struct{}{}}
	for _, path := range paths {
		set.paths[path] = struct{}{}
	}
	return set.change().Paths
}

// tempDir returns a new folder by its path without symbolic links.
func tempDir(t *testing.T) string {
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

func mkdir(t testing.TB, elements ...string) string {
	t.Helper()
	dir := filepath.Join(elements...)
	must(t, os.MkdirAll(dir, 0o755))
	return dir
}

func write(t testing.TB, elements ...string) string {
	t.Helper()
	file := filepath.Join(elements...)
	must(t, os.WriteFile(file, []byte(time.Now().String()), 0o644))
	return file
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.Rename(from, to))
}

func remove(t *testing.T, path string) {
	t.Helper()
	must(t, os.RemoveAll(path))
}

func link(t *testing.T, target, path string) string {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	return path
}

func isError(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}
