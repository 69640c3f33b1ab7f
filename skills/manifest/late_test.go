package manifest

import (
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

func TestLateFrontmatter(t *testing.T) {
	const fields = "name: late\ndescription: d\ndisable-model-invocation: true\n"
	const front = "---\n" + fields + "---\n"
	const late = "the frontmatter does not begin the file, so other clients do not read it"
	const lost = `stands outside of the frontmatter`
	for _, test := range []struct {
		name, file string
		skill      string // its name; "" where it is refused
		offered    bool   // to models
		problem    string // one of its problems, or of the refusal
		body       string
	}{
		{"a blank line", "\n \t\n" + front + "Body", "late", false, late, "Body"},
		{"a comment", "<!-- licence -->\n" + front + "Body", "late", false, late, "Body"},
		{"comments over lines", "<!-- a\n\n---\nb -->\n\n<!-- c --> <!-- d -->\r\n" + front + "Body", "late", false, late, "Body"},
		{"a second byte order mark", "\ufeff\ufeff" + front + "Body", "folder", false, lost, ""},
		{"an invisible character", "\u200b" + front + "Body", "folder", false, lost, ""},
		{"indentation", " ---\n name: late\n disable-model-invocation: true\n ---\nBody", "folder", false, lost, ""},
		{"one known field behind a comment", "<!-- x -->\n---\nlicense: MIT\n---\nBody", "folder", true, late, "Body"},
		{"prose", "# Title\n\nProse.\n" + front + "Body", "folder", false, lost, ""},
		{"a heading, underlined", "Title\n---\n\nProse.\n\n" + front + "Body", "folder", false, lost, ""},
		{"behind an empty one", "---\n---\n" + fields + "---\nBody", "folder", false, lost, ""},
		{"a code block with fences", "```yaml\n" + front + "```\nBody", "folder", false, lost, ""},
		{"a code block around all", "```markdown\n" + front + "Body\n```\n", "folder", false, lost, ""},
		{"a code block without fences", "```yaml\n" + fields + "```\nBody", "folder", false, lost, ""},
		{"not closed", "<!-- x -->\n" + strings.TrimSuffix(front, "---\n") + "\nBody", "", false, "not closed", ""},
		{"a field that is indented less", "---\n name: late\n description: d\ndisable-model-invocation: true\n---\nBody", "", false, "is not YAML", ""},
		{"another document", "---\nname: late\ndescription: d\n...\nclass: dangerous\n---\nBody", "", false, "is not YAML", ""},
		{"no YAML", "<!-- x -->\n---\nname: late\n\tx: [\n---\nBody", "", false, "is not YAML", ""},

		{"no YAML in prose", "Title\n\n---\n" + fields + "x: [\n---\nBody", "folder", false, lost, ""},
		{"no fences", fields + "\nBody", "folder", false, lost, ""},
		{"TOML", "+++\nname = \"late\"\ndisable-model-invocation = true\n+++\nBody", "folder", false, lost, ""},
		{"JSON", "{\"name\": \"late\", \"disable-model-invocation\": true}\n\nBody", "folder", false, lost, ""},
		{"unreadable", "disable-model-invocation: [x]\n\nBody", "folder", false, lost, ""},
		{"class", "class: dangerous\n\nBody", "folder", false, lost, ""},
		{"in a comment", "<!--\n" + front + "-->\nBody", "folder", false, lost, ""},
		{"before the fields", "disable-model-invocation: true\n\n---\nname: late\ndescription: d\n---\nBody", "folder", false, lost, ""},

		{"class in JSON", "{\"name\": \"late\", \"class\": \"dangerous\"}\n\nBody", "folder", false, lost, ""},
		{"class in a list", "1. class: mutating\n\nBody", "folder", false, lost, ""},
		{"class in a comment", "<!-- class: dangerous -->\nBody", "folder", false, lost, ""},
		{"other letters", "---\nname: late\ndescription: d\nDisable_Model_Invocation: true\n---\nBody", "late", false, "is not spelt", "Body"},
		{"camel case", "---\nname: late\ndescription: d\ndisableModelInvocation: yes\n---\nBody", "late", false, "is not spelt", "Body"},
		{"other hyphens", "---\nname: late\ndescription: d\ndisable\u2011model\u2011invocation: true\n---\nBody", "late", false, "is not spelt", "Body"},
		{"an invisible character in the key", "---\nname: late\ndescription: d\n\u200bclass: dangerous\n---\nBody", "late", false, "is not spelt", "Body"},
		{"a capital", "---\nname: late\ndescription: d\nClass: Mutating\n---\nBody", "late", false, "is not spelt", "Body"},
		{"merged", "---\nx: &x\n  disable-model-invocation: true\nname: late\ndescription: d\n<<: *x\n---\nBody", "late", false, "<< merges fields", "Body"},
		{"merged from several", "---\nx: &x {class: dangerous}\ny: &y {<<: *x}\nname: late\ndescription: d\n<<: [*y]\n---\nBody", "late", false, "<< merges fields", "Body"},
		{"said otherwise", "---\nname: late\ndescription: d\nClass: warrior\ndisableModelInvocation: false\n---\nBody", "late", true, "", "Body"},
		{"merged and overruled", "---\nx: &x {disable-model-invocation: true}\nname: late\ndescription: d\ndisable-model-invocation: false\n<<: *x\n---\nBody", "late", false, "<< merges fields", "Body"},

		{"an example in a list", "# Title\n\n1. Write:\n   ```yaml\n   ---\n   name: late\n   description: d\n   ---\n   ```\n", "folder", true, "", ""},
		{"an indented example", "# Title\n\nWrite:\n\n    ---\n    name: late\n    description: d\n    ---\n\nEnd", "folder", true, "", ""},
		{"an example in an example", "# Title\n\n````markdown\n```yaml\n---\nname: late\ndescription: d\n---\n```\n````\n", "folder", true, "", ""},
		{"an example with other fences in it", "# Title\n\n~~~\n```\n---\nname: late\ndescription: d\n---\n~~~\n", "folder", true, "", ""},
		{"a comment in prose", "# Title\n\n<!--\n---\nname: late\ndescription: d\n---\n-->\nEnd", "folder", true, "", ""},
		{"code in a line", "# Title\n\n```x``` is code.\n\n" + front + "Body", "folder", false, lost, ""},
		{"rules", "# Title\n\nProse: it is.\n\n---\n\nNote: more\n\n---\n\nEnd", "folder", true, "", "# Title\n\nProse: it is.\n\n---\n\nNote: more\n\n---\n\nEnd"},
		{"a rule behind a comment", "<!-- x -->\n---\nProse: it is.\n---\nEnd", "folder", true, late, "End"},
		{"an example", "# Title\n\nWrite:\n\n```yaml\n---\nname: late\ndescription: d\n---\n```\n", "folder", true, "", ""},
		{"code", "```python\nname: str = 'x'\n```\n\nText", "folder", true, "", ""},
		{"nested", "# Title\n---\na:\n  name: x\n  description: y\n---\nText", "folder", true, "", ""},
		{"said no", "disable-model-invocation: false\nclass: safe\n\nText", "folder", true, "", ""},
		{"text below frontmatter", "---\nname: folder\ndescription: d\n---\n" + fields, "folder", true, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			skill := &skills.Skill{Files: skillfs.DirFS(t.TempDir()), File: "SKILL.md"}
			err := ParseSkill([]byte(test.file), skill, "folder", Options{})
			if err != nil {
				if test.skill != "" || !strings.Contains(err.Error(), test.problem) {
					t.Fatal(err)
				}
				return
			}
			if skill.Name != test.skill || skill.ModelInvocable != test.offered {
				t.Errorf("name %q, offered %v", skill.Name, skill.ModelInvocable)
			}
			if test.body != "" && skill.Instructions != test.body {
				t.Errorf("instructions %q", skill.Instructions)
			}
			var said []string
			for _, p := range skill.Problems {
				said = append(said, p.Message)
			}
			all := strings.Join(said, "\n")
			if test.problem != "" && !strings.Contains(all, test.problem) || test.problem == "" && (strings.Contains(all, late) || strings.Contains(all, lost)) {
				t.Errorf("problems: %s", all)
			}
		})
	}
}

