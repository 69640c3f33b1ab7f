package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// serverPackages returns the folder of the packages of servers that others have made.
func serverPackages(t *testing.T) string {
	t.Helper()
	servers := filepath.Join(lab.NodeTools(t), "..", "servers", "node_modules")
	if _, err := os.Stat(servers); err != nil {
		lab.Requires(t, "SKILLS_MCP_REQUIRE_TOOLS", fmt.Errorf("%w; integration/node-tools installs it", err))
	}
	return servers
}

// realServers writes the plugins left and right, which bring servers that others have made.
func realServers(t *testing.T, a *lab.Account) {
	t.Helper()
	servers := serverPackages(t)
	for _, name := range []string{"left", "right"} {
		dir := filepath.Join(a.Home, "plugins", name)
		server := func(name, more string) string {
			return fmt.Sprintf(`%q: {"command": "node", "args": ["${CLAUDE_PLUGIN_ROOT}/node_modules/@modelcontextprotocol/server-%[1]s/dist/index.js"%s}`, name, more)
		}
		lab.WriteFile(t, filepath.Join(dir, "plugin.json"), fmt.Sprintf(`{"name": %q, "mcpServers": {%s, %s, %s}}`, name,
			server("everything", `]`), server("filesystem", `, "${CLAUDE_PLUGIN_DATA}"]`), server("memory", `], "env": {"MEMORY_FILE_PATH": "${CLAUDE_PLUGIN_DATA}/memory.jsonl"}`)))
		copyPrograms(t, filepath.Join(dir, "node_modules"), servers)
	}
}

// copyPrograms copies the files of packages that ES modules of them need: a third of the bytes,
// each of which is looked at for harm.
func copyPrograms(t *testing.T, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		inside := strings.TrimPrefix(path, from)
		if err != nil || d.IsDir() || strings.Contains(inside, "/cjs/") || !slices.Contains([]string{".js", ".json", ".md"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && (filepath.Ext(path) != ".md" || strings.Contains(inside, "/dist/docs/")) {
			lab.WriteFile(t, to+inside, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Servers that others have made are used through their plugins, in two plugins at once.
func TestRealServers(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		realServers(t, a)
		a.Configure(allowed(a, ""))
		c := a.Serve("legacy", `{"elicitation":{}}`)
		for _, plugin := range []string{"left", "right"} {
			for server, tool := range map[string]string{"everything": "echo", "filesystem": "write_file", "memory": "create_entities"} {
				c.Succeeds(c.Call(plugin+"__"+server, none), "has started")
				awaitTool(t, c, plugin+"__"+server+"__"+tool)
			}
		}
		usesFiles(t, c)
		usesEverything(t, c)
	})
}

// usesFiles uses two file systems and two memories.
func usesFiles(t *testing.T, c *lab.ToolClient) {
	t.Helper()
	for _, plugin := range []string{"left", "right"} {
		c.Succeeds(c.Call(plugin+"__filesystem__write_file", map[string]any{"path": "/plugin-data/" + plugin + ".txt", "content": "of " + plugin}), "")
		c.Succeeds(c.Call(plugin+"__filesystem__read_text_file", map[string]any{"path": "/plugin-data/" + plugin + ".txt"}), "of "+plugin)
		entity := map[string]any{"name": plugin, "entityType": "plugin", "observations": []string{"it is " + plugin}}
		c.Succeeds(c.Call(plugin+"__memory__create_entities", map[string]any{"entities": []any{entity}}), plugin)
	}
	for plugin, other := range map[string]string{"left": "right", "right": "left"} {
		c.Fails(c.Call(plugin+"__filesystem__read_text_file", map[string]any{"path": "/plugin-data/" + other + ".txt"}), "no such file")
		c.Fails(c.Call(plugin+"__filesystem__read_text_file", map[string]any{"path": "/etc/passwd"}), "outside allowed directories")
		if graph := c.Call(plugin+"__memory__read_graph", none); strings.Contains(graph.Text(), other) {
			t.Errorf("%s remembers %s", plugin, graph.Text())
		}
	}
}

// usesEverything uses each kind of thing that a server may have, of two servers.
func usesEverything(t *testing.T, c *lab.ToolClient) {
	t.Helper()
	c.Raw("logging/setLevel", `{"level":"debug"}`)
	for _, plugin := range []string{"left", "right"} {
		name, uri := plugin+"__everything__", "plugin://"+plugin+"/everything/"
		call := func(tool, args string) string {
			return c.Raw("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":%q}}`, name+tool, args, plugin+tool))
		}
		has(t, call("echo", `{"message":"hello"}`), "Echo: hello")
		has(t, call("get-tiny-image", `{}`), `"type":"image"`)
		has(t, call("get-structured-content", `{"location":"Chicago"}`), `"structuredContent":{`)
		has(t, call("get-resource-links", `{"count":2}`), `"type":"resource_link"`, `"uri":"`+uri+`demo://resource/dynamic/`)
		has(t, call("get-resource-reference", `{"resourceType":"Text","resourceId":3}`), `"uri":"`+uri+`demo://resource/dynamic/text/3"`)
		long := listed(c, name+"trigger-long-runn")
		if len(long) != 1 { // it is longer than a name may be, and ends with a hash
			t.Fatalf("tools %v", long)
		}
		has(t, call("toggle-simulated-logging", `{}`), "Started simulated") // a line now, which may come after the answer, and one each 5 seconds
		has(t, call(strings.TrimPrefix(long[0], name), `{"duration":5.5,"steps":3}`), "Long running operation completed")
		has(t, c.Received.String(), `"progressToken":"`+plugin+strings.TrimPrefix(long[0], name)+`"`)
		has(t, c.Received.String(), "notifications/message", "-level message")
		c.Succeeds(c.Answer(c.Call(name+"trigger-elicitation-request", none), `{"action":"accept","content":{"name":"Ada `+plugin+`","check":true}}`), "Ada "+plugin)

		has(t, c.Listed("prompts/list"), `"name":"`+name+`args-prompt"`, `"name":"`+name+`resource-prompt"`)
		has(t, c.Raw("prompts/get", `{"name":"`+name+`args-prompt","arguments":{"city":"Paris"}}`), "weather in Paris?")
		has(t, c.Raw("prompts/get", `{"name":"`+name+`resource-prompt","arguments":{"resourceType":"Text","resourceId":"5"}}`), `"uri":"`+uri+`demo://resource/dynamic/text/5"`)
		has(t, c.Listed("resources/templates/list"), `"uriTemplate":"`+uri+`demo://resource/dynamic/text/{resourceId}"`)
		has(t, c.Listed("resources/list"), `"uri":"`+uri+`demo://resource/static/document/`)
		has(t, c.Raw("resources/read", `{"uri":"`+uri+`demo://resource/dynamic/text/7"}`), "Resource 7: This is a plaintext resource")
		has(t, c.Raw("resources/read", `{"uri":"`+uri+`demo://resource/dynamic/blob/7"}`), `"blob":"`)

		made := call("gzip-file-as-resource", `{"name":"`+plugin+`.gz","data":"data:text/plain,hello","outputType":"resourceLink"}`)
		has(t, made, `"uri":"`+uri+`demo://resource/session/`+plugin+`.gz"`)
		awaitText(t, uri+"demo://resource/session/"+plugin+".gz", func() string { return c.Listed("resources/list") })
		has(t, c.Received.String(), "notifications/resources/list_changed")
		has(t, c.Raw("resources/read", `{"uri":"`+uri+`demo://resource/session/`+plugin+`.gz"}`), `"blob":"H4sI`)
	}
}
