package policy

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answers is a person who gives one answer.
type answers struct{ err error }

func (a answers) Approve(context.Context, *run.Proposal) error { return a.err }

// The rule by class, for each kind of request and of principal: the grant, or the code
// of the refusal.
func TestDecide(t *testing.T) {
	rule, err := egress.ParseRule("*.example.com")
	if err != nil {
		t.Fatal(err)
	}
	model, person := identity.Principal{Kind: identity.Model}, identity.Principal{Kind: identity.Person}
	entry := &skills.Entry{Script: "run.sh", Network: []string{"api.example.com"}, Env: []string{"KEY"}}
	safe := skills.Skill{Name: "s", Class: skills.Safe, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh", Env: []string{"KEY"}}}
	hidden := safe
	hidden.ModelInvocable = false
	mutating := skills.Skill{Name: "m", Class: skills.Mutating, ModelInvocable: true, Entry: entry}
	strange := mutating
	strange.Workspace = "/work"
	work := []string{"/work"}
	readOnly, writable := sandbox.Grant{Workspaces: work}, sandbox.Grant{Workspaces: work, Write: true, Hosts: []string{"api.example.com"}}
	for name, test := range map[string]struct {
		p         run.Proposal
		confirmer Approver
		grant     sandbox.Grant
		variables []string
		refused   run.Code // "" where it is granted
		approval  run.Code // that Approve refuses with
	}{
		"a safe skill":                {run.Proposal{Skill: &safe, Principal: model}, nil, readOnly, []string{"KEY"}, "", ""},
		"a person's alone":            {run.Proposal{Skill: &hidden, Principal: model}, nil, sandbox.Grant{}, nil, run.PermissionDenied, ""},
		"a person's, picked":          {run.Proposal{Skill: &hidden, Picked: true}, nil, readOnly, []string{"KEY"}, "", ""},
		"mutating, of a model":        {run.Proposal{Skill: &mutating, Principal: model}, answers{}, sandbox.Grant{}, nil, run.ApprovalRequired, run.ApprovalRequired},
		"mutating, picked":            {run.Proposal{Skill: &mutating, Picked: true}, answers{}, sandbox.Grant{}, nil, run.ApprovalRequired, run.ApprovalRequired},
		"mutating, nobody to confirm": {run.Proposal{Skill: &mutating, Principal: person}, nil, sandbox.Grant{}, nil, run.ApprovalRequired, run.ApprovalRequired},
		"mutating, only a plan":       {run.Proposal{Skill: &mutating, Principal: person, DryRun: true}, nil, writable, []string{"KEY"}, "", run.ApprovalRequired},
		"mutating, yes":               {run.Proposal{Skill: &mutating, Principal: person}, answers{}, writable, []string{"KEY"}, "", ""},
		"mutating, no":                {run.Proposal{Skill: &mutating, Principal: person}, answers{&run.Error{Code: run.ApprovalRequired, Message: "no"}}, writable, []string{"KEY"}, "", run.ApprovalRequired},
		"of a workspace":              {run.Proposal{Skill: &strange, Principal: person}, answers{}, sandbox.Grant{}, nil, run.PermissionDenied, ""},
		"code":                        {run.Proposal{Action: run.ActionCode, Principal: model}, nil, readOnly, nil, "", ""},
		"code beside a mutating one":  {run.Proposal{Action: run.ActionCode, Skill: &mutating, Principal: model}, nil, readOnly, nil, "", ""},
		"a session of a hidden one":   {run.Proposal{Action: run.ActionSession, Skill: &hidden, Principal: model}, nil, sandbox.Grant{}, nil, run.PermissionDenied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if test.p.Action == "" {
				test.p.Action = run.ActionSkill
			}
			test.p.Workspaces = work
			p := New(&Options{Hosts: []egress.Rule{rule}, Approver: test.confirmer})
			d, err := p.Decide(t.Context(), &test.p)
			if got := codeOf(err); got != test.refused {
				t.Fatalf("refused with %q: %v", got, err)
			}
			if err == nil {
				if diff := cmp.Diff(&run.Decision{Grant: test.grant, Variables: test.variables}, d); diff != "" {
					t.Error(diff)
				}
			}
			if test.refused == run.PermissionDenied {
				return
			}
			if got := codeOf(p.Approve(t.Context(), &test.p)); got != test.approval {
				t.Errorf("approval refused with %q", got)
			}
		})
	}
}

func codeOf(err error) run.Code {
	if e, ok := errors.AsType[*run.Error](err); ok {
		return e.Code
	}
	return ""
}
