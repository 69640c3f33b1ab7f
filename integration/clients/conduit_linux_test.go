package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// conduitPlugin writes a plugin of Conduit's with one file of code, into its own folder.
func conduitPlugin(a *lab.Account, id, more, file, code string) {
	dir := filepath.Join(a.Home, ".conduit", "plugins", id)
	lab.WriteFile(a.T, filepath.Join(dir, "plugin.json"), fmt.Sprintf(`{"id": %q, "name": "My Plugin", "description": "Does something useful", "version": "1.0.0"%s}`, id, more))
	lab.WriteFile(a.T, filepath.Join(dir, file), code)
}

// The plugin of Conduit's own description, with a handler.
const examplePlugin = `
from conduit.plugin_sdk import PluginAPI

async def my_handler(text: str) -> str:
    return "the thing: " + text

def register(api: PluginAPI):
    api.register_tool(
        name="my_tool",
        description="Does the thing",
        parameters={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        handler=my_handler,
        permission="none",
    )
`

// Plugins whose state, files and configuration tell where they run.
const (
	asyncPlugin = `
import asyncio, os
from skills_mcp.plugin_sdk import PluginAPI
from . import words
count = 0
async def counter():
    global count
    await asyncio.sleep(0.01)
    count += 1
    return {"count": count, "word": words.WORD}
async def shout(tool_name, args, result): return result.upper() if tool_name == "say" else None
def write(path):
    open(path, "w").write("written")
    return "written"
def register(api):
    api.register_tool("counter", "Counts", {}, counter)
    api.register_tool("say", "Says", {"properties": {"text": {"type": "string"}}}, lambda text: text)
    api.register_tool("write", "Writes a file", {"properties": {"path": {"type": "string"}}}, write, permission="write")
    api.register_hook("after_tool_call", shout)
    api.register_skill("manners", "How to say it", "Say it kindly.")
`
	configuredPlugin = `
import os
def register(api):
    api.register_tool("config", "Shows its configuration", {}, lambda: dict(api.config))
    api.register_tool("env", "Shows variables", {}, lambda: {"env": sorted(os.environ)})
`
	nodePlugin = `
let count = 0
export function register(api) {
  api.register_tool({ name: "add", description: "Adds numbers", parameters: { properties: { a: { type: "number" }, b: { type: "number" } } },
    handler: async ({ a, b }) => ({ sum: a + b, count: ++count }) })
}
`
)

// The code of Conduit's plugins runs in sandboxes, and its tools are called as those of
// skills are, from the folder to the answer, also after a change of the code.
func TestConduitPlugins(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		conduitPlugin(a, "my-plugin", `, "config_schema": {"api_key_env": {"type": "string", "description": "API key env var"}}`, "__init__.py", examplePlugin)
		conduitPlugin(a, "waits", "", "__init__.py", asyncPlugin)
		conduitPlugin(a, "waits", "", "words.py", "WORD = 'first'")
		conduitPlugin(a, "noder", "", "index.mjs", nodePlugin)
		a.Configure("expose: {mode: all}\n")
		c := a.Serve("legacy", `{}`)
		if got := listed(c, "__"); !slices.Equal(got, []string{"my-plugin__tools", "noder__tools", "waits__tools"}) {
			t.Fatalf("tools %v", got)
		}
		for _, plugin := range []string{"my-plugin", "waits", "noder"} {
			a.Approve(c.Waits(c.Call(plugin+"__tools", none)))
			c.Succeeds(c.Call(plugin+"__tools", none), "has started")
		}
		awaitTool(t, c, "my-plugin__tools__my_tool")
		c.Succeeds(c.Call("my-plugin__tools__my_tool", lab.Text("hi")), "the thing: hi")
		c.Fails(c.Call("my-plugin__tools__my_tool", map[string]any{"text": 5}), "INVALID_PARAM")
		awaitTool(t, c, "noder__tools__add")
		c.Succeeds(c.Call("noder__tools__add", map[string]any{"a": 2, "b": 3}), `"sum":5`)
		c.Succeeds(c.Call("noder__tools__add", map[string]any{"a": 2, "b": 3}), `"count":2`)

		awaitTool(t, c, "waits__tools__counter")
		c.Succeeds(c.Call("waits__tools__counter", none), `{"count":1,"word":"first"}`)
		c.Succeeds(c.Call("waits__tools__counter", none), `"count":2`)
		c.Succeeds(c.Call("waits__tools__say", lab.Text("hello")), "HELLO")
		c.Succeeds(c.Call("load_skill", map[string]any{"name": "waits/tools"}), "Say it kindly.")
		// Its permission is "write", so the person is asked.
		c.Waits(c.Call("waits__tools__write", map[string]any{"path": "/tmp/x"}))

		conduitPlugin(a, "waits", "", "words.py", "WORD = 'second'")
		text := lab.Awaits(t, "second", func() string { return c.Call("waits__tools__counter", none).Text() })
		if !strings.Contains(text, `"count":1`) {
			t.Errorf("the old process has the new code: %s", text)
		}
	})
}