func TestMisplacedFieldsHaveNoTools(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "scripts/run.sh", "#!/bin/sh\necho\n")
	skill := &skills.Skill{Files: skillfs.DirFS(dir), File: "SKILL.md"}
	if err := ParseSkill([]byte("# Title\n\nText\n\n  class: dangerous\n"), skill, "folder", Options{}); err != nil {
		t.Fatal(err)
	}
	if len(skill.Tools) > 0 || skill.ModelInvocable {
		t.Errorf("tools %v, offered %v", skill.Tools, skill.ModelInvocable)
	}
	if p := skill.Problems[len(skill.Problems)-1]; p.Line != 5 {
		t.Errorf("problem: %v", p)
	}
}

// TestToolsThatAreLeftOut does not offer a tool that is left out for its
// restriction as an undeclared script.
func TestToolsThatAreLeftOut(t *testing.T) {
	for _, test := range []struct {
		file  string
		tools int
	}{
		{"tools: [{name: x, script: x.sh, class: bad}]", 0},
		{"tools: [{name: x, script: x.sh, class: [dangerous]}]", 0},
		{"tools: [{name: x, script: x.sh, disable-model-invocation: perhaps}]", 0},
		{"tools:\n- {name: x, script: x.sh, class: dangerous}\n [\n", 0},
		{"tools:\n- name: x\n  class: mutating\n...\nmore: 1\n", 0},
		{"tools:\n- {name: x, script: x.sh}\n [\n", 1},
		{"commands: [x]", 1},
		{"tools: [{name: y, script: x.sh, class: dangerous}]", 1},
	} {
		t.Run(test.file, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "x.sh", "#!/bin/sh\necho\n")
			skill := &skills.Skill{Files: skillfs.DirFS(dir), File: "SKILL.md"}
			if err := ParseSkill([]byte("---\nname: folder\ndescription: d\n---\nRun x.sh.\n"), skill, "folder", Options{Tools: File{Data: []byte(test.file)}}); err != nil {
				t.Fatal(err)
			}
			if len(skill.Tools) != test.tools {
				t.Errorf("%d tools, problems %v", len(skill.Tools), skill.Problems)
			}
		})
	}
}

