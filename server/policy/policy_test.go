package policy

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answers is a person who gives one answer.
type answers struct{ err error }

func (a answers) Approve(context.Context, *run.Proposal) error { return a.err }

func (a answers) Approved(_ context.Context, _ identity.Principal, skill *skills.Skill) bool {
	return skill.Name == "approved"
}

// proposals proposes to trust "/work" alone.
type proposals struct{}

func (proposals) Propose(workspace string) (*run.Trust, error) {
	if workspace != "/work" {
		return nil, errors.New("it is gone")
	}
	return &run.Trust{Workspace: workspace, Changes: []string{"a change"}}, nil
}

// Without rules: the decision, or the code of the refusal, for each class, kind of request
// and principal.
func TestDecide(t *testing.T) {
	model, person := identity.Principal{Kind: identity.Model}, identity.Principal{Kind: identity.Person}
	entry := &skills.Entry{Script: "run.sh", Network: []string{"api.example.com"}, Env: []string{"KEY", "OTHER"}}
	safe := skills.Skill{Name: "s", Class: skills.Safe, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh", Env: []string{"KEY"}}}
	hidden := safe
	hidden.ModelInvocable = false
	mutating := skills.Skill{Name: "m", Class: skills.Mutating, ModelInvocable: true, Entry: entry}
	connects := mutating
	connects.Class = skills.Safe
	strange := mutating
	strange.Workspace = "/work"
	dangerous := mutating
	dangerous.Class = skills.Dangerous
	work := []string{"/work"}
	plain := &run.Decision{Grant: sandbox.Grant{Workspaces: work}, Variables: []string{"KEY"}, Class: skills.Safe, Rule: "the class safe"}
	folder := &run.Decision{Grant: sandbox.Grant{Workspaces: work}, Class: skills.Safe, Rule: "the class safe"}
	asked := &run.Decision{
		Grant:     sandbox.Grant{Workspaces: work, Write: true, Hosts: []string{"api.example.com"}},
		Variables: []string{"KEY"}, Class: skills.Mutating, Rule: "the class mutating in the mode confirm", Signatures: 1,
	}
	reads := *asked
	reads.Grant.Write = false
	ofWork := *asked // after the person has trusted the workspace
	ofWork.Each, ofWork.Trust = true, &run.Trust{Workspace: "/work", Changes: []string{"a change"}}
	trusts, later := &ofWork, ofWork
	later.Grant.Write = false
	harmless, reaching, lost, harmful := safe, connects, strange, dangerous
	harmless.Workspace, reaching.Workspace, lost.Workspace, harmful.Workspace = "/work", "/work", "/lost", "/work"
	for name, test := range map[string]struct {
		p       run.Proposal
		want    *run.Decision
		refused run.Code // without a decision
	}{
		"a safe skill":               {run.Proposal{Skill: &safe, Principal: model}, plain, ""},
		"a person's alone":           {run.Proposal{Skill: &hidden, Principal: model}, nil, run.PermissionDenied},
		"a person's, picked":         {run.Proposal{Skill: &hidden, Picked: true}, plain, ""},
		"mutating, of a model":       {run.Proposal{Skill: &mutating, Principal: model}, asked, ""},
		"mutating, picked":           {run.Proposal{Skill: &mutating, Picked: true}, asked, ""},
		"mutating, of a person":      {run.Proposal{Skill: &mutating, Principal: person}, asked, ""},
		"mutating, only a plan":      {run.Proposal{Skill: &mutating, Principal: person, DryRun: true}, asked, ""},
		"a safe one that connects":   {run.Proposal{Skill: &connects, Principal: model}, &reads, ""},
		"dangerous":                  {run.Proposal{Skill: &dangerous, Principal: person}, nil, run.PermissionDenied},
		"of a workspace":             {run.Proposal{Skill: &strange, Principal: person}, trusts, ""},
		"of a workspace, a plan":     {run.Proposal{Skill: &strange, Principal: person, DryRun: true}, nil, run.ApprovalRequired},
		"of another, safe":           {run.Proposal{Skill: &harmless, Principal: model}, folder, ""},
		"of another, connects":       {run.Proposal{Skill: &reaching, Principal: model}, &later, ""},
		"of a lost workspace":        {run.Proposal{Skill: &lost, Principal: model}, nil, run.PermissionDenied},
		"of another, dangerous":      {run.Proposal{Skill: &harmful, Principal: person}, nil, run.PermissionDenied},
		"an unknown profile":         {run.Proposal{Skill: &safe, Principal: identity.Principal{Profile: "p"}}, nil, run.PermissionDenied},
		"code":                       {run.Proposal{Action: run.ActionCode, Principal: model}, folder, ""},
		"code beside a mutating one": {run.Proposal{Action: run.ActionCode, Skill: &mutating, Principal: model}, folder, ""},
		"a session of a hidden one":  {run.Proposal{Action: run.ActionSession, Skill: &hidden, Principal: model}, nil, run.PermissionDenied},
	} {
		t.Run(name, func(t *testing.T) {
			if test.p.Action == "" {
				test.p.Action = run.ActionSkill
			}
			test.p.Workspaces = work
			p := New(&Options{Variables: []string{"KEY"}, Workspaces: proposals{}})
			d, err := p.Decide(t.Context(), &test.p)
			if got := codeOf(err); got != test.refused {
				t.Fatalf("refused with %q: %v", got, err)
			}
			if diff := cmp.Diff(test.want, d, cmpopts.IgnoreFields(run.Decision{}, "Version")); diff != "" {
				t.Error(diff)
			}
			if d != nil && test.p.Action == run.ActionSkill && p.MayAsk(test.p.Principal, test.p.Skill) != (d.Signatures > 0) {
				t.Error("MayAsk differs")
			}
		})
	}
}

// A run that needs confirmations starts as its approver says, and not without one.
func TestApprove(t *testing.T) {
	no := &run.Error{Code: run.ApprovalRequired, Message: "no"}
	skill := &skills.Skill{Name: "m"}
	for name, test := range map[string]struct {
		signatures int
		approver   Approver
		refused    run.Code
	}{
		"none needed": {0, answers{no}, ""},
		"yes":         {1, answers{}, ""},
		"no":          {1, answers{no}, run.ApprovalRequired},
		"nobody":      {1, nil, run.ApprovalRequired},
	} {
		p := &run.Proposal{Skill: skill, Decision: &run.Decision{Signatures: test.signatures}}
		if got := codeOf(New(&Options{Approver: test.approver}).Approve(t.Context(), p)); got != test.refused {
			t.Errorf("%s: refused with %q", name, got)
		}
	}
}

func codeOf(err error) run.Code {
	if e, ok := errors.AsType[*run.Error](err); ok {
		return e.Code
	}
	return ""
}

// A rule of the person that lowers the class of a name gives a stranger's skill of the name
// nothing before somebody was asked.
func TestLoweredOfStranger(t *testing.T) {
	skill := &skills.Skill{
		Name: "deploy", Dir: "/work/skills/deploy", Workspace: "/work", Class: skills.Mutating, ModelInvocable: true,
		Entry: &skills.Entry{Script: "run.sh", Env: []string{"KEY"}},
	}
	for _, pattern := range []string{"deploy", "*"} {
		p := New(&Options{Rules: []Rule{{Pattern: pattern, Class: skills.Safe}}, Variables: []string{"KEY"}, Workspaces: proposals{}})
		d, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: skill, Principal: identity.Principal{Kind: identity.Model}})
		if err != nil || d.Signatures != 1 || d.Trust == nil || !p.MayAsk(identity.Principal{}, skill) {
			t.Errorf("%s: %+v, %v", pattern, d, err)
		}
	}
}

// The findings of the scan are part of a decision that a person is asked about, and of no
// other: a safe call is not scanned for it.
func TestDecisionHasFindings(t *testing.T) {
	scanned := 0
	p := New(&Options{Scan: func(*run.Proposal) string { scanned++; return "1 critical" }})
	for class, want := range map[skills.Class]string{skills.Safe: "", skills.Mutating: "1 critical"} {
		skill := &skills.Skill{Name: "a", Class: class, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh"}}
		d, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: skill, Digest: "sha256:0", Principal: identity.Principal{Kind: identity.Model}})
		if err != nil || d.Scan != want {
			t.Errorf("%s: %+v, %v", class, d, err)
		}
	}
	if scanned != 1 {
		t.Errorf("scanned %d times", scanned)
	}
}
