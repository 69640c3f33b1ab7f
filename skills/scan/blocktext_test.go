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

// A file without fences may have its description as a block.
func TestBlockTextWithoutFences(t *testing.T) {
	for _, indicator := range []string{"|", ">", "|-", ">+"} {
		if got := firstParagraph("# Title\n\nname: x\ndescription: " + indicator + "\n  Text\n  here.\nlicense: MIT\n\nMore"); got != "Text here." {
			t.Errorf("%s: %q", indicator, got)
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

// FuzzIndentBlocks: no text is lost or added by indenting it, and lines stay lines.
func FuzzIndentBlocks(f *testing.F) {
	f.Add("a: |\nText\n\tmore\nb: x\n")
	f.Add("- a: >\n- x: |\n  y: z\n")
	f.Fuzz(func(t *testing.T, text string) {
		before := strings.Split(text, "\n")
		after, _ := indentBlocks(before)
		if len(after) != len(before) {
			t.Fatalf("%d lines, not %d", len(after), len(before))
		}
		for i := range before {
			if strings.TrimLeft(after[i], " \t") != strings.TrimLeft(before[i], " \t") {
				t.Errorf("%q became %q", before[i], after[i])
			}
		}
	})
}
