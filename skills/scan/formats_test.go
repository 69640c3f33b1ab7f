package scan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Files without frontmatter say who they are as well as they can.
func TestWithoutFrontmatter(t *testing.T) {
	for name, test := range map[string]struct{ text, description string }{
		"a title and a paragraph":          {"# My skill\n\nDoes a thing\nover two lines.\n\nMore.\n", "Does a thing over two lines."},
		"a title and a description":        {"# My skill\n\ndescription: Does a thing.\n\nMore.\n", "Does a thing."},
		"a description below the title":    {"# My skill\nDescription:  Does a thing.\n\nMore.\n", "Does a thing."},
		"fields without fences":            {"name: other\ndescription: Does a thing.\nversion: 1\n\nMore.\n", "Does a thing."},
		"only a paragraph":                 {"Does a thing.\n", "Does a thing."},
		"a rule that is no fence":          {"# My skill\n\nDoes a thing.\n\n---\n\nMore.\n", "Does a thing."},
		"frontmatter without descriptions": {"---\nlicense: MIT\n---\n## Use\n\nDoes a thing.\n", "Does a thing."},
		"empty frontmatter":                {"---\n---\nDoes a thing.\n", "Does a thing."},
	} {
		t.Run(name, func(t *testing.T) {
			skill, catalog := loadSkill(t, test.text)
			if skill.Name != "demo" || skill.Description != test.description {
				t.Errorf("name %q, description %q", skill.Name, skill.Description)
			}
			if got, want := lines(catalog.Problems), "root/demo/SKILL.md: warning: there is no description in the frontmatter; the beginning of the text is used (say what the skill does and when to use it)\n"; got != want {
				t.Errorf("problems:\n%swant:\n%s", got, want)
			}
		})
	}
}

// Where a list may be, words may be, and the other way round.
func TestListsAndWords(t *testing.T) {
	want := []string{"a", "b"}
	for fields, of := range map[string]func(*skills.Skill) []string{
		"arguments: a b":                           func(s *skills.Skill) []string { return s.Arguments },
		"arguments: [a, b]":                        func(s *skills.Skill) []string { return s.Arguments },
		"arguments:\n- a\n- b":                     func(s *skills.Skill) []string { return s.Arguments },
		"paths: a,b":                               func(s *skills.Skill) []string { return s.Paths },
		"paths: [a, b]":                            func(s *skills.Skill) []string { return s.Paths },
		"metadata: {requires: {bins: 'a, b'}}":     func(s *skills.Skill) []string { return s.Requires.Bins },
		"metadata: {requires: {bins: [a, b]}}":     func(s *skills.Skill) []string { return s.Requires.Bins },
		"gating: {env_vars: 'a,b'}":                func(s *skills.Skill) []string { return s.Requires.Env },
		"required_capabilities: a, b":              func(s *skills.Skill) []string { return s.Requires.Capabilities },
		"metadata: {openclaw: {os: 'a,b'}}":        func(s *skills.Skill) []string { return s.Requires.OS },
		"metadata: {openclaw: {os: [a, b, null]}}": func(s *skills.Skill) []string { return append(s.Requires.OS, "a", "b") }, // fails closed
	} {
		skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\n"+fields+"\n---\n")
		if diff := cmp.Diff(want, of(skill)); diff != "" {
			t.Errorf("%s: %s", fields, diff)
		}
	}
}

// Booleans as YAML 1.1 and Claude Code write them.
func TestBooleans(t *testing.T) {
	for value, want := range map[string]bool{
		"true": true, "True": true, "yes": true, "on": true, "1": true, "'true'": true,
		"false": false, "no": false, "OFF": false, "0": false, "~": false,
	} {
		skill, catalog := loadSkill(t, "---\nname: demo\ndescription: d\ndisable-model-invocation: "+value+"\n---\n")
		if skill.ModelInvocable == want || len(catalog.Problems) > 0 {
			t.Errorf("%s: invocable %t, problems %v", value, skill.ModelInvocable, catalog.Problems)
		}
	}
}

