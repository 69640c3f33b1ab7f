package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"
)

// version returns a skill's files, of about so many bytes.
func version(n, bytes int) fstest.MapFS {
	return fstest.MapFS{"SKILL.md": {Data: fmt.Appendf(nil, "%*d", bytes, n)}}
}

// age makes it so that a snapshot was last in use some time ago.
func age(t *testing.T, dir string, ago time.Duration) {
	t.Helper()
	then := time.Now().Add(-ago)
	if err := os.Chtimes(dir, then, then); err != nil {
		t.Fatal(err)
	}
}

// sweepNow has the next snapshot that is taken be followed by a sweep.
func sweepNow(t *testing.T, s *Store) {
	t.Helper()
	s.sweeper.last = time.Time{}
	age(t, filepath.Join(s.dir, sweptMark), 2*sweepTime)
}

func there(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

func TestUnusedAreRemoved(t *testing.T) {
	s := New(t.TempDir())
	gone, stays := take(t, s, version(1, 9)).Dir, take(t, s, version(2, 9)).Dir
	aside, earlier := filepath.Join(s.dir, asidePrefix+"of a process that died"), filepath.Join(s.dir, "0123")
	for _, dir := range []string{aside, earlier} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		age(t, dir, 2*unused)
	}
	age(t, gone, 2*unused)
	sweepNow(t, s)
	take(t, s, version(3, 9))
	for dir, want := range map[string]bool{gone: false, aside: false, earlier: false, stays: true} {
		if there(dir) != want {
			t.Errorf("%s is there: %v", dir, !want)
		}
	}
}

// TestBoundOfOneSkill wants the newest of a skill's snapshots to be left, with
// those in use, and nothing of another's to be taken.
func TestBoundOfOneSkill(t *testing.T) {
	s := New(t.TempDir())
	other, err := s.Take(t.Context(), version(0, 9), Use{Skill: "other"})
	if err != nil {
		t.Fatal(err)
	}
	age(t, other.Dir, 100*time.Hour)
	used, err := s.Take(t.Context(), version(-1, 9), Use{Skill: "demo", Lease: 2 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for n := range 2 * maxEach {
		dir := take(t, s, version(n, 9)).Dir
		age(t, dir, time.Duration(2*maxEach-n)*2*time.Hour)
		dirs = append(dirs, dir)
	}
	sweepNow(t, s)
	take(t, s, version(2*maxEach-1, 9))
	for n, dir := range dirs {
		if want := n > maxEach; there(dir) != want { // one place is that of the one in use
			t.Errorf("%d is there: %v", n, !want)
		}
	}
	if !there(other.Dir) || !there(used.Dir) {
		t.Errorf("another skill's is there: %v; the one in use is: %v", there(other.Dir), there(used.Dir))
	}
}

func TestBoundOfAll(t *testing.T) {
	s := New(t.TempDir())
	s.sweeper.total = 1 << 20
	var dirs []string
	for n := range 6 {
		snap, err := s.Take(t.Context(), version(n, 300<<10), Use{Skill: fmt.Sprint(n)})
		if err != nil {
			t.Fatal(err)
		}
		age(t, snap.Dir, time.Duration(10-n)*time.Hour)
		dirs = append(dirs, snap.Dir)
	}
	age(t, dirs[0], 0) // in use
	sweepNow(t, s)
	if _, err := s.Take(t.Context(), version(5, 300<<10), Use{Skill: "5"}); err != nil {
		t.Fatal(err)
	}
	for n, want := range []bool{true, false, false, false, true, true} {
		if there(dirs[n]) != want {
			t.Errorf("%d is there: %v", n, !want)
		}
	}
}

// A lease that is longer than a later one holds.
func TestLease(t *testing.T) {
	s := New(t.TempDir())
	for _, lease := range []time.Duration{time.Hour, 5 * time.Hour, time.Minute} {
		if _, err := s.Take(t.Context(), demo(), Use{Lease: lease}); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := s.Take(t.Context(), demo(), Use{})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(snap.Dir); err != nil || time.Until(info.ModTime()) < 4*time.Hour {
		t.Errorf("in use until %v, %v", info.ModTime(), err)
	}
}

// TestSweptHourly wants one sweep in an hour, whichever store makes it.
func TestSweptHourly(t *testing.T) {
	s := New(t.TempDir())
	dir := take(t, s, version(1, 9)).Dir
	age(t, dir, 2*unused)
	take(t, s, version(2, 9))
	take(t, New(s.dir), version(3, 9))
	if !there(dir) {
		t.Fatal("it was swept within the hour")
	}
	sweepNow(t, s)
	take(t, New(s.dir), version(3, 9))
	if there(dir) {
		t.Error("it was not swept after an hour")
	}
}
