package quarantine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newFolder(t *testing.T, limits *Limits) *Folder {
	t.Helper()
	f, err := New(t.TempDir(), limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(f.Path()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is still there: %v", err)
		}
	})
	return f
}

func TestCreate(t *testing.T) {
	f := newFolder(t, nil)
	if err := f.Create("a/run.sh", true, strings.NewReader("echo")); err != nil {
		t.Fatal(err)
	}
	if err := f.Link("b", "a/run.sh"); err != nil {
		t.Fatal(err)
	}
	if err := f.Seal(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(f.Path(), "b"))
	if err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
}
