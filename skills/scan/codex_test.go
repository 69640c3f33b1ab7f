package scan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Plugins of Codex, Gemini CLI and Conduit are read as those of Claude Code are.
func TestPluginsOfOthers(t *testing.T) {
	for name, test := range map[string]struct {
		files    map[string]string
		dir      string // of the root
		want     []string
		plugins  []string
		problems string
	}{
		"Codex": {
			files: map[string]string{
				"p/.codex-plugin/plugin.json": `{"name": "p", "version": "1", "interface": {"shortDescription": "Short."}, "skills": "./skills/", "apps": "./.app.json"}`,
				"p/skills/a/SKILL.md":         skillText("a"),
			},
			want: []string{"p/a"}, plugins: []string{"p: Short."},
			problems: "root/p/.codex-plugin/plugin.json:1: note: \"apps\": its apps are not connected\n",
		},
		"Codex's marketplace": {
			files: map[string]string{
				".agents/plugins/marketplace.json": `{"name": "m", "interface": {"displayName": "M"}, "plugins": [
					{"name": "p", "source": {"source": "local", "path": "./plugins/p"}, "policy": {"installation": "AVAILABLE"}, "category": "X"}]}`,
				"plugins/p/.codex-plugin/plugin.json": `{"name": "p"}`,
				"plugins/p/skills/a/SKILL.md":         skillText("a"),
				"plugins/q/.codex-plugin/plugin.json": `{"name": "q"}`,
				"plugins/q/skills/b/SKILL.md":         skillText("b"),
			},
			want: []string{"p/a", "q/b"}, plugins: []string{"p: ", "q: "},
		},
		"several manifests": {
			files: map[string]string{
				".claude-plugin/marketplace.json":  `{"name": "c", "plugins": []}`,
				".agents/plugins/marketplace.json": `{"name": "a", "plugins": [{"name": "gone", "source": {"source": "local", "path": "./gone"}}]}`,
				"p/.claude-plugin/plugin.json":     `{"name": "claude"}`,
				"p/.codex-plugin/plugin.json":      `{"name": "codex"}`,
				"p/gemini-extension.json":          `{"name": "gemini"}`,
				"p/plugin.json":                    `{"name": "plain"}`,
				"p/skills/a/SKILL.md":              skillText("a"),
				"q/.codex-plugin/plugin.json":      `{"name": "q"}`,
				"q/plugin.json":                    `{"name": "plain"}`,
				"q/skills/a/SKILL.md":              skillText("a"),
			},
			want: []string{"claude/a", "q/a"}, plugins: []string{"claude: ", "q: "},
		},
		"Gemini CLI": {
			files: map[string]string{
				"g/gemini-extension.json": `{"name": "g", "version": "1", "description": "D.", "contextFileName": "GEMINI.md", "mcpServers": {"s": {"command": "x"}}}`,
				"g/skills/a/SKILL.md":     skillText("a"),
				"g/GEMINI.md":             "context",
			},
			want: []string{"g/a"}, plugins: []string{"g: D."},
			problems: "root/g/gemini-extension.json:1: note: \"contextFileName\": its context file is not read; skills are\n",
		},
		"Conduit": {
			files: map[string]string{
				"c/plugin.json": `{"id": "c", "name": "C", "version": "1"}`, "c/__init__.py": "",
				"d/plugin.json": `{"id": "d"}`, "d/__init__.py": "", "d/skills/a/SKILL.md": skillText("a"),
			},
			want: []string{"d/a"}, plugins: []string{"d: "},
			problems: "root/c/plugin.json: warning: it is a plugin of Conduit's, whose Python code is not run; nothing else is in it, so it is left out (write a SKILL.md for what its code does)\n" +
				"root/d/plugin.json: warning: it is a plugin of Conduit's: its Python code is not run, only its skills, commands and agents are read\n",
		},
		"none": {
			files:    map[string]string{"a/SKILL.md": skillText("a")},
			problems: "root: error: there is no plugin in it (name a folder with .claude-plugin/plugin.json, or folders of such; folders of skills are named with --skills)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, test.files, func(r *Root) { r.Plugins, r.Named = true, true })
			if diff := cmp.Diff(test.want, names(catalog)); diff != "" {
				t.Error(diff)
			}
			var plugins []string
			for _, p := range catalog.Plugins {
				plugins = append(plugins, p.Name+": "+p.Description)
			}
			if diff := cmp.Diff(test.plugins, plugins); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.problems, lines(catalog.Problems)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenAIFile(t *testing.T) {
	for name, test := range map[string]struct {
		file     string
		person   bool   // only a person can call the skill
		shown    string // display name, short description and default prompt
		problems string
	}{
		"all": {
			file:  "interface:\n  display_name: The A\n  short_description: Does a.\n  default_prompt: Use $a.\n  icon_small: ./a.png\npolicy:\n  allow_implicit_invocation: true\ndependencies:\n  tools:\n    - {type: mcp, value: figma, description: d}\n    - {type: other, value: x}\n",
			shown: "The A|Does a.|Use $a.", problems: "root/a/agents/openai.yaml:10: note: it relies on the MCP server \"figma\", which your client has to have\n",
		},
		"a person's":        {file: "policy: {allow_implicit_invocation: false}\n", person: true, shown: "||"},
		"an unclear policy": {file: "policy: {allow_implicit_invocation: perhaps}\n", person: true, shown: "||", problems: "root/a/agents/openai.yaml:1: error: \"allow_implicit_invocation\" is not true or false, so only a person can call the skill (write true or false)\n"},
		"unreadable":        {file: "policy: {\n", person: true, shown: "||", problems: "root/a/agents/openai.yaml"},
		"empty":             {file: "", shown: "||"},
		"of other types":    {file: "interface: [1]\npolicy: x\ndependencies: {tools: {a: b}}\n", shown: "||"},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, map[string]string{"a/SKILL.md": skillText("a"), "a/agents/openai.yaml": test.file})
			if len(catalog.Skills) != 1 {
				t.Fatalf("problems:\n%s", lines(catalog.Problems))
			}
			s := catalog.Skills[0]
			if got := strings.Join([]string{s.DisplayName, s.ShortDescription, s.DefaultPrompt}, "|"); got != test.shown {
				t.Errorf("shown: %s, want %s", got, test.shown)
			}
			if s.ModelInvocable == test.person {
				t.Errorf("a model can call it: %t", s.ModelInvocable)
			}
			if got := lines(catalog.Problems); got != test.problems && (name != "unreadable" || !strings.HasPrefix(got, test.problems)) {
				t.Errorf("problems:\n%swant:\n%s", got, test.problems)
			}
		})
	}
}
