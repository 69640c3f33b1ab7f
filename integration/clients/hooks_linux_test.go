package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A hook that does what the text of the call says: a JSON text, or a program after a !.
const hookedScript = `import json, os, sys
event = json.load(sys.stdin)
given = event.get("tool_input", {}).get("text", "")
name = event["hook_event_name"]
if name.startswith("Session"):
    print("the session of " + event["cwd"])
for start in (name + "!", "any!"):
    if given.startswith(start):
        exec(given[len(start):])
if given.startswith(name + "{"):
    print(given[len(name):])
`

// hookedPlugins writes the plugins alpha and beta with the same hooks, and the skills say and
// late, which print their text. A hook around late alone ends at its time limit; the others
// have as long as a busy machine needs to start them.
func hookedPlugins(t *testing.T, a *lab.Account) {
	t.Helper()
	for _, name := range []string{"alpha", "beta"} {
		dir := filepath.Join(a.Home, "plugins", name)
		lab.WriteFile(t, filepath.Join(dir, ".claude-plugin", "plugin.json"), fmt.Sprintf(`{"name": %q, "version": "1.0.0", "description": "d"}`, name))
		run := `{"type": "command", "command": "python3 \"${CLAUDE_PLUGIN_ROOT}/hook.py\"", "timeout": 60}`
		lab.WriteFile(t, filepath.Join(dir, "hooks", "hooks.json"), `{"hooks": {
			"PreToolUse": [{"matcher": "mcp__skills__.*", "hooks": [`+run+`, {"type": "prompt", "prompt": "Is it right?"}]}, {"matcher": "Bash|Write", "hooks": [{"command": "exit 2"}]}, {"matcher": "mcp__skills__late", "hooks": [{"command": "sleep 600; exit 2", "timeout": 1}]}],
			"PostToolUse": [{"hooks": [`+run+`]}], "PostToolUseFailure": [{"hooks": [`+run+`]}], "SessionStart": [{"hooks": [`+run+`]}], "Stop": [{"hooks": [{"command": "exit 2"}]}]}}`)
		lab.WriteFile(t, filepath.Join(dir, "hook.py"), hookedScript)
	}
	for _, name := range []string{"say", "late"} {
		a.Skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: Says a text.\nclass: safe\nscript: say.py\nparams: {text: {type: string, max_length: 5000}}\n---\n")
		a.Skill(name+"/say.py", "import os, json, sys\nprint(os.environ['SKILL_PARAMS'])\nsys.exit(7 if 'die' in os.environ['SKILL_PARAMS'] else 0)\n")
	}
}