// FuzzLateFrontmatter: whatever text without a field stands before frontmatter,
// no model is offered a skill that none may call.
func FuzzLateFrontmatter(f *testing.F) {
	for _, seed := range []string{"", "\n", "<!-- x -->\n", "# T\n\n---\n", "```\n", "~~~yaml\n", "---\n", "---\n---\n", "---\nname: x\n", "\u200b", "<!--", "---\na: b\n---\n", "> ", "a: |\n"} {
		f.Add(seed, "name: late\ndescription: d\n")
	}
	f.Add("\n", " description: d")
	f.Fuzz(func(t *testing.T, before, fields string) {
		if isDescribed([]byte(before)) || isDescribed([]byte(before+"---\n"+fields+"---\n")) {
			return // the rest is text
		}
		file := before + "---\n" + fields + "\ndisable-model-invocation: true\n---\n"
		skill := &skills.Skill{Files: skillfs.DirFS(t.TempDir()), File: "SKILL.md"}
		if err := ParseSkill([]byte(file), skill, "folder", Options{}); err == nil && skill.ModelInvocable {
			t.Errorf("offered: %q", file)
		}
	})
}

func isDescribed(data []byte) bool {
	doc, err := parseDocument(data)
	return err == nil && (hasKey(doc.front, isKey("name")) || hasKey(doc.front, isKey("description")))
}
