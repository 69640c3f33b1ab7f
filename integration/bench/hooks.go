package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

func hookSuite() suite {
	c := &consents{lineup{entries: []entry{
		{"native", "the native driver alone", (*host).native, false},
		{"serve-native", "a skill without hooks around it", (*host).serveNative, true},
		{"serve-hook", "with one PreToolUse hook of a Claude Code plugin, which reads its event", served("", "hooks/hooks.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "cat >/dev/null"}]}]}}`, `{"name": "bench"}`), true},
		{"serve-code-hook", "with one before_tool_call hook of a Conduit plugin in Python", served("", "__init__.py", "def register(api): api.register_hook('before_tool_call', lambda tool_name, args: None)\n", `{"id": "bench", "name": "Bench", "description": "d", "version": "1.0.0"}`), true},
		{"serve-code-tool", "a tool of a Conduit plugin in Python", served("bench__tools__t", "__init__.py", fmt.Sprintf("def register(api): api.register_tool('t', 'd', {}, lambda: %q)\n", printed), `{"id": "bench", "name": "Bench", "description": "d", "version": "1.0.0"}`), true},
		{"serve-server-tool", "a tool of a plugin's MCP server in Python", served("bench__tools__t", "server.py", fmt.Sprintf(serverProgram, printed), `{"name": "bench", "mcpServers": {"tools": {"command": "python3", "args": ["${CLAUDE_PLUGIN_ROOT}/server.py"]}}}`), true},
	}}}
	return suite{
		name: "hooks", duration: time.Minute, quick: []string{"duration=1s"},
		about: fmt.Sprintf(`hooks shows what one hook adds to a call of the script in bash through skills-mcp on the
native driver, and what a warm tool call of a plugin takes, one call at a time, after a
rest of %v. The plugins' processes run, and a rule lets all calls run.

  over driver ms  of a call through the server beyond that of its driver alone

Contenders:
%s`, consentRest, c.list()),
		flags: c.flags,
		measure: func(ctx context.Context, b *bench) error {
			c.blocking = true
			return c.with(ctx, b, func(contenders []*contender) error { return c.measure(ctx, contenders) })
		},
	}
}

// serverProgram is an MCP server whose tool t answers with a text.
const serverProgram = `import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        tools = [{"name": "t", "inputSchema": {"type": "object"}}]
        result = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}, "tools/list": {"tools": tools}, "tools/call": {"content": [{"type": "text", "text": %q}]}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result.get(m["method"], {})}), flush=True)
`

// served returns the opener of a server with the plugin bench, which is one file and a manifest.
// It calls a tool of it; "" is the script.
func served(tool, file, content, manifest string) opener {
	return func(h *host, ctx context.Context, name string, b binary) (*contender, error) {
		dir := filepath.Join(h.home(name), "plugins", "bench")
		if err := errors.Join(writeFile(filepath.Join(dir, "plugin.json"), manifest), writeFile(filepath.Join(dir, file), content)); err != nil {
			return nil, err
		}
		more := fmt.Sprintf("plugins: [%q]\nexpose: {mode: all}\npolicy: {skills: {\"*\": {class: safe}}}\n", filepath.Dir(dir))
		one, err := h.serve(ctx, &contender{name: name, alone: "native", more: more}, "native", b)
		if err != nil || file == "hooks/hooks.json" {
			return one, err
		}
		if _, err := one.server.pipe.ask(ctx, question{"tools/call", "bench__tools", `"arguments":{}`}); err != nil {
			return one, err
		}
		if tool != "" {
			one.call = func(ctx context.Context, _ script, _ int) error { return callTool(ctx, one.server, tool) }
		}
		return one, pause(ctx, 2*time.Second) // the tools and hooks that it has registered are published
	}
}
