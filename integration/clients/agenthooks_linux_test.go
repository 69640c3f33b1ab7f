package clients

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/integration/modelserver"
)

// Hooks of Conduit plugins change the prompt and the messages of agents, in the order of the
// plugins, once a person has said yes to them. Until then they are skipped, with a word.
func TestConduitHooksOfAgents(t *testing.T) {
	t.Parallel()
	const python = `
def start(agent_id, system_prompt, messages): return {"system_prompt": system_prompt + "\n\nObey " + agent_id + ": " + messages[0]["content"]}
def received(message, **more): return message + " py"
def register(api):
    api.register_hook("before_agent_start", start)
    api.register_hook("message_received", received)
    api.register_hook("message_sending", lambda message, **more: {"message": message + ", said py"})
`
	const node = `
export function register(api) {
  api.register_hook("before_agent_start", () => { throw new Error("no") })
  api.register_hook("message_received", async ({ message }) => ({ message: message + " js" }))
  api.register_hook("message_sending", ({ message, agent_id }) => message + " and js of " + agent_id)
}
`
	lab.Drivers(t, func(t *testing.T, driver string) {
		model := modelserver.Start(t, func(_ context.Context, r *modelserver.Request) modelserver.Reply {
			obeys := strings.Contains(r.System, "\n\nObey helper: ")
			return modelserver.Reply{Text: fmt.Sprintf("got %s, obeys: %t", r.Last(), obeys)}
		})
		a := lab.NewAccount(t, driver, "")
		conduitPlugin(a, "one", "", "__init__.py", python)
		conduitPlugin(a, "two", "", "index.mjs", node)
		a.Configure(fmt.Sprintf("expose: {mode: all}\nagents:\n  models: {m: {url: %q, api: openai, model: m}}\n  define: {helper: {description: Helps., prompt: Help.}}\n", model.URL))
		c := a.Serve("legacy", `{}`)
		for _, plugin := range []string{"one", "two"} {
			a.Approve(c.Waits(c.Call(plugin+"__tools", none)))
			c.Succeeds(c.Call(plugin+"__tools", none), "has started")
		}
		// ask spawns an agent, and returns the texts until its end is announced.
		ask := func() string {
			t.Helper()
			spawned := c.Call("sessions_spawn", map[string]any{"agent_id": "helper", "task": "hi"})
			c.Succeeds(spawned, "run_id")
			text := spawned.Text() // it may have ended already
			for range 5000 {
				if strings.Contains(text, "[Subagent Complete]") {
					return text
				}
				time.Sleep(20 * time.Millisecond)
				text = c.Call("sessions_list", none).Text()
			}
			t.Fatalf("no end is announced: %s\n%s", c.Call("sessions_list", none).Text(), c.Log.String())
			return ""
		}
		waiting := ""
		for range 100 { // until the hooks are published
			text := ask()
			if !strings.Contains(text, "Result: got hi, obeys: false") {
				t.Fatalf("hooks have run without a yes: %s", text)
			}
			if waiting = c.Log.String(); strings.Contains(waiting, "one wait for your yes") && strings.Contains(waiting, "two wait for your yes") {
				break
			}
		}
		ids := lab.ApprovalID.FindAllStringSubmatch(waiting, -1)
		if len(ids) != 2 {
			t.Fatalf("the log: %s", waiting)
		}
		for _, id := range ids {
			a.ApproveAs(id[1], "always")
		}
		if text := ask(); !strings.Contains(text, "Result: got hi py js, obeys: true, said py and js of helper") {
			t.Errorf("%s\n%s", text, c.Log.String())
		}
	})
}

// Claude Code that has started the server is notified by its channel, if the configuration says
// so, without a call of its own.
func TestChannelOfClaudeCode(t *testing.T) {
	t.Parallel()
	spawned := make(chan struct{})
	model := modelserver.Start(t, func(ctx context.Context, r *modelserver.Request) modelserver.Reply {
		select {
		case <-spawned:
		case <-ctx.Done():
		}
		return modelserver.Reply{Text: "got " + r.Last()}
	})
	a := lab.NewAccount(t, "native", "")
	a.Configure(fmt.Sprintf("agents:\n  channel: true\n  models: {m: {url: %q, api: openai, model: m}}\n  define: {helper: {description: Helps., prompt: Help.}}\n", model.URL))
	serve := a.Command(lab.Binary, "serve")
	in, err := serve.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewScanner(pipe)
	want := func(send string, parts ...string) {
		t.Helper()
		if _, err := fmt.Fprint(in, send); err != nil {
			t.Fatal(err)
		}
		if !out.Scan() {
			t.Fatalf("the server has ended: %v", out.Err())
		}
		for _, part := range parts {
			if !strings.Contains(out.Text(), part) {
				t.Errorf("no %s in %s", part, out.Text())
			}
		}
	}
	want(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}}`+"\n", `"experimental":{"claude/channel":{}}`)
	want(`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sessions_spawn","arguments":{"agent_id":"helper","task":"hi","label":"x"}}}`+"\n", `run_id`)
	close(spawned)
	want("", `"method":"notifications/claude/channel"`, `"content":"[Subagent Complete] \"x\" (done). Result: got hi"`, `"status":"done"`)
	_ = in.Close()
	if err := serve.Wait(); err != nil {
		t.Error(err)
	}
}
