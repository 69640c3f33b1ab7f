package skills

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
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
		skill := &Skill{Files: DirFS(dir), Dir: dir, File: "SKILL.md"}
		if err := parseSkill(data, skill, "folder", Options{}); err != nil {
			return
		}
		if skill.Name == "" || skill.Class == "" {
			t.Errorf("loaded without name or class: %+v", skill)
		}
		if _, err := json.Marshal(skill.Frontmatter); err != nil {
			t.Errorf("frontmatter: %v", err)
		}
		skill.Instantiate(args, dir)
		if skill.Entry == nil {
			return
		}
		schema := skill.Entry.Schema()
		if _, err := json.Marshal(schema); err != nil {
			t.Errorf("schema: %v", err)
		}
		if _, err := compile(schema); err != nil {
			t.Errorf("schema: %v", err)
		}
	})
}

// FuzzManifest: any plugin.json loads or is rejected; what loads has a name.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{`{"name": "p"}`, `{"name": "p", "skills": ["a", 1], "author": {"name": "x"}}`, `[]`, `{`, `{"name": "a/b"}`, "{\"name\":\t\"p\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		plugin := &Plugin{}
		m, err := parseManifest(data, plugin, "folder", discard)
		if err == nil && m.plugin.Name == "" {
			t.Error("loaded without a name")
		}
	})
}