// What real plugins' manifests hold, and a person would say is fine.
func TestManifestTolerates(t *testing.T) {
	for name, manifest := range map[string]string{
		"foreign keys":         `{"name": "p", "$schema": "x", "interface": {"a": [1]}, "extensions": {}, "keywords": ["a"], "lspServers": {"x": {}}}`,
		"a number for version": `{"name": "p", "version": 1.20}`,
		"byte order mark":      "\ufeff" + `{"name": "p"}`,
		"author as text":       `{"name": "p", "author": "Ann"}`,
		"author as a map":      `{"name": "p", "author": {"name": "Ann", "email": "a@example.com"}}`,
		"nulls":                `{"name": "p", "version": null, "skills": null, "hooks": null, "commands": null}`,
		"the default folders":  `{"name": "p", "skills": "./skills/", "commands": "./commands", "agents": ["agents"]}`,
		"bare paths":           `{"name": "p", "skills": ["skills"], "commands": ["commands"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanPlugins(t, map[string]string{
				"p/.claude-plugin/plugin.json": manifest, "p/skills/a/SKILL.md": skillText("a"), "p/commands/c.md": "---\ndescription: d\n---\nC.",
				"p/agents/x.md": "---\ndescription: d\n---\nX.",
			})
			if diff := cmp.Diff([]string{"p/a", "p/c"}, names(catalog)); diff != "" || len(catalog.Problems) > 0 {
				t.Error(diff, catalog.Problems)
			}
			if diff := cmp.Diff([]string{"p/x"}, agentNames(catalog)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A wrong type costs its key, and nothing else.
func TestManifestWrongTypes(t *testing.T) {
	catalog := scanPlugins(t, map[string]string{
		"p/plugin.json": `{"name": "p", "version": [1], "description": {}, "author": [], "skills": {"a": 1}, "commands": {"b": 1}, "agents": {"c": 1}}`, "p/skills/a/SKILL.md": skillText("a"),
		"p/commands/c.md": "---\ndescription: d\n---\nC.",
	})
	if diff := cmp.Diff([]string{"p/a", "p/c"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	for _, key := range []string{"version", "description", "author", "skills", "commands", "agents"} {
		if got := lines(catalog.Problems); !strings.Contains(got, `p/plugin.json:1: warning: "`+key+`" is not `) {
			t.Errorf("no problem with %s in\n%s", key, got)
		}
	}
}

// A plugin's path must not lead out of it by a link either.
func TestPluginPathsAfterLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p/plugin.json", `{"name": "p", "skills": "more", "commands": "cmds", "agents": "roles", "hooks": "h.json", "mcpServers": "m.json"}`)
	write(t, dir, "outside/a/SKILL.md", skillText("a"))
	write(t, dir, "outside/c.md", "C.")
	write(t, dir, "outside/x.json", `{"x": {"command": "y"}}`)
	for _, name := range []string{"more", "cmds", "roles"} {
		link(t, "../outside", dir, "p/"+name)
	}
	for _, name := range []string{"h.json", "m.json"} {
		link(t, "../outside/x.json", dir, "p/"+name)
	}
	catalog := scanDir(t, dir, true)
	if len(catalog.Skills)+len(catalog.Agents) > 0 || len(catalog.Plugins) != 1 || len(catalog.Plugins[0].Servers)+len(catalog.Plugins[0].Hooks) > 0 {
		t.Errorf("skills %v, agents %v", names(catalog), agentNames(catalog))
	}
	for _, what := range []string{"skills", "commands", "agents", "hooks", "mcpServers"} {
		if got := lines(catalog.Problems); !strings.Contains(got, "error: the "+what+" path ") {
			t.Errorf("no problem with %s in\n%s", what, got)
		}
	}
}

// The repairs that make the broken frontmatter out there YAML.
func TestRepairs(t *testing.T) {
	for field, want := range map[string]string{
		"description: Use this: it's good":  "Use this: it's good",
		"description: Ends with a colon:":   "Ends with a colon:",
		"description: [Beta] Does a thing.": "[Beta] Does a thing.",
		"description: *.go files.":          "*.go files.",
		"description: **bold** text":        "**bold** text",
	} {
		skill, catalog := loadSkill(t, "---\nname: demo\n"+field+"\n---\n")
		if skill.Description != want {
			t.Errorf("%s: %q", field, skill.Description)
		}
		if got := lines(catalog.Problems); !strings.Contains(got, "root/demo/SKILL.md:3: warning: a value ") || len(catalog.Problems) != 1 {
			t.Errorf("%s: problems:\n%s", field, got)
		}
	}
}

// Names: what they become, and what the tool is called.
func TestNames(t *testing.T) {
	long := strings.Repeat("long-", 14)
	for name, test := range map[string]struct{ field, name, want string }{
		"over 64":          {long + "x", long + "x", `the name is 71 characters long, more than 64; its tool is called "long-long-long-long-long-long-long-lon_`},
		"capitals":         {"Demo", "Demo", `the name "Demo" does not conform to the Agent Skills specification`},
		"two hyphens":      {"a--b", "a--b", `the name "a--b" does not conform`},
		"a colon in it":    {"a:b", "a:b", `the name "a:b" does not conform`},
		"other letters":    {"技能", "技能", `the name "技能" does not conform`},
		"a path":           {"a/b", "a-b", `the name "a/b" is not usable; the skill is called "a-b"`},
		"hidden in a name": {"\"a\\u200bb\"", "a-b", `is not usable`},
		"a number":         {"2024", "2024", `the name "2024" differs from the folder's`},
	} {
		t.Run(name, func(t *testing.T) {
			skill, catalog := loadSkill(t, "---\nname: "+test.field+"\ndescription: d\n---\n")
			if got := lines(catalog.Problems); skill.Name != test.name || !strings.Contains(got, test.want) {
				t.Errorf("name %q, problems:\n%s", skill.Name, got)
			}
		})
	}
	if skill, catalog := loadSkill(t, "---\nname: under_score\ndescription: d\n---\n"); skill.Name != "under_score" || strings.Contains(lines(catalog.Problems), "conform") {
		t.Errorf("an underscore: %v", catalog.Problems)
	}
}

