package manifest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrontmatter(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       map[string]any
		err        string
	}{
		{"plain", "---\nname: a\nmetadata: {version: 1.5, on: true, day: 2026-01-02, none: }\n---\ntext\n",
			map[string]any{"name": "a", "metadata": map[string]any{"version": 1.5, "on": true, "day": "2026-01-02", "none": nil}}, ""},
		{"mark and CRLF", "\ufeff---\r\nname: a\r\n---\r\n", map[string]any{"name": "a"}, ""},
		{"none", "text\n", nil, "does not begin with frontmatter"},
		{"empty", "---\n---\n", nil, "does not begin with frontmatter"},
		{"late", "\n---\nname: a\n---\n", nil, "does not begin with frontmatter"},
		{"repaired", "---\nname: a\ndescription: one: two\n---\n", nil, "only after repair"},
		{"open", "---\nname: a\n", nil, "not closed"},
		{"a list", "---\n- a\n---\n", nil, "not a mapping"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Frontmatter([]byte(test.file))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

// FuzzFrontmatter: what is read of any file is JSON.
func FuzzFrontmatter(f *testing.F) {
	for _, seed := range []string{
		"---\nname: a\nmetadata: {version: 1.5, on: true, day: 2026-01-02, none: }\n---\ntext\n",
		"---\na: [0755, 1_000, 0o17, 0x1F, -012, 1e3, .inf, -.5, .nan, 1e999, 99999999999999999999]\n---\n",
		"---\n? [a, b]\n: &x {c: *x}\n<<: {d: 1}\n1: 2\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		front, err := Frontmatter(data)
		if err != nil {
			return
		}
		if _, err := json.Marshal(front); err != nil {
			t.Error(err)
		}
	})
}