// Hooks see calls and decide about them. One that fails is skipped, whatever it does.
func TestHooks(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		hookedPlugins(t, a)
		a.Configure(allowed(a, "tools: {run_code: true}\n"))
		c := a.Serve("legacy", `{}`)
		first := c.Call("say", lab.Text("hello"))
		c.Succeeds(first, "hello")
		for _, plugin := range []string{"alpha", "beta"} {
			c.Succeeds(first, "A hook of the plugin "+plugin+" says: the session of "+a.Workspace)
		}
		if again := c.Call("say", lab.Text("hello")); strings.Contains(again.Text(), "A hook") {
			t.Errorf("a second start of the session: %s", again.Text())
		}
		specific := func(event, more string) string {
			return fmt.Sprintf(`%s{"hookSpecificOutput": {"hookEventName": %q, %s}}`, event, event, more)
		}
		say := func(text string) lab.Reply { return c.Call("say", lab.Text(text)) }

		c.Fails(say(specific("PreToolUse", `"permissionDecision": "deny", "permissionDecisionReason": "not today"`)), "PERMISSION_DENIED", "a hook of the plugin alpha refuses the call: not today")
		c.Fails(say(`PreToolUse!print("never", file=sys.stderr); sys.exit(2)`), "PERMISSION_DENIED", "never")
		c.Succeeds(say(specific("PreToolUse", `"permissionDecision": "allow", "updatedInput": {"text": "changed"}, "additionalContext": "I changed it"`)), "changed")
		c.Fails(say(specific("PreToolUse", `"updatedInput": {"text": 5}`)), "INVALID_PARAM")
		c.Succeeds(say(specific("PostToolUse", `"additionalContext": "well said"`)), "A hook of the plugin beta says: well said")
		c.Succeeds(say(`PostToolUse{"decision": "block", "reason": "too loud"}`), "too loud")
		if text := say(specific("PostToolUse", `"updatedMCPToolOutput": "nothing to see"`)).Text(); text != "nothing to see" {
			t.Errorf("a replaced result: %s", text)
		}
		c.Fails(say(specific("PostToolUseFailure", `"additionalContext": "it had to die"`)), "it had to die")
		c.Succeeds(c.RunCode("", "bash", "echo $((6*7))"), "42")

		// A person is asked, and may say yes.
		asked := say(specific("PreToolUse", `"permissionDecision": "ask", "permissionDecisionReason": "who knows"`))
		id := c.Waits(asked)
		if screen, _ := a.Terminal("yes", "approve", id); !strings.Contains(lab.TerminalCodes.ReplaceAllString(screen, ""), "who knows") {
			t.Errorf("the question has no reason: %s", screen)
		}
		c.Succeeds(say(specific("PreToolUse", `"permissionDecision": "ask", "permissionDecisionReason": "who knows"`)), "who knows")
		c.Waits(say(specific("PreToolUse", `"permissionDecision": "ask", "permissionDecisionReason": "who knows"`)))

		for name, text := range map[string]string{
			"a failure":    `any!sys.exit(1)`,
			"garbage":      `any!print("{no JSON")`,
			"another type": `PreToolUse{"continue": "never"}`,
			"a flood":      `any!sys.stdout.write("x" * (1 << 26))`,
			"forks":        `any![os.fork() for _ in range(12)]; sys.exit(1)`,
			"a signal":     `any!os.kill(os.getpid(), 9)`,
		} {
			if r := say(text); r.Error != nil || r.Result.IsError || !strings.Contains(r.Text(), "text") {
				t.Errorf("%s: %s", name, r.Text())
			}
		}
		start := time.Now()
		c.Succeeds(c.Call("late", lab.Text("not refused")), "not refused")
		if took := time.Since(start); took < time.Second || took > lab.Patience {
			t.Errorf("a hook with a limit of a second took %s", took)
		}
		// Nothing of the person is in reach, and no hook runs around a hook.
		c.Succeeds(say(`PostToolUse!print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": " ".join(sorted(os.environ)) + str(os.path.exists("`+a.Home+`/.config"))}}))`), "CLAUDE_PLUGIN_ROOT CLAUDE_PROJECT_DIR HOME")
		if out, code := a.Run("runs", "--json"); code != 0 || !strings.Contains(out, `"hook"`) || strings.Contains(out, "Is it right") {
			t.Errorf("the record: %d, %.2000s", code, out)
		}
		if out, _ := a.Run("doctor"); !strings.Contains(out, "one of its hooks was skipped") {
			t.Errorf("doctor does not tell of failures: %s", out)
		}
	})
}

// Hooks without a yes are skipped, which each client is told once. One yes is for all hooks of
// a plugin, and ends with a change.
func TestHooksConsent(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		hookedPlugins(t, a)
		if err := os.RemoveAll(filepath.Join(a.Home, "plugins", "beta")); err != nil {
			t.Fatal(err)
		}
		a.Configure(fmt.Sprintf("plugins: [%q]\nexpose: {mode: all}\n", filepath.Join(a.Home, "plugins")))
		c := a.Serve("legacy", `{}`)
		refused := lab.Text(`PreToolUse!sys.exit(2)`)
		for range 3 {
			c.Succeeds(c.Call("say", refused), "sys.exit")
		}
		out, _ := a.Run("approvals")
		if strings.Count(out, "alpha/hooks") != 1 {
			t.Fatalf("the questions that wait: %s", out)
		}
		id := lab.ApprovalID.FindStringSubmatch(c.Log.String())
		if id == nil || strings.Count(c.Log.String(), "wait for your yes") != 1 {
			t.Fatalf("the log: %s", c.Log.String())
		}
		if out, _ := a.Run("doctor"); !strings.Contains(out, "the hooks of alpha/hooks are skipped until you say yes") {
			t.Errorf("doctor: %s", out)
		}
		screen := strings.ReplaceAll(lab.TerminalCodes.ReplaceAllString(a.ApproveAs(id[1], "always"), ""), "\n", "")
		if !strings.Contains(screen, "sees the arguments and results of all your calls") || !strings.Contains(screen, "hook.py") {
			t.Fatalf("the question: %s", screen)
		}
		c.Fails(c.Call("say", refused), "PERMISSION_DENIED")

		script := filepath.Join(a.Home, "plugins", "alpha", "hook.py")
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		lab.WriteFile(t, script, string(text)+"# other words, by which it gains nothing\n")
		// Else the changed hook runs with the yes to the one before.
		within(t, func() bool { return !strings.Contains(c.Call("say", refused).Text(), "PERMISSION_DENIED") })
	})
}

