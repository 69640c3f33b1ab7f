package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The faults that Fix repairs.
func TestMend(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		changes    []Change
		strict     bool
	}{
		"a value with a colon": {
			text:    "---\nname: demo\ndescription: Use this: it's good  \n---\nA: b: c\n",
			want:    "---\nname: demo\ndescription: 'Use this: it''s good'  \n---\nA: b: c\n",
			changes: []Change{{Line: 3, Col: 14, Message: "quoted the value, which contains a colon"}},
		},
		"in the first field, at its end, and further in": {
			text: "---\ndescription: a: b\nname: demo\nwhen_to_use: now:\nmetadata:\n  é: x\n  ab: c: d\n---\n",
			want: "---\ndescription: 'a: b'\nname: demo\nwhen_to_use: 'now:'\nmetadata:\n  é: x\n  ab: 'c: d'\n---\n",
			changes: []Change{
				{Line: 2, Col: 14, Message: "quoted the value, which contains a colon"},
				{Line: 4, Col: 14, Message: "quoted the value, which contains a colon"},
				{Line: 7, Col: 7, Message: "quoted the value, which contains a colon"},
			},
		},
		"text of a block is not touched": {
			text:    "---\nname: demo\nwhen_to_use: |\n  Note: this: that\ndescription: a: b\n---\n",
			want:    "---\nname: demo\nwhen_to_use: |\n  Note: this: that\ndescription: 'a: b'\n---\n",
			changes: []Change{{Line: 5, Col: 14, Message: "quoted the value, which contains a colon"}},
		},
		"a name": {
			text:    "---\nname: My  Demo.Skill # it is\ndescription: d\n---\n",
			want:    "---\nname: my-demo-skill # it is\ndescription: d\n---\n",
			changes: []Change{{Line: 2, Col: 7, Message: `changed the name "My  Demo.Skill" to my-demo-skill`}},
		},
		"a name in quotes": {
			text:    "---\ndescription: d\n\"name\":   \"My Demo\"\n---\n",
			want:    "---\ndescription: d\n\"name\":   \"my-demo\"\n---\n",
			changes: []Change{{Line: 3, Col: 11, Message: `changed the name "My Demo" to my-demo`}},
		},
		"a name that becomes a word of YAML": {
			text:    "---\nname: -Yes\ndescription: d\n---\n",
			want:    "---\nname: 'yes'\ndescription: d\n---\n",
			changes: []Change{{Line: 2, Col: 7, Message: `changed the name "-Yes" to yes`}},
		},
		"a name with underscores where the standard holds": {
			text:    "---\nname: my_demo\ndescription: d\n---\n",
			want:    "---\nname: my-demo\ndescription: d\n---\n",
			changes: []Change{{Line: 2, Col: 7, Message: `changed the name "my_demo" to my-demo`}},
			strict:  true,
		},
		"mark and line ends": {
			text: "\ufeff\r\n---\r\nname: Demo\r\ndescription: d\r\n---\r\nBody\r\n",
			want: "\n---\nname: demo\ndescription: d\n---\nBody\r\n",
			changes: []Change{
				{Line: 3, Col: 7, Message: `changed the name "Demo" to demo`},
				{Line: 1, Message: "changed the line ends of the frontmatter, 5 of them, to LF", Problem: "the frontmatter has Windows line ends, which some clients do not read"},
				{Line: 1, Col: 1, Message: "removed the byte order mark", Problem: "the file begins with a byte order mark, which some clients do not read past"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, changes := Fix([]byte(test.text), test.strict)
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.changes, changes); diff != "" {
				t.Error(diff)
			}
			if again, changes := Fix(got, test.strict); len(changes) > 0 || string(again) != string(got) {
				t.Errorf("mended again: %q, %v", again, changes)
			}
		})
	}
}

// What is not understood is left as it is.
func TestMendLeavesAlone(t *testing.T) {
	for name, text := range map[string]string{
		"what is fine":                       "---\nname: demo\ndescription: d\n---\nBody\n",
		"an open end":                        "---\nname: demo\ndescription: d\n\n# Title\n",
		"no frontmatter":                     "# Title\n\nname: My Demo\n",
		"nothing":                            "",
		"a colon with what may be a comment": "---\nname: demo\ndescription: a: b # c\n---\n",
		"a colon in text of two lines":       "---\nname: demo\ndescription: a: b\n  and more\n---\n",
		"YAML that is broken otherwise too":  "---\nname: demo\ndescription: a: b\nx: [a\n---\n",
		"YAML that is broken otherwise":      "---\nname: demo\ndescription: [a, b\n---\n",
		"a name beyond ASCII":                "---\nname: Café\ndescription: d\n---\n",
		"a name with signs":                  "---\nname: C++ Helper\ndescription: d\n---\n",
		"a name that is too long":            "---\nname: " + strings.Repeat("A", 65) + "\ndescription: d\n---\n",
		"a name with underscores":            "---\nname: my_demo\ndescription: d\n---\n",
		"two names":                          "---\nname: My Demo\nname: Other Demo\ndescription: d\n---\n",
		"a name of several lines":            "---\nname: My\n  Demo\ndescription: d\n---\n",
		"a name in a block":                  "---\nname: |-\n  My Demo\ndescription: d\n---\n",
		"a name with an anchor":              "---\nname: &n My Demo\ndescription: d\n---\n",
		"a name that is an alias":            "---\ndescription: &n My Demo\nname: *n\n---\n",
		"a name with escapes":                "---\nname: \"My\\x20Demo\"\ndescription: d\n---\n",
		"a name that is a number":            "---\nname: 1.5\ndescription: d\n---\n",
		"lines that only YAML sees":          "---\ndescription: a\rname: My Demo\n---\n",
		"no UTF-8":                           "---\nname: My Demo\ndescription: \xff\n---\n",
		"a NUL":                              "---\nname: My Demo\ndescription: d\n---\n\x00",
		"a mark and no frontmatter":          "\ufeff# Title\r\n",
		"more than is read":                  "---\nname: My Demo\n---\n" + strings.Repeat("x", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			got, changes := Fix([]byte(text), false)
			if string(got) != text || len(changes) > 0 {
				t.Errorf("%q became %q: %v", text, got, changes)
			}
		})
	}
}
