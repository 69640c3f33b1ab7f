package conduit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A host is a running host program with a plugin.
type host struct {
	t      *testing.T
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr strings.Builder
	cmd    *exec.Cmd
	notes  []string // notifications that have come
	id     int
}

// start starts the host of a plugin with one file.
func start(t *testing.T, name, text string) *host {
	t.Helper()
	h := &host{t: t}
	code := &skills.PluginCode{ID: "demo", Version: "1.2", Node: strings.HasSuffix(name, ".mjs"), Settings: skills.Flags{
		{Name: "unit", Schema: &jsonschema.Schema{Type: "string", Default: "C"}}, {Name: "key", Schema: &jsonschema.Schema{Type: "string"}},
	}}
	argv := Command(code)
	if _, err := exec.LookPath(argv[4]); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := &Settings{Enabled: []string{"*"}, Values: map[string]map[string]any{"demo": {"key": map[string]any{"secret": "KEY"}}}}
	env, err := settings.Env(code, false)
	if err != nil {
		t.Fatal(err)
	}
	h.cmd = exec.CommandContext(t.Context(), argv[0], append(argv[1:], file)...)
	h.cmd.Env = append(os.Environ(), "SKILLS_MCP_PLUGIN="+env["SKILLS_MCP_PLUGIN"], "KEY=hidden")
	h.cmd.Stderr = &h.stderr
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out = bufio.NewScanner(out)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.cmd.Process.Kill(); _ = h.cmd.Wait() })
	return h
}

// request makes a request and returns the result, or the error, as JSON.
func (h *host) request(method, params string) string {
	h.t.Helper()
	h.id++
	fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", h.id, method, params)
	for h.out.Scan() {
		var m struct {
			ID            int
			Method        string
			Result, Error json.RawMessage
			Params        json.RawMessage
		}
		if err := json.Unmarshal(h.out.Bytes(), &m); err != nil {
			h.t.Fatalf("the protocol has %q", h.out.Text())
		}
		if m.Method != "" {
			h.notes = append(h.notes, m.Method+" "+string(m.Params))
			continue
		}
		if m.ID != h.id {
			h.t.Fatalf("an answer to %d, not to %d", m.ID, h.id)
		}
		return plain(h.t, append(m.Result, m.Error...))
	}
	_ = h.cmd.Wait()
	h.t.Fatalf("the host has ended: %s", h.stderr.String())
	return ""
}

// plain returns JSON with sorted keys.
func plain(t *testing.T, text []byte) string {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}

// call calls a tool.
func (h *host) call(tool, args string) string {
	h.t.Helper()
	return h.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
}

