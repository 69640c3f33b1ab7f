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
		{"a block ends the frontmatter", "---\na: |\n  x\nb: >\n  one\n  two\n---\n", map[string]any{"a": "x\n", "b": "one two\n"}, ""},
		{"a block with its blank lines", "---\na: |+\n  x\n\n---\n", map[string]any{"a": "x\n\n"}, ""},
		{"a block without its end", "---\r\na: >-\r\n  x\r\n---\r\n", map[string]any{"a": "x"}, ""},
		{"numbers of YAML 1.2", "---\na: [0755, 0o17, 0x1F, +12, 1e3, -.5, 18446744073709551615]\n---\n",
			map[string]any{"a": []any{int64(755), int64(15), int64(31), int64(12), 1000.0, -.5, float64(1 << 64)}}, ""},
		{"texts of YAML 1.2", "---\na: [yes, no, on, 1_000, 0b11, -0x1F, 12:30, 2026-01-02]\n---\n",
			map[string]any{"a": []any{"yes", "no", "on", "1_000", "0b11", "-0x1F", "12:30", "2026-01-02"}}, ""},
		{"aliases, and a key that merges nothing", "---\na: &x {b: 1}\nc: *x\n<<: *x\n---\n",
			map[string]any{"a": map[string]any{"b": int64(1)}, "c": map[string]any{"b": int64(1)}, "<<": map[string]any{"b": int64(1)}}, ""},
		{"a tab", "---\na:\tb\t\n---\n", map[string]any{"a": "b"}, ""},
		{"infinite", "---\na: {b: .inf}\n---\n", nil, "no number .inf"},
		{"too large", "---\na: 12e4567\n---\n", nil, "no number 12e4567"},
		{"twice", "---\na: {b: 1, b: 1}\n---\n", nil, `"b" is there twice`},
		{"a key that is no text", "---\na: {[b]: 1}\n---\n", nil, "a key is not text"},
		{"a number as a key, with another spelling", "---\n1: x\n0x1: x\n---\n", nil, "a key is not text"},
		{"a line break of YAML 1.1", "---\na: b\u2028\n---\n", nil, "line breaks"},
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
