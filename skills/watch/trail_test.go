package watch

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFollow(t *testing.T) {
	base := tempDir(t)
	mkdir(t, base, "real", "sub")
	write(t, base, "real", "file")
	link(t, "real", filepath.Join(base, "near"))
	link(t, filepath.Join(base, "real"), filepath.Join(base, "far"))
	link(t, filepath.Join("..", "..", "near", "sub"), filepath.Join(base, "real", "sub", "up"))
	link(t, "nowhere", filepath.Join(base, "dangling"))
	link(t, "round", filepath.Join(base, "round"))

	for _, test := range []struct {
		path, real string
		steps      string // below base, or all where the path begins again at the top
		missing    bool
	}{
		{path: "real/sub", real: "real/sub", steps: "real real/sub"},
		{path: "near/./sub", real: "real/sub", steps: "near real real/sub"},
		{path: "far", real: "real", steps: "far TOP real"},
		{path: "real/sub/up", real: "real/sub", steps: "real real/sub real/sub/up near real real/sub"},
		{path: "real/sub/../file", real: "real/file", steps: "real real/sub real/file"},
		{path: "missing/a/b", steps: "missing", missing: true},
		{path: "real/missing", steps: "real real/missing", missing: true},
		{path: "real/file/below", steps: "real real/file"},
		{path: "dangling/below", steps: "dangling nowhere", missing: true},
		{path: "round", steps: "round" + strings.Repeat(" round", maxLinks)},
	} {
		got := follow(base, filepath.FromSlash(test.path))
		if want := filepath.Join(base, filepath.FromSlash(test.real)); test.real != "" && got.real != want {
			t.Errorf("%s leads to %q (%v), want %q", test.path, got.real, got.err, want)
		}
		if test.real == "" && got.err == nil {
			t.Errorf("%s leads to %q, want nowhere", test.path, got.real)
		}
		if missing := errors.Is(got.err, fs.ErrNotExist); missing != test.missing {
			t.Errorf("%s: %v", test.path, got.err)
		}
		if diff := cmp.Diff(test.steps, steps(base, got)); diff != "" {
			t.Errorf("%s: steps (-want +got):\n%s", test.path, diff)
		}
	}
}

// steps writes the lookups of a trail in one line: "dir/name" below base, and
// "TOP" for those from the top to base.
func steps(base string, t trail) string {
	var steps []string
	for _, l := range t.lookups {
		if rest, ok := strings.CutPrefix(l.dir, base); ok {
			steps = append(steps, strings.TrimPrefix(filepath.ToSlash(rest+string(filepath.Separator)+l.name), "/"))
		} else if len(steps) == 0 || steps[len(steps)-1] != "TOP" {
			steps = append(steps, "TOP")
		}
	}
	return strings.Join(steps, " ")
}

func TestFollowFromTheTop(t *testing.T) {
	base := tempDir(t)
	got := follow(top(base), base)
	if got.real != base || !got.folder || got.err != nil {
		t.Fatalf("trail = %+v", got)
	}
	if first := got.lookups[0]; first.dir != top(base) {
		t.Errorf("the first step is %+v", first)
	}
	if root := follow(top(base), top(base)); root.real != top(base) || !root.folder {
		t.Errorf("trail of the top = %+v", root)
	}
}
