package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/invopop/jsonschema"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A desk is hooks with a catalog, and what they were asked for.
type desk struct {
	*Hooks
	events []string // the inputs of hooks, with their plugins
	asked  string
	faults []string
	told   []string
}

// Skipped implements [Faults].
func (d *desk) Skipped(_ context.Context, owner *skills.Skill, why string) {
	d.faults = append(d.faults, owner.Plugin+": "+why)
}

// newDesk returns a desk with hooks of plugins: PLUGIN EVENT MATCHER OUTPUT.
func newDesk(hooks ...string) *desk {
	d := &desk{}
	d.Hooks = New(d, func(context.Context, identity.Principal, *skills.Skill) bool { return true }, slog.New(slog.DiscardHandler))
	catalog, owners := &skills.Catalog{}, map[string]*skills.Skill{}
	for _, text := range hooks {
		words := strings.SplitN(text, " ", 4)
		owner := owners[words[0]]
		if owner == nil {
			owner = &skills.Skill{Name: "hooks", Plugin: words[0]}
			owners[words[0]] = owner
		}
		hook := skills.Hook{Event: words[1], Matcher: strings.Trim(words[2], "-"), Type: "command", Runs: words[3], Async: strings.HasSuffix(words[3], "&")}
		hook.Identify()
		tool := &skills.Skill{Name: "hooks__" + hook.ID, Plugin: words[0], Of: owner, Entry: &skills.Entry{Hook: &hook, Timeout: time.Second}}
		owner.Tools = append(owner.Tools, tool)
		catalog.Skills = append(catalog.Skills, tool)
	}
	d.Apply(context.Background(), catalog)
	return d
}

// hook is the [run.HookedCall.Hook] of calls: a hook prints what it runs.
func (d *desk) hook(ctx context.Context, r run.Request) (*run.Outcome, error) {
	event, err := io.ReadAll(r.Stdin)
	if err != nil {
		return nil, err
	}
	d.events = append(d.events, r.Skill.Plugin+" "+string(event))
	code, output := 0, strings.TrimSuffix(r.Skill.Entry.Hook.Runs, "&")
	switch output {
	case "waits":
		if !r.Quiet {
			return nil, &run.Error{Code: run.ApprovalRequired, Approval: "abc"}
		}
		return nil, &run.Error{Code: run.ApprovalRequired}
	case "busy":
		return nil, &run.Error{Code: run.Busy, Message: "no room", Retryable: true}
	case "late":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "flood":
		output = "{" + strings.Repeat("x", 2<<20) + "}"
	}
	stderr, blocks := strings.CutPrefix(output, "!2 ")
	if blocks {
		code, output = 2, ""
	}
	if strings.HasPrefix(output, "!1") {
		code = 1
	}
	return outcome(code, output, stderr), nil
}

func outcome(code int, stdout, stderr string) *run.Outcome {
	print := func(text string) sandbox.Output { return sandbox.Output{Head: []byte(text), Total: int64(len(text))} }
	return &run.Outcome{Entry: &skills.Entry{}, Result: &sandbox.Result{Exit: sandbox.Exit{Code: code}, Exited: true, Stdout: print(stdout), Stderr: print(stderr)}}
}

// call calls the skill say with a text, which it prints.
func (d *desk) call(way run.Way, text string) (string, error) {
	c := &run.HookedCall{
		Call: &run.Call{Way: way, RunID: "run-1", Warn: func(m string) { d.told = append(d.told, m) }}, Skill: &skills.Skill{Name: "say", Entry: &skills.Entry{}}, Args: map[string]any{"text": text},
		Refuse: func(_ context.Context, err error) error { return err }, Hook: d.hook,
		Do: func(_ context.Context, args map[string]any, ask string) (*run.Outcome, error) {
			d.asked = ask
			said, _ := args["text"].(string)
			code := 0
			if said == "die" {
				code = 7
			}
			o := outcome(code, said, "")
			if strings.HasPrefix(said, "{") {
				properties := jsonschema.NewProperties()
				properties.Set("n", &jsonschema.Schema{Type: "integer"})
				o.Entry.Output = &jsonschema.Schema{Type: "object", Properties: properties, Required: []string{"n"}}
			}
			return o, nil
		},
	}
	o, err := d.Around(context.Background(), c)
	if err != nil {
		return "", err
	}
	return strings.Join(append([]string{string(o.Stdout.Bytes())}, o.Hooks...), "\n"), nil
}

