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
				"c/plugin.json": `{"id": "c", "name": "The C", "version": "1", "config_schema": {"unit": {"type": "string", "default": 7}}}`, "c/__init__.py": "",
				"d/plugin.json": `{"id": "d"}`, "d/__init__.py": "", "d/skills/a/SKILL.md": skillText("a"),
			},
			want: []string{"d/a"}, plugins: []string{"c: ", "d: "},
			problems: "root/c/plugin.json:1: warning: parameter \"unit\": the default is ignored: \"unit\" must be a string, not a number (give a default that the parameter accepts)\n",
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

// The code of a plugin of Conduit's is a server, whose entry is a Python package, or an ES
// module.
func TestConduitCode(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"Python":         {map[string]string{"__init__.py": "", "index.mjs": ""}, "python3 __init__.py"},
		"index.mjs":      {map[string]string{"index.mjs": "", "package.json": `{"type": "module", "main": "x.js"}`}, "node index.mjs"},
		"package.json":   {map[string]string{"lib/x.js": "", "package.json": `{"type": "module", "main": "./lib/x.js"}`}, "node lib/x.js"},
		"main by name":   {map[string]string{"x.mjs": "", "package.json": `{"main": "x.mjs"}`}, "node x.mjs"},
		"index.js":       {map[string]string{"index.js": "", "package.json": `{"type": "module"}`}, "node index.js"},
		"CommonJS":       {map[string]string{"index.js": "", "package.json": `{}`}, ""},
		"leads out":      {map[string]string{"package.json": `{"type": "module", "main": "../x.mjs"}`}, ""},
		"missing":        {map[string]string{"package.json": `{"type": "module", "main": "x.mjs"}`}, ""},
		"no code":        {map[string]string{"a.py": ""}, ""},
		"another folder": {map[string]string{"plugin.json": `{"name": "no-id"}`, "__init__.py": ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"p/plugin.json": `{"id": "weather", "name": "The Weather", "version": "2", "config_schema": {"days": {"type": "integer"}}}`}
			for name, text := range test.files {
				files["p/"+name] = text
			}
			p := scanPlugins(t, files).Plugins[0]
			if test.want == "" {
				if len(p.Servers) > 0 {
					t.Errorf("%+v", p.Servers)
				}
				return
			}
			if len(p.Servers) != 1 || p.Name != "weather" {
				t.Fatalf("%+v", p)
			}
			s := p.Servers[0]
			if s.Command != test.want || strings.Join(s.Argv, " ") != strings.Replace(test.want, " ", " ${CLAUDE_PLUGIN_ROOT}/", 1) || s.Code.ID != "weather" || s.Code.Version != "2" || len(s.Code.Settings) != 1 {
				t.Errorf("%+v %+v", s, s.Code)
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
