package skillfs

import (
	"path/filepath"
	"testing"
)

func TestInside(t *testing.T) {
	for _, test := range []struct {
		name, dir string
		want      bool
	}{
		{"/a", "/a", true},
		{"/a/b", "/a", true},
		{"/ab", "/a", false},
		{"/a", "/a/b", false},
		{"/a", "/", true},
	} {
		if got := Inside(filepath.FromSlash(test.dir), filepath.FromSlash(test.name)); got != test.want {
			t.Errorf("Inside(%q, %q) = %v", test.dir, test.name, got)
		}
	}
}
