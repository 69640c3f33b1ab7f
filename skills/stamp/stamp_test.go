package stamp

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestStamp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write := func(text string, at time.Time) Stamp {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		looked, err := Look(file)
		if s := Of(info); err != nil || s != looked {
			t.Errorf("stamp %+v, looked at %+v, %v", s, looked, err)
		}
		return looked
	}
	now := time.Now()
	old := write("one", now.Add(-time.Hour))
	if longer := write("three", now.Add(-time.Hour)); longer == old {
		t.Error("another size makes no other stamp")
	}
	if later := write("one", now.Add(-time.Minute)); later == old {
		t.Error("another time makes no other stamp")
	}
	if _, err := Look(file + "x"); !os.IsNotExist(err) {
		t.Errorf("looking at nothing: %v", err)
	}
}

func TestSettled(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		changed, modified time.Duration // ago
		want              bool
	}{
		{time.Hour, time.Hour, true},
		{time.Second, time.Hour, false},
		{time.Hour, time.Second, false},
		{settledFor, settledFor, false},
		{time.Hour, -time.Hour, false}, // a time to come
	} {
		s := Stamp{Changed: now.Add(-test.changed).UnixNano(), Modified: now.Add(-test.modified).UnixNano()}
		if got := s.Settled(now); got != test.want {
			t.Errorf("changed %s and modified %s ago: %t", test.changed, test.modified, got)
		}
	}
}

// TestFolder looks at what lies in a folder as Look does, with no link followed.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(dir+"/sub", 0o755), os.WriteFile(dir+"/sub/file", []byte("x"), 0o640)); err != nil {
		t.Fatal(err)
	}
	names := []string{".", "sub", "sub/file"}
	if os.Symlink("sub", dir+"/link") == nil {
		names = append(names, "link")
	}
	folder, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, name := range names {
		want, err := Look(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if found, err := folder.Look(name); err != nil || found != want {
			t.Errorf("%s: %+v, %v; want %+v", name, found, err, want)
		}
	}
	for _, name := range []string{"missing", "sub/file/x", "a\x00b"} {
		if _, err := folder.Look(name); err == nil {
			t.Errorf("%q has a stamp", name)
		}
	}
	if n := testing.AllocsPerRun(10, func() { _, _ = folder.Look("sub/file") }); n > 0 && runtime.GOOS == "linux" {
		t.Errorf("%v allocations for a look", n)
	}
}

// TestWritten wants a writer to be noticed while it has the file open, and not to be
// disturbed.
func TestWritten(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say who writes")
	}
	name := filepath.Join(t.TempDir(), "file")
	writer, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	reader, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if !Written(reader) {
		t.Error("the writer is not noticed")
	}
	writer.Close()
	if Written(reader) {
		t.Error("a closed writer is noticed")
	}
	if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
		t.Errorf("writing after it: %v", err)
	}
}

// TestWriterOpensDuringLook has a file looked at and opened for writing at the same
// time: the signal that the kernel sends then must not end the process.
func TestWriterOpensDuringLook(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		for range 300 {
			if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	reader, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for range 300 {
		Written(reader)
	}
	writing.Wait()
}
