package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// FuzzSkill: any SKILL.md loads or is rejected; what loads is complete, and can
// be shown to clients.
func FuzzSkill(f *testing.F) {
	for _, seed := range []string{
		"---\nname: demo\ndescription: d\nscript: run.sh\nparams:\n  a: {type: integer, default: 5}\n---\nBody $0\n",
		"---\na: &a [*a]\n---\n", "---\n---\n", "# Title\n\ntext", "---\nname: [\n---\n",
		"---\nname: demo\nscript: run.sh\nclass: mutating\nsandbox: {network: [a, {b: c}], warm: no}\n---\n", "---\ndescription: a: b\n---\n",
		"---\nparams: [{name: a}, b, [c]]\nscript: '{a}.sh'\n---\n", "---\n<<: {name: x}\n? [k]\n: v\n---\n",
	} {
		f.Add([]byte(seed), "arg \"two words\"")
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte("echo"), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, args string) {
		skill := &skills.Skill{Files: skillfs.DirFS(dir), Dir: dir, File: "SKILL.md"}
		if err := ParseSkill(data, skill, "folder", Options{}); err != nil {
			return
		}
		if skill.Name == "" || skill.Class == "" {
			t.Errorf("loaded without name or class: %+v", skill)
		}
		if _, err := json.Marshal(skill.Frontmatter); err != nil {
			t.Errorf("frontmatter: %v", err)
		}
		if _, err := skill.Instantiate(args, dir); err != nil {
			t.Errorf("instantiate: %v", err)
		}
		checkServed(t, skill)
	})
}

// FuzzManifest: any plugin.json loads or is rejected; what loads has a name.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{`{"name": "p"}`, `{"name": "p", "skills": ["a", 1], "author": {"name": "x"}}`, `[]`, `{`, `{"name": "a/b"}`, "{\"name\":\t\"p\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		plugin := &skills.Plugin{}
		m, err := ParsePlugin(data, plugin, "folder", discard)
		if err == nil && m.Plugin.Name == "" {
			t.Error("loaded without a name")
		}
	})
}

// FuzzOngrid: any skill.json loads or not; what loads can be shown to clients,
// and a schema that is served can be checked against.
func FuzzOngrid(f *testing.F) {
	for _, seed := range []string{
		`{"name": "x", "description": "d", "entry": "run.sh"}`, `{"name": "x"}`, `[]`, `{`,
		`{"name": "x", "description": "d", "entry": "run.sh", "schema": {"properties": {"a": {"type": ["string"], "items": true}}, "required": [1]}, "env_allow": "A B", "timeout_seconds": -1}`,
		`{"name": "x", "description": "d", "entry": "run.sh", "schema": {"$ref": "#", "properties": {"a": {"$ref": "file:///x"}}}, "class": "dangerous"}`,
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte("echo"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skill := &skills.Skill{Files: skillfs.DirFS(dir), Dir: dir, File: "skill.json"}
		if err := ParseOngrid(data, skill, Options{}); err != nil {
			return
		}
		if skill.Name == "" || skill.Class == "" || skill.Instructions == "" {
			t.Errorf("loaded without name, class or instructions: %+v", skill)
		}
		checkServed(t, skill)
	})
}

// FuzzTools: any tools.yaml is read or costs a problem; the tools are complete.
func FuzzTools(f *testing.F) {
	for _, seed := range []string{
		"tools: [{name: a, script: run.sh, params: {a: integer}}]", "tools:\n- &a {name: a, script: run.sh}\n- *a\n",
		"tools: &a [*a]", "tools: [{name: f, script: a.py, function: f, class: mutating, sandbox: {warm: 1}}]", "", "[", "tools: [{name: a, script: '{x}.sh', params: {x: string}}]",
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	for _, name := range []string{"run.sh", "a.py"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("echo"), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skill := &skills.Skill{Files: skillfs.DirFS(dir), Dir: dir, File: "SKILL.md"}
		if err := ParseSkill([]byte("---\nname: demo\ndescription: d\n---\n"), skill, "demo", Options{Tools: File{Data: data}}); err != nil {
			t.Fatal(err)
		}
		for _, tool := range skill.Tools {
			if tool.Entry == nil || tool.Of != skill || tool.Description == "" || tool.Class == "" {
				t.Errorf("incomplete: %+v", tool)
			}
			checkServed(t, tool)
		}
	})
}

// checkServed checks that what a skill runs can be offered to clients.
func checkServed(t *testing.T, skill *skills.Skill) {
	if skill.Entry == nil {
		return
	}
	served := skill.Entry.Schema()
	if _, err := json.Marshal(served); err != nil {
		t.Errorf("schema: %v", err)
	}
	if err := schema.New(served).Err(); err != nil {
		t.Errorf("schema: %v", err)
	}
	if served.Type != "object" {
		t.Errorf("the schema is of %q", served.Type)
	}
}