// Hooks of Conduit plugins run around all calls, in the order of the plugins, once a person has
// said yes to the plugin with its hooks.
func TestConduitHooks(t *testing.T) {
	t.Parallel()
	const python = `
def before(tool_name, args):
    if args.get("text") == "raise": raise ValueError("no")
    return {"text": args["text"] + " py"} if "text" in args else None
def after(tool_name, args, result): return result + " after " + tool_name
def register(api):
    api.register_tool("own", "Says", {"properties": {"text": {"type": "string"}}}, lambda text: text)
    api.register_hook("before_tool_call", before)
    api.register_hook("after_tool_call", after)
`
	const node = `
export function register(api) {
  api.register_hook("before_tool_call", async (name, args) => ({ text: args.text + " js" }))
}
`
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		conduitPlugin(a, "one", "", "__init__.py", python)
		conduitPlugin(a, "two", "", "index.mjs", node)
		a.Skill("say/SKILL.md", "---\nname: say\ndescription: Says a text.\nclass: safe\nscript: say.sh\nparams: {text: string}\n---\n")
		a.Skill("say/say.sh", "echo \"$SKILL_PARAMS\"\n")
		a.Configure("expose: {mode: all}\n")
		c := a.Serve("legacy", `{}`)
		for _, plugin := range []string{"one", "two"} {
			a.Approve(c.Waits(c.Call(plugin+"__tools", none)))
			c.Succeeds(c.Call(plugin+"__tools", none), "has started")
		}
		awaitTool(t, c, "one__tools__own")
		text := ""
		within(t, func() bool { // until the hooks are published
			c.Succeeds(c.Call("say", lab.Text("hi")), `"hi"`)
			text = c.Log.String()
			return strings.Contains(text, "one wait for your yes") && strings.Contains(text, "two wait for your yes")
		})
		ids := lab.ApprovalID.FindAllStringSubmatch(text, -1)
		if len(ids) != 2 {
			t.Fatalf("the log: %s", text)
		}
		for _, id := range ids {
			if screen := strings.ReplaceAll(lab.TerminalCodes.ReplaceAllString(a.ApproveAs(id[1], "always"), ""), "\n", ""); !strings.Contains(screen, "sees the arguments and results of all your calls") {
				t.Errorf("the question: %s", screen)
			}
		}
		c.Succeeds(c.Call("say", lab.Text("hi")), `"hi py js"`)
		c.Succeeds(c.Call("say", lab.Text("hi")), "after say")
		c.Succeeds(c.Call("say", lab.Text("raise")), `"raise js"`)
		if text := c.Call("one__tools__own", lab.Text("hi")).Text(); strings.Count(text, "py") != 1 || strings.Count(text, "after") != 1 {
			t.Errorf("its own tool: %s", text)
		}
	})
}