func specific(event, more string) string {
	return `{"hookSpecificOutput":{"hookEventName":"` + event + `",` + more + `}}`
}

// The outputs of several hooks are merged in the order of their plugins.
func TestMerge(t *testing.T) {
	t.Parallel()
	changes := func(to string) string { return specific("PreToolUse", `"updatedInput":{"text":"`+to+`"}`) }
	for name, c := range map[string]struct {
		hooks               []string
		want, refused, asks string
		events              int
	}{
		"none":             {want: "hi"},
		"allow":            {hooks: []string{"a PreToolUse * " + specific("PreToolUse", `"permissionDecision":"allow"`)}, want: "hi", events: 1},
		"deny after ask":   {hooks: []string{"b PreToolUse * !2 never", "a PreToolUse * " + specific("PreToolUse", `"permissionDecision":"ask"`)}, refused: "a hook of the plugin b refuses the call: never", events: 2},
		"deny ends it":     {hooks: []string{"b PreToolUse * !2 later", "a PreToolUse * !2 first"}, refused: "plugin a refuses the call: first", events: 1},
		"ask":              {hooks: []string{"a PreToolUse * " + specific("PreToolUse", `"permissionDecision":"ask","permissionDecisionReason":"why"`), "b PreToolUse * " + specific("PreToolUse", `"permissionDecision":"defer","permissionDecisionReason":"too"`)}, want: "hi", asks: "a hook of the plugin a wants that: why", events: 2},
		"stop":             {hooks: []string{`a PreToolUse * {"continue":false,"stopReason":"enough"}`}, refused: "enough", events: 1},
		"the old block":    {hooks: []string{`a PreToolUse * {"decision":"block","reason":"old"}`}, refused: "old", events: 1},
		"one sees another": {hooks: []string{"b PreToolUse * " + changes("second"), "a PreToolUse * " + changes("first")}, want: "second", events: 2},
		"declared order":   {hooks: []string{"a PreToolUse * " + changes("first"), "a PreToolUse * " + changes("second")}, want: "second", events: 2},
		"failures":         {hooks: []string{"a PreToolUse * !1", "b PreToolUse * {garbage}", "c PreToolUse * flood", "d PreToolUse * late", "e PreToolUse * " + specific("PostToolUse", `"additionalContext":"x"`)}, want: "hi", events: 5},
		"not matched":      {hooks: []string{"a PreToolUse Bash !2 no", "a PreToolUse mcp__skills !2 no", "a PreToolUse mcp__skills__say.+ !2 no", "a PreToolUse ^say !2 no"}, want: "hi"},
		"matched":          {hooks: []string{"a PreToolUse Bash|mcp__skills__say !2 yes"}, refused: "yes", events: 1},
		"a part":           {hooks: []string{"a PreToolUse skills__s.y$ !2 yes"}, refused: "yes", events: 1},
		"contexts":         {hooks: []string{"b PostToolUse * " + specific("PostToolUse", `"additionalContext":"two"`), `a PostToolUse - {"decision":"block","reason":"one"}`}, want: "hi\nA hook of the plugin a says: one\nA hook of the plugin b says: two", events: 2},
		"replaced":         {hooks: []string{"a PostToolUse * " + specific("PostToolUse", `"updatedMCPToolOutput":"other"`)}, want: `{"mcp":{"content":[{"text":"other","type":"text"}]}}`, events: 1},
		"contents":         {hooks: []string{"a PostToolUse * " + specific("PostToolUse", `"updatedToolOutput":{"content":[{"type":"text","text":"x"}],"structuredContent":{"y":1},"more":2}`)}, want: `{"mcp":{"content":[{"text":"x","type":"text"}],"structuredContent":{"y":1}}}`, events: 1},
		"not valid":        {hooks: []string{"a PostToolUse * " + specific("PostToolUse", `"updatedToolOutput":[{"type":"nothing"}]`)}, want: "hi\nA hook of the plugin a says: the result as it would be: [{\"type\":\"nothing\"}]", events: 1},
		"other events":     {hooks: []string{"a Stop * !2 no", "a PostToolUseFailure * !2 no", "a SessionEnd * !2 no"}, want: "hi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(c.hooks...)
				got, err := d.call(run.WayREST, "hi")
				if refused, _ := errors.AsType[*run.Error](err); c.refused != "" && (refused == nil || refused.Code != run.PermissionDenied || !strings.Contains(refused.Message, c.refused)) || c.refused == "" && err != nil {
					t.Fatalf("%q, %v", got, err)
				}
				if got != c.want || d.asked != c.asks || len(d.events) != c.events {
					t.Errorf("%q, asks %q, events %q", got, d.asked, d.events)
				}
				if name == "failures" && len(d.faults) != 5 {
					t.Errorf("faults %q", d.faults)
				}
				d.Close()
			})
		})
	}
}

