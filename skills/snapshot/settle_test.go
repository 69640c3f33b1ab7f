package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A rewriting is a file system whose one file is being rewritten: it is empty for
// a while, and then has its contents.
type rewriting struct{ begun, ends time.Time }

func (r rewriting) now() fstest.MapFS {
	if time.Now().Before(r.ends) {
		return fstest.MapFS{"run.sh": {ModTime: r.begun}}
	}
	return fstest.MapFS{"run.sh": {Data: []byte("echo"), ModTime: r.ends}}
}

func (r rewriting) Open(name string) (fs.File, error) { return r.now().Open(name) }

// TestRewrittenInPlace takes a snapshot in the middle of a rewriting.
func TestRewrittenInPlace(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		snap := take(t, New(dir), rewriting{begun, begun.Add(4 * quiet)})
		if data, err := os.ReadFile(filepath.Join(snap.Dir, "run.sh")); string(data) != "echo" {
			t.Errorf("the snapshot has %q, %v", data, err)
		}
	})
}

// TestQuietIsNotWaitedFor wants no wait for files that nobody writes, and a
// bounded one for a file that somebody writes all the time.
func TestQuietIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			written func() time.Time
			least   time.Duration
			most    time.Duration
		}{
			"long ago":  {func() time.Time { return time.Now().Add(-time.Hour) }, 0, 0},
			"in future": {func() time.Time { return time.Now().Add(time.Hour) }, 0, 0},
			"always":    {time.Now, settleTimeout, settleTimeout + 2*quiet},
		} {
			began := time.Now()
			take(t, New(dir), written{test.written})
			if took := time.Since(began); took < test.least || took > test.most {
				t.Errorf("%s: it took %v", name, took)
			}
		}
	})
}

// written is a file system whose one file was written at some time.
type written struct{ at func() time.Time }

func (w written) Open(name string) (fs.File, error) {
	return fstest.MapFS{"run.sh": {Data: []byte("echo"), ModTime: w.at()}}.Open(name)
}

// TestWriterIsWaitedFor counts a file as busy while it is open for writing.
func TestWriterIsWaitedFor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say who writes")
	}
	dir := exampleFolder(t)
	s, err := openSource(skillfs.DirFS(dir), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	tree, err := s.list(nil)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(filepath.Join(dir, "data/a"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	quietly := time.Now().Add(quietEmpty) // but not so long ago that nobody asks
	if busy, rest := s.busy(tree, quietly); len(busy) != 1 || busy[0].name != "data/a" || rest != writerPoll {
		t.Errorf("busy: %v, for %v", busy, rest)
	}
	writer.Close()
	if busy, _ := s.busy(tree, quietly); len(busy) > 0 {
		t.Errorf("busy after the writer: %v", busy)
	}
}

// TestLogIsNotWaitedFor calls a skill with a log that is written all the time: it has to
// stay callable, and not after the whole time that a rewriting may take.
func TestLogIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir, s := exampleFolder(t), later(t)
	take(t, s, skillfs.DirFS(dir))
	log, err := os.OpenFile(filepath.Join(dir, "data/a"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.WriteString("line\n"); err != nil {
		t.Fatal(err)
	}
	var logging sync.WaitGroup
	stop := make(chan struct{})
	logging.Go(func() {
		defer log.Close()
		for tick := time.Tick(time.Millisecond); ; {
			select {
			case <-tick:
				_, _ = log.WriteString("line\n")
			case <-stop:
				return
			}
		}
	})
	began := time.Now()
	snap := take(t, s, skillfs.DirFS(dir))
	took := time.Since(began)
	close(stop)
	logging.Wait()
	if data, err := os.ReadFile(filepath.Join(snap.Dir, "data/a")); err != nil || !strings.HasPrefix(string(data), "aline\n") || took >= settleTimeout {
		t.Errorf("after %v: %.20q, %v", took, data, err)
	}
}

// A torn is a file system whose one file has other contents the first time that
// it is opened.
type torn struct{ opened *int }

func (f torn) Open(name string) (fs.File, error) {
	data := []byte("whole")
	if name == "run.sh" {
		if *f.opened++; *f.opened == 1 {
			data = []byte("torn!")
		}
	}
	return fstest.MapFS{"run.sh": {Data: data}}.Open(name)
}

// TestChangedBetween changes a file between the first look and the copy.
func TestChangedBetween(t *testing.T) {
	opened := 0
	s := New(t.TempDir())
	snap := take(t, s, torn{&opened})
	if data, err := os.ReadFile(filepath.Join(snap.Dir, "run.sh")); string(data) != "whole" {
		t.Errorf("the snapshot has %q, %v", data, err)
	}
	if !check(t.Context(), snap.Dir, snap.Digest) || len(asides(t, s.dir)) > 0 {
		t.Errorf("the snapshot is not what its digest says, or left %v", asides(t, s.dir))
	}
}
