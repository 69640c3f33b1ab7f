package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/server/plugins/hookio"
)

// A clientHook is a hook of a plugin as a client has it in its settings.
type clientHook struct {
	Event   string
	Matcher string
	Command string
}

// hookPlugins writes the plugins alpha and beta, whose hooks run a script with a word.
func hookPlugins(t *testing.T, a *lab.Account, hooks map[string][]string) {
	t.Helper()
	for _, name := range []string{"alpha", "beta"} {
		dir := filepath.Join(a.Home, "my plugins", name)
		lab.WriteFile(t, filepath.Join(dir, ".claude-plugin", "plugin.json"), fmt.Sprintf(`{"name": %q}`, name))
		lab.WriteFile(t, filepath.Join(dir, "act.sh"), `case $1 in
text) echo "from `+name+`" ;;
echo) echo "EVENT $(cat)" ;;
allow) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "I say so"}, "terminalSequence": "x"}' ;;
change) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "true"}}}' ;;
no | mcp__skills__greet) echo "not that" >&2; exit 2 ;;
fail) echo "no jq here" >&2; exit 7 ;;
garbage) echo '{"decision": }' ;;
flood) echo '{"reason": "'; yes | head -c 40000000; echo '"}' ;;
hang) sleep 600 ;;
write) echo x > /skill/x || echo x > "$CLAUDE_PROJECT_DIR/x" || echo "cannot write" ;;
esac
`)
		groups := make(map[string][]any)
		for event, words := range hooks {
			for _, word := range words {
				limit := 60
				if word == "hang" {
					limit = 1
				}
				groups[event] = append(groups[event], map[string]any{"matcher": word, "hooks": []any{map[string]any{"type": "command", "command": `sh "${CLAUDE_PLUGIN_ROOT}/act.sh" ` + word, "timeout": limit}}})
			}
		}
		data, err := json.Marshal(map[string]any{"hooks": groups})
		if err != nil {
			t.Fatal(err)
		}
		lab.WriteFile(t, filepath.Join(dir, "hooks", "hooks.json"), string(data))
	}
}

// copied has the hooks copied for Claude Code, and returns them by plugin and matcher.
func copied(t *testing.T, a *lab.Account) map[string]clientHook {
	t.Helper()
	lab.WriteFile(t, filepath.Join(a.Home, ".claude", "settings.json"), "{}")
	if out, code := a.Run("connect", "claude-code", "--hooks", "--write"); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	data, err := os.ReadFile(filepath.Join(a.Home, ".claude", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct{ Command string }
		}
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]clientHook)
	for event, groups := range settings.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				words := strings.Fields(h.Command)
				all[strings.Trim(words[len(words)-2], "'")+" "+g.Matcher] = clientHook{event, g.Matcher, h.Command}
			}
		}
	}
	return all
}

// fire runs a hook as a client does: by a shell, with the event on standard input. Whatever
// happens, it prints one line of JSON alone and exits with 0.
func fire(t *testing.T, a *lab.Account, h clientHook, event string) string {
	t.Helper()
	cmd := a.Command("/bin/sh", "-c", h.Command)
	cmd.Stdin = strings.NewReader(event)
	out, code := a.Finish(cmd)
	var object map[string]any
	if code != 0 || json.Unmarshal([]byte(out), &object) != nil || strings.Count(out, "\n") != 1 || len(out) > 30_000 {
		t.Errorf("%s: exit %d: %.2000s", h.Command, code, out)
	}
	return strings.TrimSuffix(out, "\n")
}

func TestClientHooks(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		a := lab.NewAccount(t, driver, "")
		hookPlugins(t, a, map[string][]string{
			"PreToolUse":       {"text", "allow", "change", "no", "fail", "garbage", "flood", "hang", "mcp__skills__greet"},
			"UserPromptSubmit": {"echo"}, "SessionStart": {"write"}, "Stop": {"no "},
		})
		a.Configure(fmt.Sprintf("plugins: [%q]\n", filepath.Join(a.Home, "my plugins")))
		hooks := copied(t, a)
		if len(hooks) != 24 {
			t.Fatalf("hooks %v", hooks)
		}
		event := func(h clientHook) string {
			return fmt.Sprintf(`{"session_id":"s","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"ls"}}`, h.Event)
		}
		// One yes is for the hooks of one plugin.
		first := hooks["alpha allow"]
		id := lab.ApprovalID.FindStringSubmatch(fire(t, a, first, event(first)))
		if id == nil {
			t.Fatal("the hook of a plugin without a yes has no ID to say it")
		}
		a.Approve(id[1])
		if got := fire(t, a, hooks["beta allow"], event(first)); !strings.Contains(got, "systemMessage") {
			t.Errorf("a yes to alpha counts for beta: %s", got)
		}
		// It is also for the hooks around calls of a server, and has asked no second question.
		a.Skill("greet/SKILL.md", "---\nname: greet\ndescription: Greets.\nscript: run.sh\n---\n")
		a.Skill("greet/run.sh", "echo hello\n")
		c := a.Serve("legacy", `{}`)
		c.Fails(c.Call("greet", none), "not that")
		if out, _ := a.Run("approvals"); strings.Contains(out, "pending  alpha/hooks") || !strings.Contains(out, "pending  beta/hooks") {
			t.Errorf("approvals:\n%s", out)
		}
		for name, want := range map[string]string{
			"text":   `{}`,
			"allow":  `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecisionReason":"I say so"}}`,
			"change": `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","updatedInput":{"command":"true"}}}`,
			"no":     `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not that"}}`,
			"no ":    `{"decision":"block","reason":"not that"}`,
			"write":  `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"cannot write"}}`,
		} {
			h := hooks["alpha "+name]
			if got := fire(t, a, h, event(h)); got != want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, want)
			}
		}
		prompt := hooks["alpha echo"]
		var echoed hookio.Output
		if err := json.Unmarshal([]byte(fire(t, a, prompt, event(prompt))), &echoed); err != nil || echoed.Specific == nil || echoed.Specific.Context != "EVENT "+event(prompt) {
			t.Errorf("the event that a hook reads: %+v, %v", echoed, err)
		}
		for name, want := range map[string]string{
			"fail": "exit code 7: no jq here", "garbage": "JSON that is not valid", "flood": "its output limit", "hang": "its time limit of 1s",
		} {
			h := hooks["alpha "+name]
			start := time.Now()
			got := fire(t, a, h, event(h))
			if !strings.HasPrefix(got, `{"systemMessage":"skills-mcp: the hook alpha pretooluse-`) || !strings.Contains(got, " has no effect: ") || !strings.Contains(got, want) {
				t.Errorf("%s: %s", name, got)
			}
			if took := time.Since(start); took > lab.Patience {
				t.Errorf("%s took %v", name, took)
			}
		}
	})
}
