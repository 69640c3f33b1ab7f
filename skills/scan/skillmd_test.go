package scan

import (
	"fmt"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"strings"
	"testing"
	"time"
)

// What real files do, and a person would say is fine.
func TestTolerates(t *testing.T) {
	const plain = "---\nname: demo\ndescription: Does a thing.\n---\nBody.\n"
	for name, text := range map[string]string{
		"plain":                     plain,
		"byte order mark":           "\ufeff" + plain,
		"Windows line ends":         strings.ReplaceAll(plain, "\n", "\r\n"),
		"blank lines before":        "\n  \n" + plain,
		"space behind the fences":   strings.ReplaceAll(plain, "---\n", "---  \n"),
		"a fence inside a value":    strings.Replace(plain, "description:", "x: a --- b\ndescription:", 1),
		"unknown keys":              strings.Replace(plain, "name:", "version: 1.20\nfoo: {bar: [1, 2]}\nname:", 1),
		"metadata of any type":      strings.Replace(plain, "name:", "metadata: '{\"a\": 1}'\nname:", 1),
		"no line end at the end":    strings.TrimSuffix(plain, "\n"),
		"a value that is null":      strings.Replace(plain, "name:", "when_to_use: ~\nname:", 1),
		"a restriction of nothing":  strings.Replace(plain, "name:", "class:\nname:", 1),
		"an alias":                  strings.Replace(plain, "name:", "x: &a [1]\ny: *a\nname:", 1),
		"a list where a word is":    strings.Replace(plain, "name:", "allowed-tools: [Read, Bash]\nname:", 1),
		"a number for a name's key": strings.Replace(plain, "name:", "1: one\nname:", 1),
	} {
		t.Run(name, func(t *testing.T) {
			skill, catalog := loadSkill(t, text)
			if skill.Name != "demo" || skill.Description != "Does a thing." || skill.Instructions != "Body." {
				t.Errorf("name %q, description %q, instructions %q", skill.Name, skill.Description, skill.Instructions)
			}
			for _, p := range catalog.Problems {
				if p.Severity == skills.Error || p.Severity == skills.Warning {
					t.Errorf("problem: %s", p)
				}
			}
		})
	}
}

func TestSkillFileNames(t *testing.T) {
	for _, name := range []string{"SKILL.md", "skill.md", "Skill.md"} {
		catalog := scanFiles(t, map[string]string{"demo/" + name: "---\nname: demo\ndescription: d\n---\n"})
		if len(catalog.Skills) != 1 {
			t.Errorf("%s: loaded %d skills: %v", name, len(catalog.Skills), catalog.Problems)
		}
	}
}

