package hooks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/plugins/hookio"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Around implements [run.Hooks].
func (h *Hooks) Around(ctx context.Context, c *run.HookedCall) (*run.Outcome, error) {
	all := h.of(ctx, c.Principal)
	if len(all) == 0 || c.Skill != nil && c.Skill.OfHooks() {
		return c.Do(ctx, c.Args, "")
	}
	a := newAround(h, c, all)
	if h.begins(a) {
		a.start(ctx)
	}
	if err := a.before(ctx); err != nil {
		return nil, c.Refuse(ctx, err)
	}
	o, err := c.Do(ctx, a.args, a.ask)
	if o != nil {
		a.after(ctx, o, err)
		o.Hooks = a.texts
	}
	return o, err
}

// of returns the hooks that exist for a principal.
func (h *Hooks) of(ctx context.Context, who identity.Principal) []hook {
	return slices.DeleteFunc(slices.Clone(h.list()), func(x hook) bool { return !h.exists(ctx, who, x.skill) })
}

// Event runs the hooks of Conduit code at an event in the session of an agent. Each may change
// the text of a field, which those after it see; Event sets it in fields, and returns it.
func (h *Hooks) Event(ctx context.Context, c *run.HookedCall, event, field string, fields map[string]any) string {
	a := &around{HookedCall: c, hooks: h, all: h.of(ctx, c.Principal)}
	for _, x := range a.at(event, "") {
		if text, ok := a.conduit(ctx, x, fields)[field].(string); ok {
			fields[field] = text
		}
	}
	text, _ := fields[field].(string)
	return text
}

// begins reports whether a call is the first one of a client's session.
func (h *Hooks) begins(a *around) bool {
	if !slices.Contains([]run.Way{run.WayTool, run.WayRunSkill, run.WayCode}, a.Way) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.client(a.Principal.Key())
	if c == nil || c.end != nil {
		return false
	}
	c.end = a.detached().end
	return true
}

// An around is one call with the hooks around it.
type around struct {
	*run.HookedCall
	hooks *Hooks
	all   []hook
	name  string // of the tool
	args  map[string]any
	ask   string   // why hooks want a person asked; "" is not
	texts []string // for the caller

	refused error // by a hook before it, or since there was no room for one
}

func newAround(h *Hooks, c *run.HookedCall, all []hook) *around {
	name := string(run.WayCode)
	if c.Skill != nil && !c.Code {
		name = c.Skill.PlainToolName()
	}
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	return &around{HookedCall: c, hooks: h, all: all, name: name, args: args}
}

// detached returns the call for hooks that may run when it has ended: nobody is told of them.
func (a *around) detached() *around {
	call, hooked := *a.Call, *a.HookedCall
	call.Warn, hooked.Call = nil, &call
	hooked.Args, hooked.Do, hooked.Refuse = nil, nil, nil // which hold the arguments, as long as the session lasts
	return &around{HookedCall: &hooked, hooks: a.hooks, all: a.all, name: a.name}
}

// at returns the hooks at an event that match a name.
func (a *around) at(event, name string) (found []*hook) {
	for i := range a.all {
		if x := &a.all[i]; x.event == event && x.matches(name) {
			found = append(found, x)
		}
	}
	return found
}

// calls returns the hooks at an event of Claude Code's and at one of Conduit's, in one order. It
// has none of the code whose own tool is called: its host runs them itself.
func (a *around) calls(claude, conduit string) (found []*hook) {
	for i := range a.all {
		x := &a.all[i]
		own := a.Skill != nil && a.Skill.Owner().QualifiedName() == x.owner.QualifiedName()
		if x.event == claude && x.matches(toolPrefix+a.name) || x.event == conduit && !own {
			found = append(found, x)
		}
	}
	return found
}

// start runs the hooks at the start of the client's session. Their context is in the result of
// its first call.
func (a *around) start(ctx context.Context) {
	for _, x := range a.at("SessionStart", "startup") {
		a.tell(x, a.claude(ctx, x, map[string]any{"source": "startup"}))
	}
}

// end runs the hooks at the end of the client's session.
func (a *around) end(ctx context.Context) {
	for _, x := range a.at("SessionEnd", "other") {
		a.claude(ctx, x, map[string]any{"reason": "other"})
	}
}

// before runs the hooks before the call, in the order of their plugins' names: each sees the
// arguments that those before it have left. The error refuses the call.
func (a *around) before(ctx context.Context) error {
	for _, x := range a.calls("PreToolUse", "before_tool_call") {
		if x.code {
			a.changeArgs(a.conduit(ctx, x, map[string]any{"tool_name": a.name, "args": a.args})["args"])
		} else {
			o := a.claude(ctx, x, map[string]any{"tool_name": toolPrefix + a.name, "tool_input": a.args, "tool_use_id": a.RunID})
			a.refused = cmp.Or(a.refused, a.decide(x, o))
		}
		if a.refused != nil {
			return a.refused
		}
	}
	return nil
}

