package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A full disk fails writes, with an error that says so, and nothing else: rows can be read,
// the file stays sound, and writes succeed when there is space again.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("a small file system can be mounted by root alone:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	s := New(filepath.Join(dir, "skills-mcp.db"), nil)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := trust(t.Context(), s, "/a"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, added := NewRuns(s), 0
	var err error
	for err == nil {
		if _, err = runs.Add(t.Context(), newRun(added)); err == nil {
			added++
		}
	}
	if !strings.Contains(err.Error(), "full") && !strings.Contains(err.Error(), "disk") {
		t.Errorf("%v does not say what is wrong", err)
	}
	for range 3 {
		if _, err := runs.Add(t.Context(), newRun(added)); err == nil {
			added++
		}
	}
	if found, err := runs.List(t.Context(), RunFilter{Limit: 1 << 20}); len(found) != added || err != nil {
		t.Errorf("%d of %d rows, %v", len(found), added, err)
	}
	if ok, err := trusted(t.Context(), s, "/a"); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Add(t.Context(), newRun(added)); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if err := check(s.File()); err != nil {
		t.Error(err)
	}
}