// Plugins that do the same, in both languages.
var plugins = map[string]string{"__init__.py": `
import asyncio, subprocess, sys
from conduit.plugin_sdk import PluginAPI
import skills_mcp.plugin_sdk
print("loading")
started = []

async def slow(n):
    await asyncio.sleep(0.01)
    return n + 1

async def startup(): started.append("up")
def before(tool_name, args):
    if tool_name == "echo": return {"text": args["text"] + "!"}
def broken(tool_name, args): raise ValueError("no hook")
def after(tool_name, args, result):
    if tool_name == "echo": return result + " (" + args["text"] + ")"
def fail(): raise KeyError("gone")
def leave(): sys.exit(4)
def shell():
    subprocess.run(["echo", "garbage"])
    print("garbage")
    return started + [sys.stdin.read()]
def add(): api_.register_tool("added", "", None, lambda: None)

def register(api: PluginAPI):
    global api_
    api_ = api
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    api.register_tool(name="echo", description="Echoes", parameters=text, handler=lambda text: text, permission="write")
    api.register_tool("slow", "Adds", {}, slow)
    api.register_tool("config", "", None, lambda: dict(api.config, id=api.id))
    api.register_tool("fail", "", None, fail)
    api.register_tool("leave", "", None, leave)
    api.register_tool("shell", "", None, shell)
    api.register_tool("nan", "", None, lambda: {"n": float("nan")})
    api.register_tool("add", "", None, add)
    api.register_hook("on_startup", startup)
    api.register_hook("before_tool_call", broken)
    api.register_hook("before_tool_call", before)
    api.register_hook("after_tool_call", after)
    api.register_hook("heartbeat", after)
    api.register_hook("before_agent_start", lambda agent_id, system_prompt, **more: {"system_prompt": system_prompt + " for " + agent_id, "agent_id": "other"})
    api.register_hook("before_agent_start", lambda **fields: "no prompt")
    api.register_hook("message_received", broken)
    api.register_hook("message_received", lambda message, agent_id: message + "?")
    api.register_hook("message_received", lambda message, **more: {"message": message + "!"})
    api.register_hook("message_sending", lambda message, **more: [message])
    api.register_skill("advice", "When to echo", "Always.")
    api.log("warn", "registered")
`, "index.mjs": `
import { execSync } from "node:child_process"
console.log("loading")
const started = []
export async function register(api) {
  const text = { type: "object", properties: { text: { type: "string" } } }
  api.register_tool({ name: "echo", description: "Echoes", parameters: text, handler: ({ text }) => text, permission: "write" })
  api.register_tool("slow", "Adds", {}, async ({ n }) => { await new Promise(r => setTimeout(r, 10)); return n + 1 })
  api.register_tool("config", "", null, () => ({ ...api.config, id: api.id }))
  api.register_tool("fail", "", null, () => { throw new RangeError("gone") })
  api.register_tool("leave", "", null, () => { throw "left" })
  api.register_tool("shell", "", null, () => {
    execSync("echo garbage", { stdio: "inherit" })
    console.log("garbage")
    process.stdout.write("garbage\n")
    return [...started, ""]
  })
  api.register_tool("nan", "", null, () => ({ n: 1n }))
  api.register_tool("add", "", null, () => api.register_tool("added", "", null, () => {}))
  api.register_hook("on_startup", async () => started.push("up"))
  api.register_hook("before_tool_call", () => { throw new Error("no hook") })
  api.register_hook("before_tool_call", (tool, args) => tool === "echo" ? { text: args.text + "!" } : undefined)
  api.register_hook("after_tool_call", (tool, args, result) => tool === "echo" ? result + " (" + args.text + ")" : undefined)
  api.register_hook("heartbeat", () => {})
  api.register_hook("before_agent_start", ({ agent_id, system_prompt }) => ({ system_prompt: system_prompt + " for " + agent_id, agent_id: "other" }))
  api.register_hook("before_agent_start", () => "no prompt")
  api.register_hook("message_received", () => { throw new Error("no hook") })
  api.register_hook("message_received", async ({ message }) => message + "?")
  api.register_hook("message_received", ({ message }) => ({ message: message + "!" }))
  api.register_hook("message_sending", ({ message }) => [message])
  api.register_skill("advice", "When to echo", "Always.")
  api.log("warn", "registered")
}
`}