// decide applies the output of a hook before the call. The error refuses it.
func (a *around) decide(x *hook, o hookio.Output) error {
	s := cmp.Or(o.Specific, &hookio.Specific{})
	reason := cmp.Or(s.PermissionReason, o.Reason, o.StopReason, "it gives no reason")
	switch {
	case s.Permission == "deny", o.Decision == "block", o.Continue != nil && !*o.Continue:
		return &run.Error{Code: run.PermissionDenied, Message: fmt.Sprintf("a hook of the plugin %s refuses the call: %s", x.skill.Plugin, reason)}
	case s.Permission != "" && !s.Changed && a.ask == "": // ask, or defer to somebody
		a.ask = fmt.Sprintf("a hook of the plugin %s wants that: %s", x.skill.Plugin, reason)
	}
	if s.UpdatedInput != nil {
		a.changeArgs(s.UpdatedInput)
	}
	a.tell(x, o)
	return nil
}

// changeArgs replaces the arguments, unless they are the same or no object. They are checked as
// the caller's are.
func (a *around) changeArgs(to any) {
	if args, ok := to.(map[string]any); ok && !reflect.DeepEqual(normal(a.args), normal(args)) {
		a.args = maps.Clone(args)
	}
}

// normal returns a value as JSON has it.
func normal(value any) (same any) {
	text, _ := json.Marshal(value) // it was decoded from JSON
	same, _ = skills.DecodeJSON(string(text))
	return same
}

// after runs the hooks after the call, and applies their outputs to its outcome.
func (a *around) after(ctx context.Context, o *run.Outcome, err error) {
	answer := result.Callees(nil).Answer(a.Skill, o, err)
	var failed struct{ Error *run.Error }
	_ = json.Unmarshal(answer, &failed) // it is of ours
	fields := map[string]any{"tool_name": toolPrefix + a.name, "tool_input": a.args, "tool_use_id": a.RunID, "duration_ms": o.WallTime.Milliseconds()}
	if failed.Error != nil {
		fields["error"], fields["is_interrupt"] = failed.Error.Message, errors.Is(err, context.Canceled)
		for _, x := range a.at("PostToolUseFailure", toolPrefix+a.name) {
			a.tell(x, a.claude(ctx, x, fields))
		}
		return
	}
	for _, x := range a.calls("PostToolUse", "after_tool_call") {
		if x.code {
			text := result.PersonText(o)
			after, ok := a.conduit(ctx, x, map[string]any{"tool_name": a.name, "args": a.args, "result": text})["result"].(string)
			if ok && after != text {
				a.replace(x, o, after)
			}
			continue
		}
		fields["tool_response"] = result.Callees(nil).Answer(a.Skill, o, nil)
		out := a.claude(ctx, x, fields)
		if s := out.Specific; s != nil && (s.UpdatedMCPOutput != nil || s.UpdatedOutput != nil) {
			a.replace(x, o, cmp.Or(s.UpdatedMCPOutput, s.UpdatedOutput))
		}
		a.tell(x, out)
	}
}

// replace replaces the output of a call that ended well by a text, by contents of MCP, or by a
// result with both. If the skill's output schema does not allow that, it is added as text.
func (a *around) replace(x *hook, o *run.Outcome, by any) {
	object, ok := by.(map[string]any)
	switch _, contents := object["content"].([]any); {
	case ok && contents:
		object = map[string]any{"content": object["content"], "structuredContent": object["structuredContent"]}
		if object["structuredContent"] == nil {
			delete(object, "structuredContent")
		}
	case ok && o.Entry != nil && o.Entry.Output != nil:
		object = map[string]any{"structuredContent": object}
	default:
		list, ok := by.([]any)
		if !ok {
			list = []any{map[string]any{"type": "text", "text": textOf(by)}}
		}
		object = map[string]any{"content": list}
	}
	text, _ := json.Marshal(map[string]any{"mcp": object}) // it was decoded from JSON
	trial, printed := *o, *o.Result
	printed.Stdout = sandbox.Output{Head: text, Total: int64(len(text))}
	trial.Result = &printed
	if result.CheckOutput(&trial) != nil {
		a.add(x, "the result as it would be: "+truncate.String(textOf(by), result.MaxText))
		return
	}
	o.Result = &printed
}

// textOf returns a value as text.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, _ := json.Marshal(value) // it was decoded from JSON
	return string(text)
}

// tell adds the texts of a hook's output to the result, and shows the person its message.
func (a *around) tell(x *hook, o hookio.Output) {
	if o.Message != "" && a.Warn != nil {
		a.Warn("the plugin " + x.skill.Plugin + " says: " + o.Message)
	}
	if x.event != "PreToolUse" {
		if o.Decision == "block" {
			a.add(x, cmp.Or(o.Reason, "something is wrong with the result"))
		}
		if o.Continue != nil && !*o.Continue {
			a.add(x, "stop here: "+o.StopReason)
		}
	}
	if o.Specific != nil && o.Specific.Context != "" {
		a.add(x, o.Specific.Context)
	}
}

