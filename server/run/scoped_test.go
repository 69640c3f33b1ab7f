package run_test

import (
	"context"
	"errors"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// Whatever the way in has checked, a token without the scope runs nothing, and installs
// nothing.
func TestScoped(t *testing.T) {
	driver := &keeper{}
	x := newExecutor(t, driver, nil)
	skill := demo(t, "script: run.sh")
	reader := run.Call{Principal: identity.Principal{Kind: identity.Token, ID: "ann", Scopes: []identity.Scope{identity.ScopeRead, identity.ScopeApprove}}}
	const needs = "this needs a token with the scope skills:run"
	_, err := x.Run(t.Context(), run.Request{Call: reader, Skill: skill})
	wantError(t, err, run.PermissionDenied, needs)
	_, err = x.RunCode(t.Context(), run.CodeRequest{Call: reader, Language: "bash", Code: "true"})
	wantError(t, err, run.PermissionDenied, needs)
	_, err = x.OpenSession(t.Context(), run.OpenRequest{Call: reader, Skill: skill})
	wantError(t, err, run.PermissionDenied, needs)
	runner := reader
	runner.Principal.Scopes = []identity.Scope{identity.ScopeRun}
	err = x.Install(t.Context(), run.InstallRequest{Call: runner, Source: "owner/repo", Prepare: func(context.Context) (run.Installation, error) {
		return nil, errors.New("it was prepared")
	}})
	wantError(t, err, run.PermissionDenied, "this needs a token with the scope skills:admin")
	if len(driver.opened) > 0 {
		t.Error("a sandbox was opened")
	}
	if _, err := x.Run(t.Context(), run.Request{Call: runner, Skill: skill}); err != nil {
		t.Error(err)
	}
}
