package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	name := filepath.Join(dir, "file")
	for _, text := range []string{"first", "", "third"} {
		if err := WriteBytes(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		expect(t, dir, text)
	}
	want := errors.New("no more")
	err := Write(name, func(w io.Writer) error {
		_, err := w.Write([]byte("half"))
		return errors.Join(err, want)
	})
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	expect(t, dir, "third")
}

// A folder cannot be replaced, and nothing is left beside it.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "file", "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(filepath.Join(dir, "file"), []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// expect checks that a folder holds the file alone, with a text.
func expect(t *testing.T, dir, want string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the folder holds %v, %v", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(got) != want {
		t.Errorf("the file holds %q, %v; want %q", got, err, want)
	}
}

// Of programs that create a file at once, one does; the file is whole, and stays.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	errs := make(chan error)
	for range 8 {
		go func() { errs <- Create(name, []byte("whole")) }()
	}
	created := 0
	for range 8 {
		switch err := <-errs; {
		case err == nil:
			created++
		case !errors.Is(err, fs.ErrExist):
			t.Error(err)
		}
	}
	if err := Create(name, []byte("another")); !errors.Is(err, fs.ErrExist) || created != 1 {
		t.Errorf("%d created it, then %v", created, err)
	}
	expect(t, dir, "whole")
}
