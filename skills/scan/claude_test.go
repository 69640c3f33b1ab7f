package scan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

func scanPlugins(t *testing.T, contents map[string]string) *skills.Catalog {
	t.Helper()
	return scanFiles(t, contents, func(r *Root) { r.Plugins, r.Label = true, "" })
}

func agentNames(catalog *skills.Catalog) []string {
	var names []string
	for _, a := range catalog.Agents {
		names = append(names, a.QualifiedName())
	}
	return names
}

func pluginNames(catalog *skills.Catalog) []string {
	var names []string
	for _, p := range catalog.Plugins {
		names = append(names, p.Name)
	}
	return names
}

func TestCommands(t *testing.T) {
	catalog := scanPlugins(t, map[string]string{
		"p/.claude-plugin/plugin.json": `{"name": "p"}`,
		"p/skills/a/SKILL.md":          skillText("a"),
		"p/commands/plain.md":          "# Title\n\nWrite $ARGUMENTS down.\n",
		"p/commands/full.md":           "---\nname: other\ndescription: Does it.\nargument-hint: [file] [line]\nallowed-tools: Bash(git *)\nscript: run.sh\nclass: dangerous\n---\nDo it.\n",
		"p/commands/db/migrate.md":     "Migrate.",
		"p/commands/README.md":         "These are commands.",
		"p/commands/notes.txt":         "no command",
		"p/commands/empty.md":          "---\ndescription: d\n---\n",
		"p/commands/.md":               "no name",
		"p/commands/a.md":              "Hidden by the skill.",
		"p/commands/person.md":         "---\ndescription: d\ndisable-model-invocation: true\n---\nAsk.",
		"q/plugin.json":                `{"name": "q", "commands": ["./special", "one/single.md", "gone", "no.txt", "../p/commands"]}`,
		"q/commands/default.md":        "Not read.",
		"q/special/c.md":               "C.",
		"q/one/single.md":              "Single.",
		"q/no.txt":                     "text",
		"none/plugin.json":             `{"name": "none", "commands": []}`,
		"none/commands/default.md":     "Not read.",
		"deep/plugin.json":             `{"name": "deep"}`,
		"deep/commands/1/2/3/4/5/6/7/8/9/10/11/12/13/no.md": "Too deep.",
	})
	if diff := cmp.Diff([]string{"p/a", "p/db:migrate", "p/full", "p/person", "p/plain", "q/c", "q/single"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	full, err := catalog.Lookup("p/full")
	if err != nil {
		t.Fatal(err)
	}
	if full.Entry != nil || full.Class != skills.Safe || full.Description != "Does it." || full.ArgumentHint != "[file] [line]" || full.File != "p/commands/full.md" {
		t.Errorf("command %+v", full)
	}
	plain, err := catalog.Lookup("p/plain")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := plain.Instantiate("this", ""); plain.Description != "Write $ARGUMENTS down." || text != "# Title\n\nWrite this down." || err != nil {
		t.Errorf("command %+v", plain)
	}
	if person, err := catalog.Lookup("p/person"); err != nil || person.ModelInvocable {
		t.Errorf("command %+v, %v", person, err)
	}
	const want = `p/commands/a.md: warning: the name "p/a" is taken by p/skills/a/SKILL.md (rename one of them)
p/commands/empty.md: error: the command has no text (write what the command asks for below the frontmatter)
p/commands/full.md:4: warning: a value that looks like a list or an alias is not quoted; it was read as if it were (quote the value)
p/commands/full.md:5: note: "allowed-tools" is not honoured: it grants nothing here: the sandbox decides what a script can do
q/plugin.json: error: the commands path "gone" cannot be read: file does not exist (correct the path)
q/plugin.json: error: the commands path "no.txt" is no Markdown file (name a folder, or a file that ends with .md)
q/plugin.json: error: the commands path "../p/commands" leads out of the plugin (put the commands into the plugin's folder)
`
	if diff := cmp.Diff(want, lines(catalog.Problems)); diff != "" {
		t.Error(diff)
	}
}

func TestAgents(t *testing.T) {
	catalog := scanPlugins(t, map[string]string{
		"p/plugin.json":         `{"name": "p"}`,
		"p/agents/reviewer.md":  "---\nname: critic\ndescription: Reviews code.\ntools: Bash(git add *), Read Grep\nmodel: opus\ncolor: red\n---\nYou review.\n",
		"p/agents/lang/go.md":   "---\ndescription: Knows Go.\ntools: [Read, Edit]\n---\n",
		"p/agents/bare.md":      "You are bare.",
		"p/agents/broken.md":    "---\nname: x\n",
		"p/agents/nothing.md":   "",
		"p/agents/twice.md":     "---\nname: critic\ndescription: Again.\n---\n",
		"q/plugin.json":         `{"name": "q", "agents": "./roles"}`,
		"q/agents/default.md":   "Not read.",
		"q/roles/hidden.md":     "---\ndescription: \"a\u202eb\"\n---\n",
		"q/roles/repaired.md":   "---\ndescription: Use it: now\n---\n",
		"q/roles/wrong-type.md": "---\ndescription: d\nmodel: [a]\n---\n",
	})
	if diff := cmp.Diff([]string{"p/bare", "p/critic", "p/lang:go", "q/hidden", "q/repaired", "q/wrong-type"}, agentNames(catalog)); diff != "" {
		t.Error(diff)
	}
	critic := catalog.Agents[1]
	if diff := cmp.Diff(&skills.Agent{
		Name: "critic", Plugin: "p", Description: "Reviews code.", Tools: []string{"Bash(git add *)", "Read", "Grep"}, Model: "opus",
		Source: skills.SourceExtra, File: "p/agents/reviewer.md", Instructions: "You review.",
		Frontmatter: map[string]any{"name": "critic", "description": "Reviews code.", "tools": "Bash(git add *), Read Grep", "model": "opus", "color": "red"},
	}, critic); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Read", "Edit"}, catalog.Agents[2].Tools); diff != "" {
		t.Error(diff)
	}
	const want = `p/agents/bare.md: warning: there is no description (say when to use the agent)
p/agents/broken.md:1: error: the frontmatter is not closed (add a line "---" below the last field)
p/agents/nothing.md: error: the agent has neither a description nor a text (write who the agent is below the frontmatter)
p/agents/twice.md: warning: the agent name "p/critic" is taken by p/agents/reviewer.md (rename one of them)
q/roles/hidden.md:2: warning: name or description contain the invisible or direction-changing character U+202E (remove it)
q/roles/repaired.md:2: warning: a value with a colon is not quoted; it was read as if it were (quote the value)
q/roles/wrong-type.md:3: warning: "model" is not text and is ignored (write text)
`
	if diff := cmp.Diff(want, lines(catalog.Problems)); diff != "" {
		t.Error(diff)
	}
}

func TestMarketplace(t *testing.T) {
	catalog := scanPlugins(t, map[string]string{
		"m/.claude-plugin/marketplace.json": `{"name": "market", "metadata": {"pluginRoot": "./plugins"}, "plugins": [
			{"name": "own", "source": "./plugins/own", "version": "9", "description": "Of the market.", "skills": "./more"},
			{"name": "rooted", "source": "rooted"},
			{"name": "local", "source": {"source": "local", "path": "./plugins/local"}},
			{"name": "defined", "source": "./plugins/defined", "strict": false, "skills": ["./b"], "commands": []},
			{"name": "loose", "source": "./plugins/loose", "strict": false},
			{"name": "far", "source": {"source": "github", "repo": "a/b"}},
			{"name": "farther", "source": "https://example.com/x.git"},
			{"name": "gone", "source": "./plugins/gone"},
			{"name": "out", "source": "./../other"},
			"text",
			{"name": "first", "source": "./shared", "strict": false, "skills": ["./x"]},
			{"name": "second", "source": "./shared", "strict": false, "skills": ["./y"]}
		]}`,
		"m/plugins/own/plugin.json":                      `{"name": "own", "version": "1"}`,
		"m/plugins/own/skills/a/SKILL.md":                skillText("a"),
		"m/plugins/own/more/b/SKILL.md":                  skillText("b"),
		"m/plugins/rooted/skills/a/SKILL.md":             skillText("a"),
		"m/plugins/local/skills/a/SKILL.md":              skillText("a"),
		"m/plugins/defined/.claude-plugin/plugin.json":   `{"name": "not-this"}`,
		"m/plugins/defined/skills/a/SKILL.md":            skillText("a"),
		"m/plugins/defined/b/SKILL.md":                   skillText("b"),
		"m/plugins/defined/commands/c.md":                "Not read.",
		"m/plugins/loose/skills/a/SKILL.md":              skillText("a"),
		"m/plugins/unlisted/.claude-plugin/plugin.json":  `{"name": "unlisted"}`,
		"m/plugins/unlisted/skills/a/SKILL.md":           skillText("a"),
		"m/shared/x/SKILL.md":                            skillText("x"),
		"m/shared/y/SKILL.md":                            skillText("y"),
		"m/shared/skills/z/SKILL.md":                     skillText("z"),
		"m/.cursor-plugin/marketplace.json":              `{"plugins": [{"name": "no", "source": "./plugins/own"}]}`,
		"m/.cursor-plugin/plugin.json":                   `{"name": "no"}`,
		"m/.agents/plugins/marketplace.json":             `{"plugins": [{"name": "no", "source": "./plugins/own"}]}`,
		"other/plugin.json":                              `{"name": "other"}`,
		"self/.claude-plugin/marketplace.json":           `{"name": "self", "plugins": [{"name": "self", "source": "./"}]}`,
		"self/.claude-plugin/plugin.json":                `{"name": "self"}`,
		"self/skills/a/SKILL.md":                         skillText("a"),
		"broken/marketplace.json":                        `{"plugins": {}}`,
		"broken/plugins/in/plugin.json":                  `{"name": "in-broken"}`,
		"broken/plugins/in/skills/a/SKILL.md":            skillText("a"),
		"invalid/marketplace.json":                       "{\n",
		"list/marketplace.json":                          "[]",
		"list/.claude-plugin/marketplace.json/directory": "",
	})
	if diff := cmp.Diff([]string{
		"defined/b", "first/x", "in-broken/a", "local/a", "loose/a", "own/a", "own/b", "rooted/a", "second/y", "self/a", "unlisted/a",
	}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"defined", "first", "in-broken", "local", "loose", "other", "own", "rooted", "second", "self", "unlisted"}, pluginNames(catalog)); diff != "" {
		t.Error(diff)
	}
	own := catalog.Plugins[slices.Index(pluginNames(catalog), "own")]
	if own.Version != "1" || own.Description != "Of the market." || own.Marketplace != "market" || own.File != "m/plugins/own/plugin.json" {
		t.Errorf("plugin %+v", own)
	}
	const want = `broken/marketplace.json:1: error: there is no list "plugins" (write "plugins": [{"name": …, "source": "./…"}])
invalid/marketplace.json:1: error: it is not JSON: unexpected end of JSON input (correct the JSON)
list/marketplace.json:1: error: it is not a JSON object (write an object with "plugins")
m/.claude-plugin/marketplace.json: note: 2 of its plugins are kept elsewhere and are not fetched: far and farther
m/.claude-plugin/marketplace.json:9: error: the source "./plugins/gone" of the plugin "gone" does not exist (correct the path)
m/.claude-plugin/marketplace.json:10: error: the source "./../other" of the plugin "out" leads out of the marketplace (put the plugin into the marketplace's folder)
m/.claude-plugin/marketplace.json:11: warning: a plugin is not a JSON object and is ignored (write {"name": …, "source": "./…"})
`
	if diff := cmp.Diff(want, lines(catalog.Problems)); diff != "" {
		t.Error(diff)
	}
}

