package scan

import (
	"strings"
	"testing"
)

// TestBlockTexts reads all below "key: |" as text, repaired or not.
func TestBlockTexts(t *testing.T) {
	const indented, quoted = "is not indented; it was read as if it were", "with a colon is not quoted"
	for _, test := range []struct{ name, front, want, warning string }{
		{"another field is repaired", "description: |\n  Use when: x\n  Key: value: more\nlicense: a: b", "Use when: x\nKey: value: more", quoted},
		{"folded", "description: >-\n  Use this:\n  Key: a: b\nlicense: a: b", "Use this: Key: a: b", quoted},
		{"with a comment", "description: |  # c: d\n  Text\nlicense: a: b", "Text", quoted},
		{"not indented", "description: |\nText\nmore text\nlicense: x", "Text\nmore text", indented},
		{"not indented, with a colon", "description: |\nUse when: x\nlicense: x", "Use when: x", indented},
		{"indented less", "description: |\n  Text\n Less: indented: x\nlicense: x", "Text\nLess: indented: x", indented},
		{"indented by a tab", "description: >\n\tText: with tab\nlicense: x", "Text: with tab", indented},
		{"a list", "description: |\n- one: a: b\n- two\nlicense: x", "- one: a: b\n- two", indented},
		{"on the same line", "description: | Text: here\nlicense: x", "Text: here", "looks like a list or an alias"},
		{"empty", "description: |\nlicense: x", "Body.", "there is no description in the frontmatter; the beginning of the text is used"},
		{"fine", "description: |\n  Text\n# comment\nlicense: x", "Text", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			skill, catalog := loadSkill(t, "---\nname: demo\n"+test.front+"\n---\nBody.\n")
			if skill.Description != test.want {
				t.Errorf("description %q", skill.Description)
			}
			if got := lines(catalog.Problems); !strings.Contains(got, test.warning) || test.warning == "" && got != "" {
				t.Errorf("problems: %s", got)
			}
		})
	}
}

// A text is not repaired by making a field that restricts the skill part of it.
func TestBlockTextsKeepRestrictions(t *testing.T) {
	for _, front := range []string{
		"description: |\nText\n disable-model-invocation: true",
		"description: |\nText\n\"disable-model-invocation\": true",
		"description: >\n\tText\n\tclass: dangerous",
		"description: |\nUse when: x\n'disable-model-invocation': yes",
	} {
		catalog := scanFiles(t, map[string]string{"demo/SKILL.md": "---\nname: demo\n" + front + "\n---\nBody.\n"})
		for _, skill := range catalog.Skills {
			if skill.ModelInvocable {
				t.Errorf("%q: offered to models", front)
			}
		}
	}
}

func TestControlCharacters(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"in the frontmatter": {"---\nname: demo\ndescription: a\x07b\n---\n", "SKILL.md:3: error: the frontmatter contains the control character U+0007, which YAML does not allow (remove it)"},
		"C1":                 {"\n---\nname: demo\nx: 1\ny: \"\u009b\"\n---\n", "SKILL.md:5: error: the frontmatter contains the control character U+009B, which YAML does not allow (remove it)"},
		"on the first line":  {"---\nname: a: b\n  x: |\n    y\n---\n", "SKILL.md:2: error: the frontmatter is not YAML: mapping values are not allowed"},
	} {
		if got := lines(scanFiles(t, map[string]string{"demo/SKILL.md": test.text}).Problems); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
