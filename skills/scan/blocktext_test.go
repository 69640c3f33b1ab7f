package scan

import (
	"strings"
	"testing"
)

// TestBlockTexts reads all below "key: |" as text, repaired or not.
func TestBlockTexts(t *testing.T) {
	const quoted = "with a colon is not quoted"
	for _, test := range []struct{ name, front, want, warning string }{
		{"another field is repaired", "description: |\n  Use when: x\n  Key: value: more\nlicense: a: b", "Use when: x\nKey: value: more", quoted},
		{"folded", "description: >-\n  Use this:\n  Key: a: b\nlicense: a: b", "Use this: Key: a: b", quoted},
		{"with a comment", "description: |  # c: d\n  Text\nlicense: a: b", "Text", quoted},
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