// The end of a client's session runs its hooks, also where the server ends with it. Hooks run
// around the calls of scripts and of the command line, and none of a workspace that is not
// trusted does.
func TestHookSessions(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		hookedPlugins(t, a)
		log := `{"hooks": {"SessionEnd": [{"matcher": "other", "hooks": [{"command": "cat >> ${CLAUDE_PLUGIN_DATA}/log"}]}], "PreToolUse": [{"hooks": [{"command": "cat >> ${CLAUDE_PLUGIN_DATA}/log", "timeout": 60}]}]}}`
		lab.WriteFile(t, filepath.Join(a.Home, "plugins", "alpha", "hooks", "hooks.json"), log)
		theirs := filepath.Join(a.Workspace, "theirs", "plugin")
		lab.WriteFile(t, filepath.Join(a.Workspace, ".skills-mcp.yaml"), "plugins: [theirs]\n")
		lab.WriteFile(t, filepath.Join(theirs, ".claude-plugin", "plugin.json"), `{"name": "theirs", "description": "d"}`)
		lab.WriteFile(t, filepath.Join(theirs, "skills", "s", "SKILL.md"), "---\nname: s\ndescription: d\n---\n")
		lab.WriteFile(t, filepath.Join(theirs, "hooks", "hooks.json"), `{"hooks": {"PreToolUse": [{"hooks": [{"command": "exit 2"}]}]}}`)
		a.Skill("outer/SKILL.md", "---\nname: outer\ndescription: Calls.\nclass: safe\nscript: run.py\ncalls: [say]\n---\n")
		a.Skill("outer/run.py", `import json, sys
print(json.dumps({"mcp": {"call": {"skill": "say", "args": {"text": "PreToolUse!sys.exit(2)"}}}}), flush=True)
print(sys.stdin.readline())
`)
		a.Configure(strings.Replace(allowed(a, ""), "skills: {", "skills: {outer: {class: safe, calls: [say]}, ", 1))
		if out, code := a.Run("list"); code != 0 || !strings.Contains(out, "theirs/hooks") {
			t.Fatalf("the plugin of the workspace is not found: %s", out)
		}
		c := a.Start("legacy", `{}`)
		c.Succeeds(c.Call("outer", none), "a hook of the plugin beta refuses the call")
		began := time.Now()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		// Hooks of the end have two seconds, in which a busy machine may start nothing.
		ran := time.Since(began) < 2*time.Second
		if !ran {
			t.Log("not judged: whether SessionEnd has run")
		}
		logs, err := filepath.Glob(a.State("plugin-data", "*", "log"))
		if err != nil || len(logs) != 1 {
			t.Fatalf("logs %q, %v", logs, err)
		}
		text, err := os.ReadFile(logs[0])
		if err != nil || strings.Count(string(text), "PreToolUse\"") != 2 || strings.Count(string(text), "SessionEnd") != 1 && ran {
			t.Errorf("%s, %v", text, err)
		}
		if out, code := a.Run("run", "say", "--text", "PreToolUse!sys.exit(2)"); code == 0 || !strings.Contains(out, "a hook of the plugin beta refuses") {
			t.Errorf("the command line: %d, %s", code, out)
		}
		if out, _ := a.Run("run", "say", "--text", `PreToolUse!print(json.dumps({"systemMessage": "a\x1b[2Jb"}))`); strings.Contains(out, "\x1b[2J") || !strings.Contains(out, `beta says: a\x1b[2Jb`) {
			t.Errorf("a message that controls a terminal: %q", out)
		}
	})
}

// A hook sees results as clients see them, without the secrets of the skill, and has none of its
// own without a grant.
func TestHookSecrets(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		const value = "hidden-Secret-0123456789"
		a := lab.NewAccount(t, driver, "")
		hookedPlugins(t, a)
		a.Skill("leaks/SKILL.md", "---\nname: leaks\ndescription: Leaks.\nscript: run.sh\nsecrets: [PLAIN]\nparams: {text: {type: string, max_length: 5000}}\n---\n")
		a.Skill("leaks/run.sh", "echo \"it is $PLAIN\"\n")
		a.Configure(strings.Replace(allowed(a, ""), "skills: {", "skills: {leaks: {approve: always, secrets: [{name: PLAIN, plain: true}]}, ", 1))
		set := a.Command(lab.Binary, "secret", "set", "PLAIN")
		set.Stdin = strings.NewReader(value + "\n")
		if out, code := a.Finish(set); code != 0 {
			t.Fatal(out)
		}
		c := a.Serve("legacy", `{}`)
		tells := lab.Text(`PostToolUse!print(json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": "seen " + event["tool_response"]["stdout"][::-1] + str([n for n in os.environ if "PLAIN" in n])}}))`)
		a.Approve(c.Waits(c.Call("leaks", tells)))
		r := c.Call("leaks", tells)
		c.Succeeds(r, "seen \n]NIALP terces[ si ti[]")
		c.Fails(c.Call("leaks", lab.Text("PreToolUse!sys.exit(2) #"+value)), "INVALID_PARAM")
		if strings.Contains(c.Received.String(), value) {
			t.Error("the client got the secret")
		}
	})
}
