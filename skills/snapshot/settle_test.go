package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
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
