package describe

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A state is one word for the first of the reasons why a model cannot use a skill.
func TestState(t *testing.T) {
	script := &skills.Entry{Script: "run.sh"}
	reaching := &skills.Entry{Script: "run.sh", Network: []string{"a.example:443"}}
	approval := &run.Error{Code: run.ApprovalRequired}
	for name, test := range map[string]struct {
		skill       skills.Skill
		state       string
		decision    run.Decision
		refused     error
		approved    string
		under, kind string
		prompt      bool
	}{
		"instructions": {skill: skills.Skill{ModelInvocable: true, UserInvocable: true, Class: skills.Safe},
			state: "ready", under: "ready", kind: "instructions", prompt: true},
		"a server that has listed its tools": {skill: skills.Skill{Tools: []*skills.Skill{{}}, Class: skills.Mutating, Entry: &skills.Entry{Server: &skills.ServerCall{}}},
			state: "person only: models call its tools", under: "person only: models call its tools", kind: "executable"},
		"dangerous instructions": {skill: skills.Skill{ModelInvocable: true, Class: skills.Dangerous},
			state: "ready", refused: errors.New("no"), under: "ready", kind: "instructions"},
		"a safe script": {skill: skills.Skill{ModelInvocable: true, Class: skills.Safe, Entry: script},
			state: "ready", under: "ready", kind: "executable"},
		"a mutating script": {skill: skills.Skill{ModelInvocable: true, Class: skills.Mutating, Entry: script},
			state: "needs approval", decision: run.Decision{Signatures: 1}, under: "needs approval", kind: "executable"},
		"one that a rule lets run": {skill: skills.Skill{ModelInvocable: true, Class: skills.Mutating, Entry: script},
			state: "needs approval", under: "ready", kind: "executable"},
		"one that was approved": {skill: skills.Skill{ModelInvocable: true, Class: skills.Mutating, Entry: script},
			state: "needs approval", decision: run.Decision{Signatures: 1}, approved: "approved for you", under: "approved for you", kind: "executable"},
		"one that two have to approve": {skill: skills.Skill{ModelInvocable: true, Class: skills.Dangerous, Entry: script},
			state: "needs approval", decision: run.Decision{Signatures: 2}, approved: "approved", under: "needs two approvals", kind: "executable"},
		"a safe one that a rule refuses": {skill: skills.Skill{ModelInvocable: true, Class: skills.Safe, Entry: script},
			state: "ready", refused: &run.Error{Code: run.PermissionDenied}, under: "refused", kind: "executable"},
		"of a workspace that nobody trusts": {skill: skills.Skill{ModelInvocable: true, Class: skills.Safe, Workspace: "/w", Entry: reaching},
			state: "needs trust in its workspace", under: "needs trust in its workspace", kind: "executable"},
		"a safe one of such a workspace": {skill: skills.Skill{ModelInvocable: true, Class: skills.Safe, Workspace: "/w", Entry: script},
			state: "ready", refused: approval, under: "needs trust in its workspace", kind: "executable"},
		"for a person": {skill: skills.Skill{UserInvocable: true, Class: skills.Dangerous, Entry: script},
			state: "person only", under: "person only", kind: "executable", prompt: true},
		"blocked": {skill: skills.Skill{ModelInvocable: true, UserInvocable: true, Blocked: "it gained"},
			state: "blocked: it has changed since it was accepted", under: "blocked: it has changed since it was accepted", kind: "instructions"},
		"unavailable and blocked": {skill: skills.Skill{UserInvocable: true, Unavailable: "needs jq", Blocked: "it gained", Entry: script},
			state: "unavailable: needs jq", under: "unavailable: needs jq", kind: "executable"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summarize(&test.skill, ""); got.State != test.state || got.Kind != test.kind {
				t.Errorf("%+v", got)
			}
			got := StateUnder(&test.skill, &test.decision, test.refused, func(*skills.Skill) string { return test.approved })
			if got != test.under {
				t.Errorf("under the decision: %q, want %q", got, test.under)
			}
			if got := IsPrompt(&test.skill); got != test.prompt {
				t.Errorf("prompt: %v", got)
			}
		})
	}
}

