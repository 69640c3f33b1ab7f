package clients

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/skills"
)

// TestNothingHidden has a skill with invisible characters in all its fields, in
// its output, and in a file in /out: a client gets none of them, except in the
// skill's file itself, which has to match its digest.
func TestNothingHidden(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const secret = "\U000e0069\U000e0067\u202e\u200b\u2062\u0085"
	manifest := strings.ReplaceAll(`---
name: sly
description: "Counts things.@"
when_to_use: "When asked.@"
argument-hint: "[it@]"
script: run.sh
params:
  text: {type: string, description: "What.@", default: "a@b", enum: ["a@b", "c@d"]}
---
# Sly@

Do this.@ Keep KEPT.
`, "@", secret)
	const kept = "👩\u200d💻 and می\u200cخواهم"
	manifest = strings.Replace(manifest, "KEPT", kept, 1)
	manifest = strings.ReplaceAll(manifest, "\u0085", "") // YAML takes it for a line's end
	lab.WriteFile(t, filepath.Join(folder, "sly", "SKILL.md"), manifest)
	lab.WriteFile(t, filepath.Join(folder, "sly", "run.sh"), "printf 'said"+secret+"\\033[31m {}\\n' | tee /out/left.txt\n")
	lab.WriteFile(t, filepath.Join(folder, "book", "SKILL.md"), strings.ReplaceAll(strings.Replace(manifest, "name: sly", "name: book", 1), "script: run.sh\n", ""))
	c := lab.Connect(t, "native", "--skills", folder)

	answers := map[string]any{}
	take := func(name string, answer any, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		answers[name] = answer
	}
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	take("tools/list", tools, err)
	prompts, err := c.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
	take("prompts/list", prompts, err)
	resources, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	take("resources/list", resources, err)
	prompt, err := c.Prompt("book", nil)
	take("prompts/get", prompt, err)
	for _, call := range []struct {
		name string
		args map[string]any
	}{
		{"sly", map[string]any{}}, {"book", map[string]any{}}, {"list_skills", map[string]any{}},
		{"search_skills", map[string]any{"query": "counts things"}}, {"get_skill", map[string]any{"name": "sly"}},
		{"load_skill", map[string]any{"name": "book"}}, {"run_skill", map[string]any{"name": "sly", "params": map[string]any{}}},
	} {
		_, result := c.Call(call.name, call.args)
		take(call.name, result, nil)
	}
	for name, answer := range answers {
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var plain any // with no escapes
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		walk(plain, func(s string) {
			if at, r := skills.FindHidden(s); at >= 0 {
				t.Errorf("%s has %U in %.300q", name, r, s)
			}
		})
	}
	if !strings.Contains(prompt, "Keep "+kept+".") {
		t.Errorf("joiners that are needed are gone: %q", prompt)
	}
	if text, err := c.Read("skill://book/SKILL.md"); err != nil || !strings.Contains(text, "Do this.\U000e0069") {
		t.Errorf("the file is not as it is: %q, %v", text, err)
	}
}

// walk calls f for each text of a value of encoding/json.
func walk(value any, f func(string)) {
	switch v := value.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			walk(item, f)
		}
	case map[string]any:
		for name, item := range v {
			f(name)
			walk(item, f)
		}
	}
}