// A plugin's tools, hooks, configuration and logs are those of an MCP server, and what it
// prints is not of the protocol.
func TestHost(t *testing.T) {
	t.Parallel()
	for name, text := range plugins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, name, text)
			want := `{"capabilities":{"experimental":{"skills-mcp":{"hooks":["before_tool_call","after_tool_call","before_agent_start","message_received","message_sending"]}},"logging":{},"tools":{"listChanged":true}},"instructions":"# advice\n\nWhen to echo\n\nAlways.","protocolVersion":"2025-11-25","serverInfo":{"name":"demo","version":"1.2"}}`
			if got := h.request("initialize", `{"protocolVersion":"2025-11-25"}`); got != want {
				t.Errorf("%s", got)
			}
			listed := h.request("tools/list", `{}`)
			echo := `{"_meta":{"skills-mcp/permission":"write"},"description":"Echoes","inputSchema":{"properties":{"text":{"type":"string"}},"type":"object"},"name":"echo"},{"_meta":{"skills-mcp/permission":"none"},`
			if !strings.HasPrefix(listed, `{"tools":[`+echo) {
				t.Errorf("%s", listed)
			}
			content := func(text string) string { return `{"content":[{"text":` + text + `,"type":"text"}]` }
			raised := map[bool][2]string{true: {`"KeyError: 'gone'"`, `"SystemExit: 4"`}, false: {`"RangeError: gone"`, `"left"`}}[name == "__init__.py"]
			for _, test := range [][3]string{
				{"echo", `{"text":"hi"}`, content(`"hi! (hi!)"`) + "}"},
				{"slow", `{"n":1}`, content(`"2"`) + "}"},
				{"fail", `{}`, content(raised[0]) + `,"isError":true}`},
				{"leave", `{}`, content(raised[1]) + `,"isError":true}`},
				{"add", `{}`, content(`""`) + "}"},
				{"added", `{}`, content(`""`) + "}"},
				{"absent", `{}`, `{"code":-32602,"message":"there is no tool absent"}`},
			} {
				if got := strings.ReplaceAll(h.call(test[0], test[1]), "'absent'", "absent"); got != test[2] {
					t.Errorf("%s: %s, not %s", test[0], got, test[2])
				}
			}
			for _, test := range [][2]string{
				{`{"event":"before_tool_call","call":{"tool_name":"echo","args":{"text":"hi","more":1}}}`, `{"args":{"more":1,"text":"hi!"},"tool_name":"echo"}`},
				{`{"event":"before_tool_call","call":{"tool_name":"other","args":{}}}`, `{"args":{},"tool_name":"other"}`},
				{`{"event":"before_agent_start","call":{"agent_id":"a","system_prompt":"Work","messages":[{"role":"user","content":"x"}]}}`, `{"agent_id":"a","messages":[{"content":"x","role":"user"}],"system_prompt":"Work for a"}`},
				{`{"event":"message_received","call":{"agent_id":"a","message":"hi"}}`, `{"agent_id":"a","message":"hi?!"}`},
				{`{"event":"message_sending","call":{"agent_id":"a","message":"hi"}}`, `{"agent_id":"a","message":"hi"}`},
				{`{"event":"after_tool_call","call":{"tool_name":"echo","args":{"text":"hi"},"result":"done"}}`, `{"args":{"text":"hi"},"result":"done (hi)","tool_name":"echo"}`},
			} {
				if got := h.request("skills-mcp/hook", test[0]); got != test[1] {
					t.Errorf("%s: %s", test[0], got)
				}
			}
			if got := h.call("nan", `{}`); !strings.Contains(got, `"isError":true`) {
				t.Errorf("nan: %s", got)
			}
			if got := h.call("config", `{}`); !strings.HasSuffix(got, `"structuredContent":{"id":"demo","key":"hidden","unit":"C"}}`) {
				t.Errorf("config: %s", got)
			}
			if got := h.call("shell", `{}`); !strings.HasSuffix(got, `"structuredContent":{"result":["up",""]}}`) {
				t.Errorf("shell: %s", got)
			}
			for _, note := range []string{"notifications/tools/list_changed", "a hook before_tool_call of demo failed, and is skipped"} {
				if !strings.Contains(strings.Join(h.notes, "\n"), note) {
					t.Errorf("no %s in %q", note, h.notes)
				}
			}
			_ = h.in.Close()
			if err := h.cmd.Wait(); err != nil {
				t.Error(err)
			}
			for _, text := range []string{"loading", "garbage", "gone", "[warning] registered", "the hook heartbeat is not run"} {
				if !strings.Contains(h.stderr.String(), text) {
					t.Errorf("no %q in %s", text, h.stderr.String())
				}
			}
		})
	}
}