// A list for a model has texts and parameters within bounds.
func TestChoose(t *testing.T) {
	var flags skills.Flags
	for n := range 20 {
		flags = append(flags, skills.Param{Name: strings.Repeat("x", n+1), Required: n == 0, Schema: skills.RawArgv{}.Schema()})
	}
	skill := &skills.Skill{
		Name: "deploy", Plugin: "team", Source: skills.SourceUser, ModelInvocable: true, Class: skills.Safe,
		Description: strings.Repeat("d", 1000), WhenToUse: strings.Repeat("w", 1000), Entry: &skills.Entry{Script: "run.sh", Args: flags},
	}
	got := Choose(skill, "team__deploy")
	if got.Name != "team/deploy" || got.Tool != "team__deploy" || len(got.Description) > maxText || len(got.WhenToUse) > maxText {
		t.Errorf("%+v", got)
	}
	if len(got.Parameters) != maxParameters || got.Parameters[0] != (Parameter{"x", "object", true}) || got.Parameters[1].Required {
		t.Errorf("parameters: %+v", got.Parameters)
	}
	skill.Blocked = "it gained"
	if got := Choose(skill, ""); got.Parameters != nil {
		t.Errorf("blocked: %+v", got)
	}
}

// A skill that is off, or has lost its name, has no tool, and its state says why.
func TestListedWithoutTool(t *testing.T) {
	l := Listed{Summary: Summary{Tool: "x", State: "ready"}, Decision: exposure.Decision{Reach: exposure.ByTool}}
	off, hidden := l, l
	off.TurnOff("by the person")
	hidden.Hide(skills.Shadow{By: &skills.Skill{File: "/a/SKILL.md"}})
	for want, got := range map[string]Listed{"off: by the person": off, "shadowed by /a/SKILL.md": hidden} {
		if got.State != want || got.Tool != "" || got.Reach != exposure.ByNobody || got.Why == "" {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// An outlook has the outcome, the grant, and the calls that a yes covers.
func TestOutlook(t *testing.T) {
	grant := sandbox.Grant{Write: true, Workspaces: []string{"/w"}, Hosts: []string{"a:443"}}
	for name, test := range map[string]struct {
		decision *run.Decision
		refused  *run.Error
		approved string
		outcome  string
		covers   string
	}{
		"runs":               {&run.Decision{Grant: grant, Class: skills.Mutating, Rule: "r", Timeout: time.Minute}, nil, "", "runs", ""},
		"asks":               {&run.Decision{Signatures: 1}, nil, "", "asks", "what you choose: the call, the session, or all later calls"},
		"asks each time":     {&run.Decision{Signatures: 1, Each: true}, nil, "", "asks", "the one call"},
		"asks for a session": {&run.Decision{Signatures: 1, Session: true}, nil, "", "asks", "at most the client's session"},
		"asks once": {&run.Decision{Signatures: 2, Always: true}, nil, "", "asks",
			"all later calls, while the skill gains no capability; of a stranger's that may write or reach hosts, while no file changes"},
		"approved": {&run.Decision{Signatures: 1, Session: true}, nil, "every call", "approved", "at most the client's session"},
		"refused":  {nil, &run.Error{Code: run.PermissionDenied, Message: "no"}, "", "refused", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewOutlook([]string{"you"}, test.decision, test.refused, test.approved)
			if got.Outcome != test.outcome || got.Covers != test.covers || got.Approved != test.approved || got.By[0] != "you" {
				t.Errorf("%+v", got)
			}
			if test.refused != nil && (got.Code != run.PermissionDenied || got.Message != "no") {
				t.Errorf("%+v", got)
			}
		})
	}
	got := NewOutlook(nil, &run.Decision{Grant: grant, Class: skills.Mutating, Rule: "r", Timeout: time.Minute}, nil, "")
	want := Outlook{Outcome: "runs", Class: skills.Mutating, Rule: "r", Writes: true, Workspaces: []string{"/w"}, Network: []string{"a:443"}, Timeout: 60}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
