package hookio

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event          string
		code           int
		stdout, stderr string
		want           string // the JSON, or the start of the error
	}{
		{"PreToolUse", 0, "", "", `{}`},
		{"PreToolUse", 0, "looks fine", "", `{}`},
		{"SessionStart", 0, "on branch main\n", "", `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"on branch main"}}`},
		{"UserPromptSubmit", 0, "it is Monday", "", `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"it is Monday"}}`},
		{"PreToolUse", 2, `{"decision":"approve"}`, "no\n", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`},
		{"PermissionRequest", 2, "", "no", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}`},
		{"Stop", 2, "", "test first", `{"decision":"block","reason":"test first"}`},
		{"PostToolUse", 2, "", "not formatted", `{"decision":"block","reason":"not formatted"}`},
		{"SessionEnd", 2, "", "too late", `{"systemMessage":"too late"}`},
		{"PreToolUse", 1, `{"decision":"block"}`, "no jq\nhelp", `it ended with exit code 1: no jq`},
		{"PreToolUse", 0, `{"decision":}`, "", `it printed JSON that is not valid: invalid character`},
		{"PreToolUse", 0, `{"decision":"block"`, "", `{}`}, // a text
		{"PreToolUse", 0, `{"continue":1}`, "", `it printed JSON that is not valid: json: cannot unmarshal number`},
		{"PreToolUse", 0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}`, "", `its hookSpecificOutput is of another event`},
		{"PreToolUse", 0, `{} {}`, "", `it printed JSON that is not valid: there is more than one value`},
		{"PreToolUse", 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"n":9007199254740993}}}`, "", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","updatedInput":{"n":9007199254740993}}}`},
		// Unknown fields, and all that would say yes for the person, are gone.
		{"PreToolUse", 0, `{"decision":"approve","terminalSequence":"x","systemMessage":"hi","continue":false,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"ok","initialUserMessage":"rm"}}`, "", `{"continue":false,"systemMessage":"hi","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecisionReason":"ok"}}`},
		{"PreToolUse", 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"}}}`, "", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","updatedInput":{"command":"ls"}}}`},
		{"PermissionRequest", 0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"setMode"}]}}}`, "", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}`},
		{"PostToolUse", 0, `{"decision":"block","reason":"r","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c","updatedToolOutput":[1]}}`, "", `{"decision":"block","reason":"r","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c","updatedToolOutput":[1]}}`},
	} {
		o, err := Read(c.event, c.code, c.stdout, c.stderr)
		got, failed := json.Marshal(o)
		if failed != nil {
			t.Fatal(failed)
		}
		if err != nil {
			if string(got) != "{}" {
				t.Errorf("a failure has the output %s", got)
			}
			got = []byte(err.Error())
		}
		if string(got) != c.want && (err == nil || !strings.HasPrefix(string(got), c.want)) {
			t.Errorf("%s, %d, %q, %q:\n got %s\nwant %s", c.event, c.code, c.stdout, c.stderr, got, c.want)
		}
	}
}

func TestLongTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*maxText)
	for _, c := range []struct {
		code           int
		stdout, stderr string
	}{
		{0, long, ""}, {2, "", long}, {0, `{"stopReason":"` + long + `"}`, ""}, {0, `{"systemMessage":"` + long + `"}`, ""}, {0, `{"decision":"block","reason":"` + long + `"}`, ""},
		{0, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"` + long + `"}}`, ""},
		{0, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","permissionDecision":"deny","permissionDecisionReason":"` + long + `"}}`, ""},
		{0, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","decision":{"behavior":"deny","message":"` + long + `"}}}`, ""},
	} {
		o, err := Read("UserPromptSubmit", c.code, c.stdout, c.stderr)
		text, _ := json.Marshal(o)
		if err != nil || len(text) > maxText+200 || len(text) < maxText {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
	for size, fails := range map[int]bool{maxJSON - 100: false, maxJSON: true} {
		if _, err := Read("Stop", 0, `{"decision":"block","reason":"`+strings.Repeat("x", size)+`"}`, ""); (err != nil) != fails {
			t.Errorf("%d: %v", size, err)
		}
	}
}

// Whatever a hook prints, its output says no, asks, or says nothing.
func FuzzRead(f *testing.F) {
	f.Add("PreToolUse", 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{}}}`, "")
	f.Add("PermissionRequest", 0, `{"decision":"approve","hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, "")
	f.Add("Stop", 2, "", "no")
	f.Fuzz(func(t *testing.T, event string, code int, stdout, stderr string) {
		o, err := Read(event, code, stdout, stderr)
		if err != nil {
			return
		}
		if o.Decision != "" && o.Decision != "block" {
			t.Errorf("decision %q", o.Decision)
		}
		s := o.Specific
		if s == nil {
			return
		}
		if s.Event != event || s.Permission == "allow" || s.Permission == "" && s.UpdatedInput != nil || s.Request != nil && s.Request.Behavior != "deny" {
			t.Errorf("%+v", s)
		}
	})
}
