package sandbox

import "testing"

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		path, folder string
		want         bool
	}{
		{"/a", "/a", true},
		{"/a/b", "/a", true},
		{"/a/b", "/", true},
		{"/ab", "/a", false},
		{"/a", "/a/b", false},
		{"/a/..b", "/a", true},
		{"/a/../b", "/a", false},
		{"", "/a", false},
		{"a", "/a", false},
	} {
		if got := Within(test.path, test.folder); got != test.want {
			t.Errorf("Within(%q, %q) = %v", test.path, test.folder, got)
		}
	}
}

func TestAround(t *testing.T) {
	g := Grant{Workspaces: []string{"/w/a/b", "/w/a", "/w", "/w2", "/w"}}
	for workspace, want := range map[string]string{"/w": "", "/w2": "", "/w/a": "/w", "/w/a/b": "/w"} {
		if got := g.Around(workspace); got != want {
			t.Errorf("around %s is %q, want %q", workspace, got, want)
		}
	}
}
