package skillsext

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		uri  string
		want []string // nil is refused
	}{
		{"skill://a/SKILL.md", []string{"a", "SKILL.md"}},
		{"skill://a", []string{"a"}},
		{"skill://a/b/c%20d.md", []string{"a", "b", "c d.md"}},
		{"skill://a/%252e%252e/b", []string{"a", "%2e%2e", "b"}},
		{"skill://a/%E2%82%AC", []string{"a", "€"}},
		{"skill://", nil},
		{"skill:a", nil},
		{"SKILL://a/SKILL.md", nil},
		{"file:///a", nil},
		{"skill://a/", nil},
		{"skill://a//b", nil},
		{"skill:///a", nil},
		{"skill://a/../b", nil},
		{"skill://a/./b", nil},
		{"skill://a/%2e%2e/b", nil},
		{"skill://a/%2E./b", nil},
		{"skill://a/b%2fc", nil},
		{"skill://a/b%00", nil},
		{"skill://a/b\x00", nil},
		{"skill://a/%ff", nil},
		{"skill://a/%zz", nil},
		{"skill://a/b?c", nil},
		{"skill://a/b#c", nil},
		{"skill://a/" + strings.Repeat("b", maxURI), nil},
	} {
		got, ok := split(test.uri)
		if diff := cmp.Diff(test.want, got); diff != "" || ok != (test.want != nil) {
			t.Errorf("%.60q: ok %t, %s", test.uri, ok, diff)
		}
	}
}

// Whatever a URI looks like, it names nothing but what is below a folder, and
// what is named by a URI has that one.
func FuzzSplit(f *testing.F) {
	for _, uri := range []string{"skill://a/SKILL.md", "skill://a/../b", "skill://a/%2e%2e/%2e", "skill://a/b%2f..%2fc", "skill://a/%00", "skill://é/%C3%A9", "skill://a:1@b/c", "skill://a/%252e", `skill://a/..\b`} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		names, ok := split(uri)
		if !ok {
			return
		}
		for _, name := range names {
			if !fs.ValidPath(name) || name == "." || strings.Contains(name, "/") {
				t.Fatalf("%q: name %q", uri, name)
			}
		}
		all := path.Join(names...)
		again, ok := split(Scheme + escape(all))
		if len(Scheme+escape(all)) > maxURI {
			return
		}
		if diff := cmp.Diff(names, again); diff != "" || !ok {
			t.Fatalf("%q: ok %t, %s", uri, ok, diff)
		}
	})
}