// add adds a text of a hook to the result.
func (a *around) add(x *hook, text string) {
	a.texts = append(a.texts, fmt.Sprintf("A hook of the plugin %s says: %s", x.skill.Plugin, text))
}

// claude runs a hook of a Claude Code plugin with an event, and returns its output: an empty one
// if it was skipped, or is asynchronous, so that nobody waits for it.
func (a *around) claude(ctx context.Context, x *hook, fields map[string]any) (out hookio.Output) {
	session := sha256.Sum256([]byte("session " + a.Principal.Key())) // no client's key
	event := map[string]any{
		"session_id": hex.EncodeToString(session[:16]), "transcript_path": "", "cwd": "/", "permission_mode": "default", "hook_event_name": x.event,
	}
	if len(a.Workspaces) > 0 {
		event["cwd"] = a.Workspaces[0]
	}
	maps.Copy(event, fields)
	if x.async {
		later, event := a.detached(), normal(event) // the call goes on
		a.hooks.spawn(x.timeout+startTime, func(ctx context.Context) { later.output(ctx, x, event) })
		return out
	}
	return a.output(ctx, x, event)
}

// output runs a hook of a Claude Code plugin. Its output is empty if it was skipped.
func (a *around) output(ctx context.Context, x *hook, event any) (out hookio.Output) {
	o := a.run(ctx, x, event)
	if o == nil {
		return out
	}
	out, err := hookio.Read(x.event, o.Code, string(o.Stdout.Bytes()), string(o.Stderr.Bytes()))
	if err != nil {
		a.hooks.fail(ctx, x, err.Error())
		return hookio.Output{}
	}
	return out
}

// conduit runs the hooks of Conduit code, and returns the arguments of the event that they have
// left; none if they were skipped.
func (a *around) conduit(ctx context.Context, x *hook, call map[string]any) (after map[string]any) {
	o := a.run(ctx, x, call)
	if o == nil {
		return nil
	}
	if err := result.CheckOutput(o); err != nil {
		a.hooks.fail(ctx, x, err.Error())
	} else if value, err := skills.DecodeJSON(result.PersonText(o)); err != nil {
		a.hooks.fail(ctx, x, err.Error())
	} else {
		after, _ = value.(map[string]any)
	}
	return after
}

// run runs a hook with an event on its standard input. It returns nil for one that is skipped.
func (a *around) run(ctx context.Context, x *hook, event any) *run.Outcome {
	client := a.told()
	text, err := json.Marshal(event)
	if err != nil {
		a.hooks.fail(ctx, x, err.Error())
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, x.timeout+startTime)
	defer cancel()
	request := run.Request{Skill: x.skill, Stdin: bytes.NewReader(append(text, '\n'))}
	request.Timeout, request.Quiet = x.timeout, a.hooks.knows(client, x.owner)
	o, err := a.Hook(limited, request)
	refused, _ := errors.AsType[*run.Error](err)
	switch {
	case err == nil:
		return o
	case ctx.Err() != nil: // nobody waits
	case refused != nil && (refused.Code == run.ApprovalRequired || refused.Code == run.PermissionDenied):
		a.waits(x, refused)
	case refused != nil && refused.Code == run.Busy && (x.event == "PreToolUse" || x.code && x.event == "before_tool_call"):
		a.refused = refused // who calls often enough would get past it
	case limited.Err() != nil:
		a.hooks.fail(ctx, x, fmt.Sprintf("it took more than %s, with its start", x.timeout+startTime))
	default:
		a.hooks.fail(ctx, x, err.Error())
	}
	return nil
}

// told returns the key of who is told of skipped hooks: for all subagents of an owner, once.
func (a *around) told() identity.Key {
	if len(a.Principal.Agents) > 0 {
		return a.Principal.Owner()
	}
	return a.Principal.Key()
}

// waits tells the client, once, that the hooks of a plugin are skipped, since they need a yes or
// are refused.
func (a *around) waits(x *hook, refused *run.Error) {
	if !a.hooks.tells(a.told(), x.owner) {
		return
	}
	if refused.Approval == "" {
		a.hooks.logger.Info("the hooks of a plugin are skipped", "plugin", x.skill.Plugin, "reason", refused.Message)
		return
	}
	message := fmt.Sprintf("the hooks of the plugin %s wait for your yes, and are skipped until then: skills-mcp approve %s", x.skill.Plugin, refused.Approval)
	if a.Way != run.WayCommand { // which prints its log beside its warnings
		a.hooks.logger.Warn(message)
	}
	if a.Warn != nil {
		a.Warn(message)
	}
}