// What a text refers to need not be there, and skills may be in skills.
func TestLooseEnds(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"a/SKILL.md":             skillText("a") + "See [the guide](references/gone.md) and scripts/gone.py.\n",
		"a/parts/b/SKILL.md":     skillText("b"),
		"a/parts/b/c/SKILL.md":   skillText("c"),
		"a/__pycache__/SKILL.md": skillText("no"),
	})
	if diff := cmp.Diff([]string{"a", "b", "c"}, names(catalog)); diff != "" || len(catalog.Problems) > 0 {
		t.Error(diff, catalog.Problems)
	}
}

// An interpreter is needed like any other program.
func TestNeeds(t *testing.T) {
	skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.rb\nmetadata: {requires: {bins: [jq]}}\n---\n", "run.rb")
	if got := skill.Needs().Bins; !slices.Equal(got, []string{"jq", "bash"}) {
		t.Errorf("needs %q", got)
	}
	if got := skill.Requires.Bins; !slices.Equal(got, []string{"jq"}) {
		t.Errorf("requires %q", got)
	}
	if text, _ := loadSkill(t, skillText("demo")); !text.Needs().Empty() {
		t.Errorf("instructions need %s", text.Needs())
	}
}

// Of ongrid's SKILL.md: words that a search finds it by. Its tools are ongrid's own, and
// nothing of the folder is offered without their classes.
func TestOngridMetadata(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"host/SKILL.md": "---\nname: host\ndescription: d\nactivation: {mode: keyword, keywords: [shadowed]}\nmetadata:\n  ongrid:\n" +
			"    activation: {mode: keyword, keywords: [disk, 磁盘]}\n    tools:\n" +
			"      - {name: drop, entry: bin/du.py, class: dangerous}\n      - {class: odd}\n      - plain\n---\n",
		"host/bin/du.py": "print('{}')\n",
		"other/SKILL.md": "---\nname: other\ndescription: d\nactivation: {keywords: 'ram, swap'}\nmetadata: {openclaw: {skillKey: key}}\n---\n",
	})
	if diff := cmp.Diff([]string{"host", "other"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	want := "root/host/SKILL.md:8: note: metadata.ongrid.tools names tools of ongrid's own, which are not here: drop, one without a name and plain (declare those of the folder in tools.yaml)\n"
	if diff := cmp.Diff(want, lines(catalog.Problems)); diff != "" {
		t.Error(diff)
	}
	for query, want := range map[string]string{"disk": "host", "磁盘": "host", "shadowed": "", "swap": "other"} {
		found := ""
		for _, s := range catalog.Skills {
			if found == "" && strings.Contains(s.Description+strings.Join(s.Keywords, " "), query) {
				found = s.Name
			}
		}
		if found != want {
			t.Errorf("%s: found %q, want %q", query, found, want)
		}
	}
	if key := catalog.Skills[1].Key; key != "key" {
		t.Errorf("key %q", key)
	}
}

func TestDisabledSkills(t *testing.T) {
	dir := realTempDir(t)
	write(t, dir, "off/SKILL.md", skillText("off"))
	write(t, dir, "on/SKILL.md", skillText("on"))
	catalog, err := Scan(t.Context(), []Root{{Source: skills.SourceUser, Dir: dir}}, &Options{Disabled: func(_ string, names ...string) string {
		if slices.Contains(names, "off") {
			return "switched off"
		}
		return ""
	}})
	must(t, err)
	if off, on := catalog.Skills[0], catalog.Skills[1]; off.Unavailable != "switched off" || off.ModelInvocable || on.Unavailable != "" || !on.ModelInvocable {
		t.Errorf("%+v\n%+v", off, on)
	}
	if got := lines(catalog.Problems); !strings.Contains(got, "off/SKILL.md: note: it cannot be used: switched off") {
		t.Errorf("problems:\n%s", got)
	}
}