// A plugin is checked, shown before it is installed, and called through MCP Inspector.
func TestConduitInspector(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	a := lab.NewAccount(t, "native", "")
	conduitPlugin(a, "noder", "", "index.mjs", nodePlugin)
	a.Configure("expose: {mode: all}\npolicy: {skills: {\"*\": {class: safe}}}\n")
	dir := filepath.Join(a.Home, ".conduit", "plugins", "noder")
	if out, code := a.Run("check", dir); code != 0 || !strings.Contains(out, "1 plugin") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, _ := a.Run("install", "--dry-run", dir); !strings.Contains(out, "wants an MCP server connected: node index.mjs") {
		t.Errorf("%s", out)
	}
	if out, code := a.Run("run", "noder/tools"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	result, exit := inspector(t, tools, a.Inspector("modern"), "--method", "tools/call", "--tool-name", "noder__tools__add", "--tool-arg", "a=2", "--tool-arg", "b=3")
	if exit != 0 || !strings.Contains(string(result["structuredContent"]), `"sum":5`) {
		t.Errorf("exit %d: %s", exit, result)
	}
}

// Configuration comes from the person's file, for the plugin of its id alone, and secrets
// by the grants of the skill.
func TestConduitConfiguration(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		const schema = `, "config_schema": {"unit": {"type": "string", "default": "C"}, "days": {"type": "integer"}, "key": {"type": "string"}}`
		for _, id := range []string{"weather", "other", "broken", "barred"} {
			conduitPlugin(a, id, schema, "__init__.py", configuredPlugin)
		}
		a.Configure(`expose: {mode: all}
plugins:
  enabled: [weather, other, broken]
  config:
    weather: {days: 3, unit: "${HOME}", key: {secret: WEATHER_KEY}}
    broken: {days: many}
    absent: {days: 1}
policy: {skills: {"*": {class: safe}}}
`)
		a.Keeps()
		if out, code := a.Run("list"); code != 0 || !strings.Contains(out, `"days" must be an integer`) {
			t.Errorf("%s", out)
		}
		if out, _ := a.Run("doctor"); !strings.Contains(out, `names "absent", and no plugin with code has this id`) || strings.Contains(out, `names "weather"`) {
			t.Errorf("%s", out)
		}
		if out, _ := a.Run("show", "other/tools"); !strings.Contains(out, "python3 '<host of skills-mcp>' '${CLAUDE_PLUGIN_ROOT}/__init__.py'") {
			t.Errorf("%s", out)
		}
		c := a.Serve("legacy", `{}`)
		c.Fails(c.Call("run_skill", map[string]any{"name": "broken/tools"}), `plugins.config.broken: "days" must be an integer, not a string`)
		c.Fails(c.Call("run_skill", map[string]any{"name": "barred/tools"}), `plugins.enabled in the configuration does not name "barred"`)
		c.Fails(c.Call("weather__tools", none), "WEATHER_KEY, which it is not granted")
		c.Succeeds(c.Call("other__tools", none), "has started")
		awaitTool(t, c, "other__tools__config")
		c.Succeeds(c.Call("other__tools__config", none), `{"unit":"C"}`)
		if got := c.Call("other__tools__env", none).Text(); strings.Contains(got, "SKILLS_MCP_PLUGIN") || strings.Contains(got, "WEATHER") {
			t.Errorf("%s", got)
		}

		if screen, code := a.Terminal("$1", "secret", "grant", "weather/tools", "WEATHER_KEY", "--host", "weather.example"); code != 0 {
			t.Fatalf("exit %d: %s", code, screen)
		}
		a.Approve(c.Waits(c.Call("weather__tools", none)))
		c.Succeeds(c.Call("weather__tools", none), "has started")
		awaitTool(t, c, "weather__tools__config")
		a.Approve(c.Waits(c.Call("weather__tools__config", none)))
		got := c.Call("weather__tools__config", none).Text()
		if !strings.Contains(got, `"unit":"${HOME}"`) || !strings.Contains(got, `"days":3`) || !strings.Contains(got, `"key":"`) || strings.Contains(got, lab.SecretValues["WEATHER_KEY"]) {
			t.Errorf("%s", got)
		}
	})
}

