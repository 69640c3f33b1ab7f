package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// steps notes the steps of the pipeline in their order. It refuses the action deny.
type steps struct {
	deny  run.Action
	notes []string
}

func (s *steps) note(step string, p *run.Proposal) {
	digest := "-"
	if strings.HasPrefix(p.Digest, "sha256:") {
		digest = "sha256"
	}
	s.notes = append(s.notes, fmt.Sprintf("%s %s %s %s %t", step, p.Action, p.Principal.ID, digest, p.Command != nil))
}

func (s *steps) Decide(_ context.Context, p *run.Proposal) (*run.Decision, error) {
	s.note("decide", p)
	if p.Action == s.deny {
		return nil, &run.Error{Code: run.PermissionDenied, Message: "no"}
	}
	return &run.Decision{Grant: sandbox.Grant{Workspaces: p.Workspaces}, Variables: []string{"A"}}, nil
}

func (s *steps) Approve(_ context.Context, p *run.Proposal) error {
	s.note("approve "+strings.Join(p.Variables, ","), p)
	return nil
}

func (s *steps) Values(_ context.Context, p identity.Principal, names []string) ([]string, error) {
	s.notes = append(s.notes, fmt.Sprintf("values %s %v", p.ID, names))
	return []string{"A=1"}, nil
}

func (s *steps) MayAsk(identity.Principal, *skills.Skill) bool { return true }

func (s *steps) Begin(context.Context, *run.Proposal) error { return nil }

func (s *steps) Record(_ context.Context, r run.Record) {
	s.note(fmt.Sprintf("record %t %v", r.Outcome != nil, r.Err), r.Proposal)
}

// Whatever is asked for is decided about with the digest of what runs, approved with
// its command, and recorded, once each.
func TestPipeline(t *testing.T) {
	skill := demo(t, "script: run.sh")
	for _, test := range []struct {
		action run.Action
		do     func(x *run.Executor) error
		ran    bool
		digest string
	}{
		{run.ActionSkill, func(x *run.Executor) error {
			_, err := x.Run(t.Context(), run.Request{Call: by("ann"), Skill: skill})
			return err
		}, true, "sha256"},
		{run.ActionCode, func(x *run.Executor) error {
			_, err := x.RunCode(t.Context(), run.CodeRequest{Call: by("ann"), Language: "bash", Code: "true"})
			return err
		}, true, "-"},
		{run.ActionSession, func(x *run.Executor) error {
			_, err := x.OpenSession(t.Context(), run.OpenRequest{Call: by("ann"), Skill: skill})
			return err
		}, false, "sha256"},
	} {
		s := &steps{}
		driver := &keeper{}
		x := executorOf(t, driver, s, &run.Options{Variables: s, Recorder: s})
		if err := test.do(x); err != nil {
			t.Fatal(err)
		}
		of := fmt.Sprintf("%s ann %s ", test.action, test.digest)
		want := []string{
			"decide " + of + "false", "values ann [A]", "approve A " + of + "true", fmt.Sprintf("record %t <nil> %strue", test.ran, of),
		}
		if diff := cmp.Diff(want, s.notes); diff != "" {
			t.Error(diff)
		}
		s.notes, s.deny = nil, test.action
		wantError(t, test.do(x), run.PermissionDenied, "no")
		if diff := cmp.Diff([]string{"decide " + of + "false", "record false no " + of + "false"}, s.notes); diff != "" {
			t.Error(diff)
		}
		if len(driver.commands)+len(driver.opened) != 1 {
			t.Errorf("%s: %d commands, %d sessions", test.action, len(driver.commands), len(driver.opened))
		}
	}
}

// last grants the last of the workspaces.
type last struct{ steps }

func (l *last) MayAsk(identity.Principal, *skills.Skill) bool { return false }

func (l *last) Decide(_ context.Context, p *run.Proposal) (*run.Decision, error) {
	return &run.Decision{Grant: sandbox.Grant{Workspaces: p.Workspaces[1:]}}, nil
}

// SKILL_WORKSPACE names the first workspace that is granted, not the first that there is.
func TestGrantedWorkspace(t *testing.T) {
	driver := &keeper{}
	x := executorOf(t, driver, &last{}, &run.Options{Workspaces: []string{"/one", "/two"}})
	if _, err := x.Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh")}); err != nil {
		t.Fatal(err)
	}
	if env := strings.Join(driver.commands[0].Env, " "); !strings.Contains(env, "SKILL_WORKSPACE=/two") {
		t.Errorf("environment %s", env)
	}
}
