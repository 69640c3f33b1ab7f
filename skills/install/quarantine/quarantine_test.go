package quarantine

import (
	"bytes"
	"errors"
	"maps"
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

func TestUnpackPart(t *testing.T) {
	archives := map[string][]byte{
		"zip": packZip(file("repo-1/README"), file("repo-1/skills/pdf/SKILL.md"), symlink("repo-1/skills/pdf/link", "SKILL.md"), file("../../elsewhere")),
		"tar": packTarGzip(file("repo-1/README"), file("repo-1/skills/pdf/SKILL.md"), symlink("repo-1/skills/pdf/link", "SKILL.md")),
	}
	pick := func(name string) string {
		part, _ := strings.CutPrefix(name, "repo-1/skills/")
		if part == name {
			return ""
		}
		return part
	}
	f := newFolder(t, nil)
	if err := f.UnpackPart(t.Context(), bytes.NewReader(archives["zip"]), int64(len(archives["zip"])), "", pick); err == nil {
		t.Error("a path out of the archive was left out in silence")
	}
	f = newFolder(t, nil)
	if err := f.UnpackPart(t.Context(), bytes.NewReader(archives["tar"]), int64(len(archives["tar"])), "to", pick); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.Path(), "to/pdf/SKILL.md")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(f.Path(), "README")); err == nil {
		t.Error("README is no part")
	}
	if want := map[string]string{"to/pdf/link": "SKILL.md"}; !maps.Equal(f.Links(), want) {
		t.Errorf("Links() = %v, want %v", f.Links(), want)
	}
}