// What costs an item its place, with line and remedy, and nothing else.
func TestRejects(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"unclosed fence": {
			"\n---\nname: demo\ndescription: d\n",
			`root/demo/SKILL.md:2: error: the frontmatter is not closed (add a line "---" below the last field)`,
		},
		"invalid UTF-8": {
			"---\nname: demo\ndescription: \xff\n---\n",
			`root/demo/SKILL.md:3: error: it is not valid UTF-8 (save the file as UTF-8)`,
		},
		"NUL": {
			"---\nname: demo\n---\n\n\x00",
			`root/demo/SKILL.md:5: error: it contains a NUL byte (remove the NUL byte)`,
		},
		"too large": {
			"---\nname: demo\n---\n" + strings.Repeat("x", 1<<20),
			`root/demo/SKILL.md: error: SKILL.md is larger than 1024 KiB (move what is long into files beside it)`,
		},
		"YAML beyond repair": {
			"---\nname: demo\ndescription: [a, b\n---\n",
			`root/demo/SKILL.md:3: error: the frontmatter is not YAML: did not find expected ',' or ']' (quote values that contain : # or quotes, and indent with spaces)`,
		},
		"YAML that the scanner refuses": {
			"---\nname: demo\ndescription: d\nx: @y\n---\n",
			`root/demo/SKILL.md:4: error: the frontmatter is not YAML: found character that cannot start any token (quote values that contain : # or quotes, and indent with spaces)`,
		},
		"no mapping": {
			"---\n- name\n- demo\n---\n",
			`root/demo/SKILL.md:2: error: the frontmatter is not a mapping (write each field as "key: value")`,
		},
		"alias bomb": {
			"---\nname: demo\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n---\n",
			`root/demo/SKILL.md:1: error: the frontmatter is too large: it expands to more than 100000 values (use fewer aliases)`,
		},
		"no name and no description": {
			"# Only a title\n",
			`root/demo/SKILL.md: error: it has neither a name nor a description (add name and description between two lines ---)`,
		},
		"empty": {
			"",
			`root/demo/SKILL.md: error: it has neither a name nor a description (add name and description between two lines ---)`,
		},
		"script outside of the folder": {
			"---\nname: demo\ndescription: d\nscript: ../other/run.sh\n---\n",
			`root/demo/SKILL.md:4: error: script "../other/run.sh" leads out of the skill's folder (put the script into the skill's folder)`,
		},
		"absolute script": {
			"---\nname: demo\ndescription: d\nscript: /bin/sh\n---\n",
			`root/demo/SKILL.md:4: error: script "/bin/sh" leads out of the skill's folder (put the script into the skill's folder)`,
		},
		"script of parameters outside of the folder": {
			"---\nname: demo\ndescription: d\nscript: ../{name}.sh\nparams: {name: string}\n---\n",
			`root/demo/SKILL.md:4: error: script "../{name}.sh" leads out of the skill's folder (put the scripts into the skill's folder)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, map[string]string{
				"demo/SKILL.md":  test.text,
				"other/SKILL.md": "---\nname: other\ndescription: A good neighbour.\n---\n",
				"other/run.sh":   "echo",
			})
			if got := strings.TrimSpace(lines(catalog.Problems)); got != test.want {
				t.Errorf("problems:\n%s\nwant:\n%s", got, test.want)
			}
			if len(catalog.Skills) != 1 || catalog.Skills[0].Name != "other" {
				t.Errorf("the neighbour did not load alone: %v", catalog.Skills)
			}
		})
	}
}

// What loads, but not as its author may expect.
func TestWarns(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"repaired colon": {
			"---\nname: demo\ndescription: Use this: it's good\n---\n",
			`root/demo/SKILL.md:3: warning: a value with a colon is not quoted; it was read as if it were (quote the value)`,
		},
		"name and folder": {
			"---\nname: other\ndescription: d\n---\n",
			`root/demo/SKILL.md:2: warning: the name "other" differs from the folder's, "demo" (give both the same name)`,
		},
		"name with spaces": {
			"---\nname: My Demo\ndescription: d\n---\n",
			"root/demo/SKILL.md:2: warning: the name \"My Demo\" is not usable; the skill is called \"My-Demo\" (use a-z, 0-9 and -)\n" +
				`root/demo/SKILL.md:2: warning: the name "My Demo" differs from the folder's, "demo" (give both the same name)`,
		},
		"no description": {
			"---\nname: demo\n---\n",
			`root/demo/SKILL.md: warning: there is no description (say what the skill does and when to use it)`,
		},
		"long description": {
			"---\nname: demo\ndescription: " + strings.Repeat("é", 1025) + "\n---\n",
			`root/demo/SKILL.md:3: warning: the description is 1025 characters long, more than 1024 (shorten it; clients may cut it)`,
		},
		"hidden character": {
			"---\nname: demo\ndescription: \"a\u202eb\"\n---\n",
			`root/demo/SKILL.md:3: warning: name or description contain the invisible or direction-changing character U+202E (remove it)`,
		},
		"key twice": {
			"---\nname: demo\ndescription: one\ndescription: d\n---\n",
			`root/demo/SKILL.md:4: warning: "description" is there twice; the last one counts (keep one of them)`,
		},
		"unknown type": {
			"---\nname: demo\ndescription: d\nscript: run.sh\nparams:\n  when: date\n---\n",
			`root/demo/SKILL.md:6: warning: parameter "when" has the unknown type "date", so its value is not checked (use one of string, integer, number, boolean, array or object)`,
		},
		"missing script": {
			"---\nname: demo\ndescription: d\nscript: gone.sh\n---\n",
			`root/demo/SKILL.md:4: error: script gone.sh does not exist (create it or correct the path)`,
		},
		"params without a script": {
			"---\nname: demo\ndescription: d\nparams: {a: string}\n---\n",
			`root/demo/SKILL.md:4: warning: there are params but no script, so there is nothing to run (name the script to run)`,
		},
		"unreadable class": {
			"---\nname: demo\ndescription: d\nscript: run.sh\nclass: [safe]\n---\n",
			"root/demo/SKILL.md:5: warning: \"class\" is not text and is ignored (write text)\n" +
				`root/demo/SKILL.md:5: error: "class" is not safe, mutating or dangerous, so the skill is loaded as instructions only (write safe, mutating or dangerous)`,
		},
		"fields without effect": {
			"---\nname: demo\ndescription: d\nallowed-tools: Bash(git *) Read\nhooks: {}\n---\nRun !`date` first.\n",
			"root/demo/SKILL.md: note: the instructions contain !`commands`; they are shown, not run\n" +
				"root/demo/SKILL.md:4: note: \"allowed-tools\" is not honoured: it grants nothing here: the sandbox decides what a script can do\n" +
				`root/demo/SKILL.md:5: note: "hooks" is not honoured: hooks are not run`,
		},
		"bad timeout": {
			"---\nname: demo\ndescription: d\nscript: run.sh\ntimeout_seconds: soon\n---\n",
			`root/demo/SKILL.md:5: warning: "timeout_seconds" is not a number above 0 and is ignored (write a number above 0)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, catalog := loadSkill(t, test.text, "run.sh")
			if got := strings.TrimSpace(lines(catalog.Problems)); got != test.want {
				t.Errorf("problems:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestRestrictionsFailClosed(t *testing.T) {
	for _, field := range []string{"class: harmless", "class: {a: b}", "disable-model-invocation: perhaps", "disable-model-invocation: [true]"} {
		t.Run(field, func(t *testing.T) {
			skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.sh\n"+field+"\n---\n", "run.sh")
			if skill.Entry != nil {
				t.Error("the skill can still be run")
			}
			if strings.HasPrefix(field, "disable") && skill.ModelInvocable {
				t.Error("a model can still call it")
			}
		})
	}
}

func TestDescriptionFromBody(t *testing.T) {
	for text, want := range map[string]string{
		"---\nname: demo\n---\n# Title\n\nThe first\nparagraph.\n\nThe second.": "The first paragraph.",
		"# Title\n\nWithout frontmatter.\n":                                     "Without frontmatter.",
		"description: On a line of its own.\n":                                  "On a line of its own.",
	} {
		if skill, _ := loadSkill(t, text); skill.Description != want {
			t.Errorf("%q: description %q, want %q", text, skill.Description, want)
		}
	}
}

func TestColonyFields(t *testing.T) {
	skill, catalog := loadSkill(t, `---
name: demo
description: d
when_to_use: Whenever.
script: scripts/run.py
sandbox_image_role: node
timeout_seconds: 1.5
class: mutating
disable-model-invocation: yes
user-invocable: off
arguments: [issue, branch]
argument-hint: "[issue]"
params:
  path: {type: string, format: path, required: true, description: Where.}
---
`, "scripts/run.py")
	if len(catalog.Problems) > 0 {
		t.Errorf("problems: %v", catalog.Problems)
	}
	e := skill.Entry
	if e == nil || e.Script != "scripts/run.py" || e.ImageRole != "node" || e.Timeout != 1500*time.Millisecond || e.Interpreter[0] != "python3" {
		t.Errorf("entry: %+v", e)
	}
	if skill.WhenToUse != "Whenever." || skill.Class != skills.Mutating || skill.ModelInvocable || skill.UserInvocable || len(skill.Arguments) != 2 || skill.ArgumentHint != "[issue]" {
		t.Errorf("skill: %+v", skill)
	}
	if p := e.Params()[0]; p.Name != "path" || !p.Required || !p.Path || p.Schema.Format != "" {
		t.Errorf("param: %+v", p)
	}
	if skill.Frontmatter["timeout_seconds"] != 1.5 {
		t.Errorf("frontmatter: %v", skill.Frontmatter)
	}
}

// However large a manifest is, it is read in a time that grows with its size,
// and does not drown other problems in its own.
func TestManyOfEverything(t *testing.T) {
	var text strings.Builder
	text.WriteString("---\nname: demo\ndescription: d\nscript: run.sh\nparams:\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "  p%d: {type: date}\n", i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&text, "k%d: v: w\n", i)
	}
	text.WriteString("---\n")
	skill, catalog := loadSkill(t, text.String(), "run.sh")
	if n := len(skill.Entry.Params()); n != limitParams {
		t.Errorf("%d parameters", n)
	}
	if n := len(catalog.Problems); n != manifest.MaxProblems {
		t.Errorf("%d problems", n)
	}
}