// A plugin that does not load says why; a call that never returns holds up no other; a
// child of a fork answers nothing.
func TestHostileHost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, text, want string }{
		"syntax":      {"__init__.py", "def register(", "SyntaxError"},
		"no register": {"__init__.py", "", "has no attribute 'register'"},
		"import":      {"__init__.py", "import absent_module", "No module named 'absent_module'"},
		"raises":      {"__init__.py", "def register(api): raise RuntimeError('not today')", "RuntimeError: not today"},
		"twice":       {"__init__.py", "def register(api):\n  for _ in 'ab': api.register_tool('a', '', {}, print)", "the tool 'a' is registered already"},
		"skill":       {"__init__.py", "def register(api): api.register_skill('a', '', 'x' * 17000)", "at most 16000 bytes"},
		"exits":       {"__init__.py", "raise SystemExit(7)", "SystemExit: 7"},
		"module":      {"index.mjs", "export const x = 1", "exports no function register"},
		"throws":      {"index.mjs", "export function register() { throw new Error('not today') }", "Error: not today"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, test.file, test.text)
			if got := h.request("initialize", `{}`); !strings.Contains(got, "the plugin demo does not load: ") || !strings.Contains(got, test.want) {
				t.Errorf("%s", got)
			}
			if err := h.cmd.Wait(); err == nil || h.cmd.ProcessState.ExitCode() != 3 {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("fork", func(t *testing.T) {
		t.Parallel()
		h := start(t, "__init__.py", `
import os, time
os.fork()
def fork():
    os.fork()
    return os.getpid()
def register(api):
    os.fork()
    api.register_tool("hang", "", None, lambda: time.sleep(1000))
    api.register_tool("fork", "", None, fork)
`)
		h.request("initialize", `{}`)
		fmt.Fprintln(h.in, `{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"hang"}}`)
		first := h.call("fork", `{}`)
		for range 20 {
			if got := h.call("fork", `{}`); got != first {
				t.Fatalf("%s, not %s", got, first)
			}
		}
		_ = h.in.Close()
		done := time.AfterFunc(10*time.Second, func() { _ = h.cmd.Process.Kill() })
		defer done.Stop()
		for h.out.Scan() {
			t.Errorf("after the end: %s", h.out.Text())
		}
		if err := h.cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// Configuration is checked against config_schema; secrets are references.
func TestSettings(t *testing.T) {
	code := &skills.PluginCode{ID: "weather", Version: "1", Settings: skills.Flags{
		{Name: "unit", Schema: &jsonschema.Schema{Type: "string", Default: "C"}},
		{Name: "days", Schema: &jsonschema.Schema{Type: "integer"}},
		{Name: "key", Schema: &jsonschema.Schema{Type: "string"}},
		{Name: "token_env", Schema: &jsonschema.Schema{Type: "string"}},
	}}
	values := func(v map[string]any) *Settings {
		return &Settings{Enabled: []string{"*"}, Values: map[string]map[string]any{"weather": v}}
	}
	secret := map[string]any{"secret": "API_KEY"}
	for name, test := range map[string]struct {
		settings  *Settings
		workspace bool
		env       map[string]string
		err       string
	}{
		"defaults": {settings: &Settings{Enabled: []string{"*"}}, env: map[string]string{"SKILLS_MCP_PLUGIN": `{"config":{"unit":"C"},"id":"weather","secrets":{},"version":"1"}`}},
		"values": {settings: values(map[string]any{"unit": "${HOME}", "days": 3}), env: map[string]string{
			"SKILLS_MCP_PLUGIN": `{"config":{"days":3,"unit":"\u0024{HOME}"},"id":"weather","secrets":{},"version":"1"}`}},
		"secret": {settings: values(map[string]any{"key": secret, "token_env": "TOKEN"}), env: map[string]string{
			"API_KEY": "${API_KEY}", "TOKEN": "${TOKEN}",
			"SKILLS_MCP_PLUGIN": `{"config":{"token_env":"TOKEN","unit":"C"},"id":"weather","secrets":{"key":"API_KEY"},"version":"1"}`}},
		"a workspace's": {settings: values(map[string]any{"key": secret}), workspace: true, env: map[string]string{"SKILLS_MCP_PLUGIN": `{"config":{"unit":"C"},"id":"weather","secrets":{},"version":"1"}`}},
		"type":          {settings: values(map[string]any{"days": "many"}), err: `plugins.config.weather: "days" must be an integer, not a string`},
		"unknown":       {settings: values(map[string]any{"dais": 1}), err: `plugins.config.weather: the plugin's config_schema has no key "dais"`},
		"secret number": {settings: values(map[string]any{"days": secret}), err: "plugins.config.weather.days: a secret is a string, and the plugin wants a value of type integer"},
		"secret's name": {settings: values(map[string]any{"key": map[string]any{"secret": "a b"}}), err: `plugins.config.weather.key: "a b" cannot be the name of a secret`},
		"large":         {settings: values(map[string]any{"unit": strings.Repeat("x", maxValues)}), err: "plugins.config.weather is larger than 64 KB"},
		"off":           {settings: &Settings{}, err: `its code does not run: plugins.enabled in the configuration does not name "weather"`},
		"others":        {settings: &Settings{Enabled: []string{"a"}}, err: `its code does not run: plugins.enabled in the configuration does not name "weather"`},
		"enabled":       {settings: &Settings{Enabled: []string{"weather"}}, env: map[string]string{"SKILLS_MCP_PLUGIN": `{"config":{"unit":"C"},"id":"weather","secrets":{},"version":"1"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			env, err := test.settings.Env(code, test.workspace)
			if diff := cmp.Diff(test.env, env); diff != "" {
				t.Error(diff)
			}
			if got := fmt.Sprint(err); got != test.err && (err != nil || test.err != "") {
				t.Errorf("%s", got)
			}
		})
	}
}