// identified returns a hook with its ID.
func identified(hook skills.Hook) skills.Hook {
	hook.Identify()
	return hook
}

// The shapes in which real plugins name their MCP servers.
func TestServers(t *testing.T) {
	context := skills.MCPServer{Name: "ctx", Transport: "http", URL: "https://example.com/mcp"}
	local := skills.MCPServer{Name: "local", Transport: "stdio", Command: "npx -y server"}
	for name, test := range map[string]struct {
		manifest, file string
		want           []skills.MCPServer
	}{
		"the usual":       {`{"name": "p"}`, `{"mcpServers": {"ctx": {"type": "http", "url": "https://user:secret@example.com/mcp?key=secret", "headers": {"Authorization": "secret"}}, "local": {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "secret"}}}}`, []skills.MCPServer{context, local}},
		"a bare map":      {`{"name": "p"}`, `{"ctx": {"url": "https://example.com/mcp"}, "$schema": "x"}`, []skills.MCPServer{context}},
		"a list":          {`{"name": "p"}`, `[{"name": "local", "command": ["npx", "-y", "server"]}, {"no": "name"}]`, []skills.MCPServer{local}},
		"a list inside":   {`{"name": "p"}`, `{"mcpServers": [{"name": "ctx", "transport": "http", "url": "https://example.com/mcp"}]}`, []skills.MCPServer{context}},
		"none":            {`{"name": "p"}`, `{"mcpServers": {}}`, nil},
		"in the manifest": {`{"name": "p", "mcpServers": {"ctx": {"type": "http", "url": "https://example.com/mcp"}}}`, `{"other": {"command": "no"}}`, []skills.MCPServer{context}},
		"a path":          {`{"name": "p", "mcpServers": "./.mcp.json"}`, `{"local": {"command": "npx -y server"}}`, []skills.MCPServer{local}},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanPlugins(t, map[string]string{"p/plugin.json": test.manifest, "p/.mcp.json": test.file})
			if diff := cmp.Diff(test.want, asShown(catalog.Plugins[0].Servers)); diff != "" {
				t.Error(diff)
			}
			for _, p := range catalog.Problems {
				if p.Severity != skills.Note {
					t.Errorf("problem: %s", p)
				}
			}
		})
	}
}

