package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Changes names the files that differ between two snapshots, also by their mode alone.
func TestChanges(t *testing.T) {
	source, s := t.TempDir(), New(t.TempDir())
	take := func() *Snapshot {
		snap, err := s.Take(t.Context(), skillfs.DirFS(source), Use{Skill: "x"})
		if err != nil {
			t.Fatal(err)
		}
		return snap
	}
	populate(t, source, 4, 8)
	was := take()
	for _, err := range []error{
		os.WriteFile(filepath.Join(source, "0/0"), []byte("other"), 0o644),
		os.Chmod(filepath.Join(source, "0/1"), 0o755),
		os.Remove(filepath.Join(source, "0/2")),
		os.Symlink("0/3", filepath.Join(source, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := Changes(t.Context(), take().Dir, was.Digest); !slices.Equal(got, []string{"0/0", "0/1", "0/2", "link"}) {
		t.Errorf("%q", got)
	}
	if got := Changes(t.Context(), was.Dir, "sha256:gone"); got != nil {
		t.Errorf("against one that is gone: %q", got)
	}
}