// The structure of a tool with an output schema stays, unless the other one is of it.
func TestReplaceStructure(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		`{"n":2}`: `{"mcp":{"structuredContent":{"n":2}}}`,
		`{"m":2}`: "{\"n\":1}\nA hook of the plugin a says: the result as it would be: {\"m\":2}",
		`"text"`:  "{\"n\":1}\nA hook of the plugin a says: the result as it would be: text",
	} {
		d := newDesk("a PostToolUse * " + specific("PostToolUse", `"updatedMCPToolOutput":`+output))
		if got, err := d.call(run.WayTool, `{"n":1}`); err != nil || got != want {
			t.Errorf("%s: %q, %v", output, got, err)
		}
		d.Close()
	}
}

// No call is made without a hook before it for which there was no room. Hooks after it, and
// those that nobody waits for, are skipped.
func TestBusy(t *testing.T) {
	t.Parallel()
	for hook, want := range map[string]run.Code{"PreToolUse * busy": run.Busy, "PostToolUse * busy": "", "SessionStart * busy": ""} {
		d := newDesk("a "+hook, "b "+hook)
		got, err := d.call(run.WayTool, "hi")
		if refused, _ := errors.AsType[*run.Error](err); want == "" && (err != nil || got != "hi") || want != "" && (refused == nil || refused.Code != want || !refused.Retryable || len(d.events) != 1) {
			t.Errorf("%s: %q, %v", hook, got, err)
		}
		d.Close()
	}
}

// A hook that changes one argument leaves the others as they are.
func TestNumbers(t *testing.T) {
	t.Parallel()
	d := newDesk("a PreToolUse * " + specific("PreToolUse", `"updatedInput":{"text":9007199254740992}`))
	a := newAround(d.Hooks, &run.HookedCall{Call: &run.Call{}, Hook: d.hook, Args: map[string]any{"text": json.Number("9007199254740993")}}, d.list())
	if err := a.before(t.Context()); err != nil || a.args["text"] != json.Number("9007199254740992") {
		t.Errorf("%v, %v", a.args, err)
	}
	d.Close()
}

// A hook reads the documented fields, and one after a failure those of that.
func TestEvents(t *testing.T) {
	t.Parallel()
	d := newDesk("a PreToolUse * {}", "a PostToolUse * {}", "a PostToolUseFailure * !2 it had to", "a SessionStart startup welcome", "a SessionStart resume again", "a SessionEnd * {}")
	first, err := d.call(run.WayTool, "hi")
	if err != nil || first != "hi\nA hook of the plugin a says: welcome" {
		t.Fatalf("%q, %v", first, err)
	}
	if second, err := d.call(run.WayTool, "die"); err != nil || second != "die\nA hook of the plugin a says: it had to" {
		t.Errorf("%q, %v", second, err)
	}
	d.Leave("")
	d.Leave("")
	d.Close()
	want := [][]string{
		{"SessionStart", "source"}, {"PreToolUse", "tool_name", "tool_input", "tool_use_id"}, {"PostToolUse", "tool_response", "duration_ms"},
		{"PreToolUse"}, {"PostToolUseFailure", "error", "is_interrupt"}, {"SessionEnd", "reason"},
	}
	if len(d.events) != len(want) {
		t.Fatalf("%q", d.events)
	}
	for i, text := range d.events {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text[2:]), &fields); err != nil || fields["hook_event_name"] != want[i][0] {
			t.Errorf("%s: %v", text, err)
		}
		for _, name := range slices.Concat(want[i][1:], []string{"session_id", "transcript_path", "cwd", "permission_mode"}) {
			if fields[name] == nil {
				t.Errorf("%s has no %s", text, name)
			}
		}
	}
}

