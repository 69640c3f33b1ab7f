package setup

import (
	"os"
	"runtime"
	"testing"
)

// A grant to write is no use to nobody in a folder of somebody's.
func TestUnwritable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there, folders have no such modes")
	}
	dir := t.TempDir()
	for _, test := range []struct {
		mode os.FileMode
		uid  int
		said bool
	}{
		{0o755, 0, true},
		{0o770, 0, true},
		{0o777, 0, false},
		{0o755, 1000, false},
	} {
		if err := os.Chmod(dir, test.mode); err != nil {
			t.Fatal(err)
		}
		if note := Unwritable(dir, test.uid); (note != "") != test.said {
			t.Errorf("mode %o, user %d: %q", test.mode, test.uid, note)
		}
	}
}