// asShown returns servers as people see them.
func asShown(servers []skills.MCPServer) (all []skills.MCPServer) {
	for _, s := range servers {
		all = append(all, skills.MCPServer{Name: s.Name, Transport: s.Transport, Command: s.Command, URL: s.URL})
	}
	return all
}

// The shapes in which real plugins name their hooks.
func TestHooks(t *testing.T) {
	start := identified(skills.Hook{Event: "SessionStart", Type: "command", Runs: "start.sh"})
	before := identified(skills.Hook{Event: "PreToolUse", Matcher: "Bash", Type: "command", Runs: "check.sh"})
	slow := before
	slow.Timeout = 5
	slow = identified(slow)
	for name, test := range map[string]struct {
		manifest, file string
		want           []skills.Hook
	}{
		"the usual":       {`{"name": "p"}`, `{"description": "d", "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "start.sh"}]}], "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh", "timeout": 5}]}]}}`, []skills.Hook{start, slow}},
		"a bare map":      {`{"name": "p"}`, `{"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "check.sh"}]}]}`, []skills.Hook{before}},
		"without groups":  {`{"name": "p"}`, `{"version": 1, "hooks": {"SessionStart": [{"type": "command", "bash": "start.sh", "powershell": "start.ps1"}]}}`, []skills.Hook{start}},
		"a list":          {`{"name": "p"}`, `{"hooks": [{"event": "SessionStart", "command": "start.sh"}]}`, []skills.Hook{start}},
		"a bare list":     {`{"name": "p"}`, `[{"event": "PreToolUse", "matcher": "Bash", "hooks": [{"command": ["check.sh"]}]}]`, []skills.Hook{before}},
		"none":            {`{"name": "p"}`, `{"hooks": {}}`, nil},
		"in the manifest": {`{"name": "p", "hooks": {"SessionStart": [{"hooks": [{"command": "start.sh"}]}]}}`, `{"Stop": [{"command": "no"}]}`, []skills.Hook{start}},
		"a path":          {`{"name": "p", "hooks": ["hooks/hooks.json"]}`, `{"SessionStart": [{"command": "start.sh"}]}`, []skills.Hook{start}},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanPlugins(t, map[string]string{"p/plugin.json": test.manifest, "p/hooks/hooks.json": test.file})
			if diff := cmp.Diff(test.want, catalog.Plugins[0].Hooks); diff != "" {
				t.Error(diff)
			}
			for _, p := range catalog.Problems {
				if p.Severity != skills.Note {
					t.Errorf("problem: %s", p)
				}
			}
		})
	}
}

