// Package hookio reads the output of hooks in the format of Claude Code: an exit code, and a
// text or a JSON object. A hook is a stranger's code. It can refuse, ask and add context; an
// answer that says yes for the person is dropped.
//
// Start with [Read].
package hookio

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// An Output is the output of a hook, reduced to the documented fields that have an effect for
// its event. Its JSON is the one that clients read.
type Output struct {
	Continue   *bool     `json:"continue,omitempty"` // false stops the client
	StopReason string    `json:"stopReason,omitempty"`
	Message    string    `json:"systemMessage,omitempty"` // for the person
	Decision   string    `json:"decision,omitempty"`      // "block" or ""
	Reason     string    `json:"reason,omitempty"`
	Specific   *Specific `json:"hookSpecificOutput,omitempty"`
}

// Specific are the fields of an output that only some events have.
type Specific struct {
	Event            string         `json:"hookEventName"`
	Context          string         `json:"additionalContext,omitempty"`
	Permission       string         `json:"permissionDecision,omitempty"` // deny, ask, defer or ""
	PermissionReason string         `json:"permissionDecisionReason,omitempty"`
	UpdatedInput     map[string]any `json:"updatedInput,omitempty"`
	UpdatedOutput    any            `json:"updatedToolOutput,omitempty"`
	UpdatedMCPOutput any            `json:"updatedMCPToolOutput,omitempty"`
	// Changed says that Permission is ask since UpdatedInput changes the arguments.
	Changed bool             `json:"-"`
	Request *RequestDecision `json:"decision,omitempty"`
}

// A RequestDecision answers a PermissionRequest: with no, or not at all.
type RequestDecision struct {
	Behavior  string `json:"behavior"` // deny
	Message   string `json:"message,omitempty"`
	Interrupt bool   `json:"interrupt,omitempty"`
}

// Events returns the events whose hooks a client can run through Read. Not among them are
// those whose hooks answer forms for the person, change the text that they see, or print a
// path (WorktreeCreate). code.claude.com/docs/en/hooks
func Events() []string {
	return []string{
		"Notification", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PreCompact", "PreToolUse",
		"SessionEnd", "SessionStart", "Stop", "SubagentStart", "SubagentStop", "UserPromptSubmit",
	}
}

// Bounds of what a hook prints, in bytes: of JSON, which may hold all arguments of a call, and
// of other texts, of which Claude Code moves longer ones to a file.
const (
	maxJSON = 1 << 20
	maxText = 10_000
)

// Read returns the output of a hook of an event that ended with an exit code. The error says
// that the hook has failed, for the person; then the output has no effect.
func Read(event string, code int, stdout, stderr string) (Output, error) {
	stdout, stderr = strings.TrimSpace(stdout), strings.TrimSpace(stderr)
	switch {
	case code == 2:
		return block(event, stderr).reduced(event)
	case code != 0:
		line, _, _ := strings.Cut(stderr, "\n")
		return Output{}, fmt.Errorf("it ended with exit code %d: %s", code, truncate.String(line, 500))
	case strings.HasPrefix(stdout, "{") && strings.HasSuffix(stdout, "}"):
		var o Output
		if len(stdout) > maxJSON {
			return o, fmt.Errorf("it printed JSON of more than %d MiB", maxJSON>>20)
		}
		decoder := json.NewDecoder(strings.NewReader(stdout))
		decoder.UseNumber() // arguments that it leaves stay as they are
		if err := decoder.Decode(&o); err != nil || decoder.InputOffset() < int64(len(stdout)) {
			return Output{}, fmt.Errorf("it printed JSON that is not valid: %w", cmp.Or(err, errors.New("there is more than one value")))
		}
		return o.reduced(event)
	case stdout != "" && (event == "SessionStart" || event == "UserPromptSubmit"):
		return Output{Specific: &Specific{Event: event, Context: stdout}}.reduced(event)
	}
	return Output{}, nil
}

// block returns the output for exit code 2 with a reason: events that cannot be blocked show
// it to the person.
func block(event, reason string) Output {
	switch event {
	case "PreToolUse":
		return Output{Specific: &Specific{Event: event, Permission: "deny", PermissionReason: reason}}
	case "PermissionRequest":
		return Output{Specific: &Specific{Event: event, Request: &RequestDecision{Behavior: "deny", Message: reason}}}
	case "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SubagentStop", "UserPromptSubmit":
		return Output{Decision: "block", Reason: reason}
	}
	return Output{Message: reason}
}

// reduced returns an output that a hook printed, without each yes for the person, and with
// texts in their bounds. Arguments that the hook has changed are asked about.
func (o Output) reduced(event string) (Output, error) {
	if o.Decision != "block" {
		o.Decision = ""
	}
	s := cmp.Or(o.Specific, &Specific{Event: event})
	request := cmp.Or(s.Request, &RequestDecision{})
	for _, text := range []*string{&o.StopReason, &o.Message, &o.Reason, &s.Context, &s.PermissionReason, &request.Message} {
		*text = truncate.String(*text, maxText)
	}
	if s.Event != event {
		return Output{}, errors.New("its hookSpecificOutput is of another event")
	}
	if !slices.Contains([]string{"deny", "ask", "defer"}, s.Permission) {
		s.Permission = ""
	}
	if s.UpdatedInput != nil && s.Permission == "" {
		s.Permission, s.Changed = "ask", true
	}
	if request.Behavior != "deny" {
		s.Request = nil
	}
	return o, nil
}
