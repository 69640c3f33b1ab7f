package setup

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// A grant is no use to nobody in a folder of somebody's.
func TestRestricted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there, folders have no such modes")
	}
	dir := t.TempDir()
	for _, test := range []struct {
		mode os.FileMode
		uid  int
		want [2]string // of a grant to read, and of one to write
	}{
		{0o755, 0, [2]string{"", "write"}},
		{0o700, 0, [2]string{"enter", "enter"}},
		{0o777, 0, [2]string{}},
		{0o700, 1000, [2]string{}},
	} {
		if err := os.Chmod(dir, test.mode); err != nil {
			t.Fatal(err)
		}
		for i, write := range []bool{false, true} {
			if note := Restricted(dir, test.uid, write); (note == "") != (test.want[i] == "") || !strings.Contains(note, test.want[i]) {
				t.Errorf("mode %o, user %d: %q", test.mode, test.uid, note)
			}
		}
	}
}