// Hooks are kept as they are shown, and servers also as they are started.
func TestExecutableParts(t *testing.T) {
	catalog := scanPlugins(t, map[string]string{
		"p/plugin.json": `{"name": "p"}`,
		"p/.mcp.json": `{"mcpServers": {
			"ctx": {"url": "https://example.com/mcp", "headers": {"Authorization": "secret"}, "timeout": 5000},
			"local": {"command": "npx", "args": ["-y", "a b"], "env": {"KEY": "secret"}}}}`,
		"p/hooks/hooks.json": `{"PreToolUse": [{"matcher": "Bash", "hooks": [
			{"command": "check.sh | tee log", "timeout": 5, "async": true, "if": "Bash(git *)", "shell": "bash"},
			{"command": ["check.sh", "a b"], "env": {"KEY": "secret"}},
			{"command": "check", "args": ["a b"], "timeout": "endless"},
			{"powershell": "check.ps1"},
			{"type": "prompt", "prompt": "Is it right?"}]}]}`,
	})
	servers := []skills.MCPServer{
		{Name: "ctx", Transport: "http", URL: "https://example.com/mcp", Address: "https://example.com/mcp", Headers: map[string]string{"Authorization": "secret"}},
		{Name: "local", Transport: "stdio", Command: "npx -y a b", Argv: []string{"npx", "-y", "a b"}, Env: map[string]string{"KEY": "secret"}},
	}
	var hooks []skills.Hook
	for _, hook := range []skills.Hook{
		{Type: "command", Runs: "check.sh | tee log", Timeout: 5, Async: true, If: "Bash(git *)", Shell: "bash"},
		{Type: "command", Runs: "check.sh", Args: []string{"a b"}},
		{Type: "command", Runs: "check", Args: []string{"a b"}},
		{Type: "command", Runs: "check.ps1", Shell: "powershell"},
		{Type: "prompt", Runs: "Is it right?"},
	} {
		hook.Event, hook.Matcher = "PreToolUse", "Bash"
		hooks = append(hooks, identified(hook))
	}
	if diff := cmp.Diff(servers, catalog.Plugins[0].Servers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(hooks, catalog.Plugins[0].Hooks); diff != "" {
		t.Error(diff)
	}
}

// What is shown only says so, and costs nothing else where it cannot be read.
func TestShownProblems(t *testing.T) {
	catalog := scanPlugins(t, map[string]string{
		"a/plugin.json":       `{"name": "a"}`,
		"a/.mcp.json":         `{"s": {"command": "x"}}`,
		"a/hooks/hooks.json":  `{"Stop": [{"command": "x"}]}`,
		"b/plugin.json":       `{"name": "b"}`,
		"b/.mcp.json":         "{",
		"b/hooks/hooks.json":  `"text"`,
		"b/skills/s/SKILL.md": skillText("s"),
		"c/plugin.json":       "{\"name\": \"c\",\n\"hooks\": {\"x\": 1},\n\"mcpServers\": \"../b/.mcp.json\"}",
		"d/plugin.json":       `{"name": "d"}`,
		"e/plugin.json":       `{"name": "e", "hooks": 5}`,
		"d/.mcp.json":         `{"s": "text"}`,
		"d/hooks/hooks.json":  `{"a":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`,
	})
	const want = `b/.mcp.json:1: error: it is not JSON: unexpected end of JSON input (correct the JSON)
b/hooks/hooks.json:1: warning: it is not of a known shape and is ignored (correct it)
c/plugin.json: error: the mcpServers path "../b/.mcp.json" leads out of the plugin (put the mcpServers into the plugin's folder)
c/plugin.json:2: warning: "hooks" is not of a known shape and is ignored (correct it)
d/.mcp.json:1: warning: it is not of a known shape and is ignored (correct it)
d/hooks/hooks.json:1: warning: it is not of a known shape and is ignored (correct it)
e/plugin.json:1: warning: "hooks" is not of a known shape and is ignored (correct it)
`
	if diff := cmp.Diff(want, lines(catalog.Problems)); diff != "" {
		t.Error(diff)
	}
	if got := names(catalog); !slices.Equal(got, []string{"b/s"}) {
		t.Errorf("skills %v", got)
	}
}

// Commands and agents that a person has outside of plugins.
func TestLooseCommandsAndAgents(t *testing.T) {
	catalog, err := Scan(t.Context(), []Root{
		{Source: skills.SourceSession, Label: "skills", FS: files(map[string]string{"taken/SKILL.md": skillText("taken")})},
		{Source: skills.SourceSession, Label: "commands", Commands: true, FS: files(map[string]string{
			"plain.md": "Plain.", "db/migrate.md": "Migrate.", "taken.md": "Hidden.", "a/SKILL.md": skillText("a"), "notes.txt": "",
		})},
		{Source: skills.SourceSession, Label: "agents", Agents: true, FS: files(map[string]string{"critic.md": "---\ndescription: d\n---\n"})},
		{Source: skills.SourceUser, Label: "own", Agents: true, FS: files(map[string]string{"critic.md": "---\ndescription: hidden\n---\n"})},
		{Source: skills.SourceUser, Label: "gone", Commands: true, Dir: t.TempDir() + "/gone"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a:SKILL", "db:migrate", "plain", "taken"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"critic"}, agentNames(catalog)); diff != "" || catalog.Agents[0].Description != "d" {
		t.Error(diff, catalog.Agents[0])
	}
	if len(catalog.Shadowed) != 1 || catalog.Shadowed[0].Skill.File != "commands/taken.md" {
		t.Errorf("shadowed %v", catalog.Shadowed)
	}
}

// A link is followed where it stays in its plugin.
func TestLinkedCommands(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p/plugin.json", `{"name": "p"}`)
	write(t, dir, "p/docs/shared.md", "Shared.")
	write(t, dir, "secret.md", "Secret.")
	write(t, dir, "p/commands/own.md", "Own.")
	link(t, "../docs/shared.md", dir, "p/commands/linked.md")
	link(t, "../../secret.md", dir, "p/commands/stolen.md")
	link(t, "nowhere.md", dir, "p/commands/dangling.md")
	catalog := scanDir(t, dir, true)
	if diff := cmp.Diff([]string{"p/linked", "p/own"}, names(catalog)); diff != "" {
		t.Error(diff)
	}
	if got := lines(catalog.Problems); !strings.Contains(got, "stolen.md: warning: the link leads out of its plugin, or folder, and was not followed (put a file there)") {
		t.Errorf("problems:\n%s", got)
	}
}

func TestArgumentHint(t *testing.T) {
	for field, want := range map[string]string{"[file]": "[file]", "[a, b]": "[a, b]", "'[a] [b]'": "[a] [b]", "<x>": "<x>", "[a] [b]": "[a] [b]"} {
		skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\nargument-hint: "+field+"\n---\n")
		if skill.ArgumentHint != want {
			t.Errorf("%s: %q, want %q", field, skill.ArgumentHint, want)
		}
	}
}

// FuzzMarketplace: whatever the JSON files of plugins hold, a scan ends, and what
// it finds can be told apart.
func FuzzMarketplace(f *testing.F) {
	for _, seed := range []string{
		`{"name": "m", "plugins": [{"name": "p", "source": "./p", "strict": false, "skills": ["./s"]}]}`, `{"plugins": [1, {}]}`,
		`{"mcpServers": [{"name": "a"}]}`, `{"hooks": {"A": [[{"hooks": [{"command": "x"}]}]]}}`, `[{"event": 1}]`, `{`,
		`{"name": "p", "commands": {"a": 1}, "agents": "./x", "mcpServers": "p", "hooks": []}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		catalog := scanPlugins(t, map[string]string{
			"m/marketplace.json": text, "m/p/plugin.json": text, "m/p/.mcp.json": text, "m/p/hooks/hooks.json": text,
			"m/p/s/SKILL.md": skillText("s"), "m/p/commands/c.md": "C.", "m/p/agents/a.md": "A.",
		})
		for _, p := range catalog.Plugins {
			if p.Name == "" || len(p.Servers) > maxShown || len(p.Hooks) > maxShown {
				t.Errorf("plugin %+v", p)
			}
		}
	})
}