// A plugin that never returns from register does not start, and holds up no other.
func TestConduitHangs(t *testing.T) {
	t.Parallel()
	a := lab.NewAccount(t, "native", "")
	conduitPlugin(a, "good", "", "__init__.py", examplePlugin)
	conduitPlugin(a, "python", "", "__init__.py", "import time\ndef register(api): time.sleep(1000)")
	conduitPlugin(a, "node", "", "index.mjs", "export async function register(api) { setInterval(() => {}, 1000); await new Promise(() => {}) }")
	conduitPlugin(a, "busy", "", "index.mjs", "export function register(api) { for (;;); }")
	a.Configure("expose: {mode: all}\npolicy: {skills: {\"*\": {class: safe}}}\n")
	c := a.Serve("legacy", `{}`)
	hung := map[string]string{`"python"`: "did not return within 20 seconds", `"node"`: "did not return within 20 seconds", `"busy"`: "did not start within 30s"}
	for id := range hung {
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s__tools","arguments":{}}}`, id, strings.Trim(id, `"`)))
	}
	other := a.Serve("legacy", `{}`)
	other.Succeeds(other.Call("good__tools", none), "has started")
	for len(hung) > 0 {
		m := c.Receive()
		want, ok := hung[string(m.ID)]
		if !ok {
			continue
		}
		delete(hung, string(m.ID))
		if text, _ := json.Marshal(m.Result); !m.Result.IsError || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, want %s", m.ID, text, want)
		}
	}
}

// The code of an untrusted workspace's plugin gets no configuration, and does not start
// before a yes.
func TestConduitWorkspacePlugin(t *testing.T) {
	t.Parallel()
	a := lab.NewAccount(t, "native", "")
	dir := filepath.Join(a.Workspace, ".claude", "plugins", "weather")
	lab.WriteFile(t, filepath.Join(dir, "plugin.json"), `{"id": "weather", "config_schema": {"unit": {"type": "string"}}}`)
	lab.WriteFile(t, filepath.Join(dir, "__init__.py"), configuredPlugin)
	a.Configure("expose: {mode: all}\nplugins: {config: {weather: {unit: private}}}\n")
	c := a.Serve("legacy", `{}`)
	a.Approve(c.Waits(c.Call("weather__tools", none)))
	if _, err := os.Stat(a.State("plugin-servers")); err == nil {
		t.Error("the code has started before the yes")
	}
	c.Succeeds(c.Call("weather__tools", none), "has started")
	awaitTool(t, c, "weather__tools__config")
	c.Succeeds(c.Call("weather__tools__config", none), "{}")
}
