package check

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// FuzzFix: any file is repaired once and no further, the text below
// its frontmatter stays, and a skill that loaded still says the same.
func FuzzFix(f *testing.F) {
	for _, seed := range []string{
		"---\nname: demo\ndescription: a: b\n---\nBody\n", "---\nname: My Demo\ndescription: d\n\n# Title\n",
		"\ufeff---\r\nname: 'My Demo'\r\ndescription: d\r\n---\r\nBody\r\n", "---\nname: a\n---\n", "# Title\n\ntext", "---\n- name: a: b\n---\n",
		"---\nname: |\n  x: y\ndescription: a: 'b\n---\n", "---\ndescription: >\n a: b\n\nname: On\n", "--- \n\nname: A B\n---", "---\nname: {a: b: c}\n---\n",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, strict bool) {
		before := bytes.Clone(data)
		after, changes := Fix(data, strict)
		if !bytes.Equal(data, before) {
			t.Fatal("the content given was changed")
		}
		if (len(changes) == 0) != bytes.Equal(before, after) {
			t.Errorf("%d changes made %q of %q", len(changes), after, before)
		}
		if again, more := Fix(after, strict); len(more) > 0 || !bytes.Equal(again, after) {
			t.Errorf("%q was mended again to %q: %v", after, again, more)
		}
		if len(changes) == 0 {
			return
		}
		if was, ok := split(before); ok && !bytes.HasSuffix(after, []byte(was.body)) {
			t.Errorf("the text of %q changed: %q", before, after)
		}
		compare(t, before, after, changes)
		Standard(after, "demo")
	})
}

// compare loads a file and its repaired content, and compares the rest.
func compare(t *testing.T, before, after []byte, changes []Change) {
	was, is := load(t, before), load(t, after)
	for _, c := range changes {
		if strings.HasPrefix(c.Message, "quoted") {
			was = nil // loading quotes more values, be it in text
		}
	}
	if is == nil || was == nil {
		if was != nil {
			t.Errorf("%q does not load, as %q did", after, before)
		}
		return
	}
	if is.Description != was.Description || is.Instructions != was.Instructions {
		t.Errorf("%q says %q, %q, and not %q, %q as %q", after, is.Description, is.Instructions, was.Description, was.Instructions, before)
	}
}

// load returns the skill of a file, or nil where it is none.
func load(t *testing.T, data []byte) *skills.Skill {
	t.Helper()
	root := scan.Root{FS: fstest.MapFS{"demo/SKILL.md": {Data: data, Mode: 0o644}}, Label: "root"}
	catalog, err := scan.Scan(t.Context(), []scan.Root{root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(catalog.Skills) == 0 {
		return nil
	}
	return catalog.Skills[0]
}
