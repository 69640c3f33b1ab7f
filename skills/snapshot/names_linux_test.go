package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Whatever bytes a name has, it does not cost the skill its snapshot.
func TestOddNames(t *testing.T) {
	source := t.TempDir()
	for _, name := range []string{"plain", "a\nb", "tab\t", "é", "x\xff\xfe", "sub\xff/inside", "-rf *"} {
		path := filepath.Join(source, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	snap := take(t, New(t.TempDir()), skillfs.DirFS(source))
	want := map[string]string{"plain": "-rw-r--r-- x", "a\nb": "-rw-r--r-- x", "tab\t": "-rw-r--r-- x", "é": "-rw-r--r-- x", "-rf *": "-rw-r--r-- x"}
	if diff := cmp.Diff(want, listing(t, snap.Dir)); diff != "" {
		t.Error(diff)
	}
}