// A client is told once that hooks wait, and their question is asked for once.
func TestWaits(t *testing.T) {
	t.Parallel()
	d := newDesk("a PreToolUse * waits", "a PostToolUse * waits", "b PreToolUse * waits")
	for range 3 {
		if got, err := d.call(run.WayTool, "hi"); err != nil || got != "hi" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if len(d.told) != 2 || !strings.Contains(d.told[0], "skills-mcp approve abc") || len(d.faults) > 0 {
		t.Errorf("told %q, faults %q", d.told, d.faults)
	}
	d.Close()
}

// Nobody waits for an asynchronous hook, and its output has no effect.
func TestAsync(t *testing.T) {
	t.Parallel()
	d := newDesk(`a PreToolUse * {"decision":"block"}&`)
	if got, err := d.call(run.WayTool, "hi"); err != nil || got != "hi" {
		t.Errorf("%q, %v", got, err)
	}
	d.Close()
	if len(d.events) != 1 {
		t.Errorf("events %q", d.events)
	}
}

func TestPermits(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]bool{"mcp__skills__say": true, "mcp__skills__*": true, "mcp__skills": true, "*": true, "Bash(git *)": false, "mcp__skills__says": false, "mcp__other": false} {
		if got := permits(rule, "mcp__skills__say"); got != want {
			t.Errorf("%s: %t", rule, got)
		}
	}
}

// Hooks of Conduit code in the session of an agent change the one field of their event, one
// after the other; those that do not exist for the principal, fail or wait for a yes change nothing.
func TestEvent(t *testing.T) {
	t.Parallel()
	d := newDesk("z PreToolUse * !2 no")
	d.exists = func(_ context.Context, who identity.Principal, skill *skills.Skill) bool {
		return skill.Plugin != "hidden" || who.Profile == "all"
	}
	catalog := &skills.Catalog{}
	for _, plugin := range []string{"b", "a", "hidden", "odd", "waits", "untrusted"} {
		owner := &skills.Skill{Name: "code", Plugin: plugin, Entry: &skills.Entry{Server: &skills.ServerCall{Hooks: []string{"before_agent_start", "message_received"}}}}
		if plugin == "untrusted" {
			owner.Blocked = "it is not trusted"
		}
		catalog.Skills = append(catalog.Skills, owner)
	}
	d.Apply(t.Context(), catalog)
	given := func() map[string]any {
		return map[string]any{"agent_id": "r", "system_prompt": "Work", "message": "hi"}
	}
	call := func(who identity.Principal) *run.HookedCall {
		return &run.HookedCall{Call: &run.Call{Principal: who}, Hook: func(_ context.Context, r run.Request) (*run.Outcome, error) {
			var fields map[string]any
			if err := json.NewDecoder(r.Stdin).Decode(&fields); err != nil {
				return nil, err
			}
			switch r.Skill.Plugin {
			case "odd":
				return outcome(0, `{"system_prompt": 5, "message": null}`, ""), nil
			case "waits":
				return nil, &run.Error{Code: run.ApprovalRequired, Approval: "abc"}
			}
			for key, value := range fields {
				fields[key] = value.(string) + " " + r.Skill.Plugin
			}
			text, err := json.Marshal(fields)
			return outcome(0, string(text), ""), err
		}}
	}
	for _, test := range []struct{ profile, event, field, want string }{
		{"", "before_agent_start", "system_prompt", "Work a b"},
		{"", "message_received", "message", "hi a b"},
		{"all", "message_received", "message", "hi a b hidden"},
		{"", "message_sending", "message", "hi"},
		{"", "before_tool_call", "message", "hi"},
	} {
		fields, want := given(), given()
		want[test.field] = test.want
		got := d.Event(t.Context(), call(identity.Principal{Profile: test.profile}), test.event, test.field, fields)
		if got != test.want || !maps.Equal(fields, want) {
			t.Errorf("%+v: %s, %v", test, got, fields)
		}
	}
	if len(d.faults) != 0 || !d.knows("", catalog.Skills[4]) {
		t.Errorf("faults %q", d.faults)
	}
	for _, session := range []string{"1", "2"} { // of one owner
		d.Event(t.Context(), call(identity.Principal{ID: "ann", Session: session, Agents: []string{"r"}}), "message_received", "message", given())
	}
	if !d.knows(identity.Principal{ID: "ann"}.Key(), catalog.Skills[4]) || len(d.clients) != 3 {
		t.Errorf("told: %v", d.clients)
	}
	d.Close()
}
