package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/skillshost"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// newHost returns the connected MCP servers, whose folder lies beside the store.
func newHost(home string, s *store.Store, key *seal.Key, logger *slog.Logger) *skillshost.Host {
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		home = "" // programs run in the current folder
	}
	return skillshost.New(filepath.Join(filepath.Dir(s.File()), "mcp"), s, key, &skillshost.HostOptions{
		Session: skillshost.Options{Version: build.Read().Version, Env: os.Environ(), Dir: home},
		Getenv:  os.Getenv, Logger: logger,
	})
}

// A hostedDecider runs skills of other MCP servers only while the person's consent stands.
type hostedDecider struct {
	*policy.Policy
	host *skillshost.Host
}

// Decide implements [run.Decider].
func (d hostedDecider) Decide(ctx context.Context, p *run.Proposal) (*run.Decision, error) {
	if p.Skill != nil && !d.host.Allowed(p.Skill) {
		name := p.Skill.Owner().QualifiedName()
		return nil, &run.Error{Code: run.PermissionDenied, Message: fmt.Sprintf("skill %s is of another MCP server, and nobody has consented to its files as they are; load_skill with name %q asks", name, name)}
	}
	return d.Policy.Decide(ctx, p)
}

// A Connected fetches skills of other MCP servers for calls.
type Connected struct {
	Host      *skillshost.Host
	Approvals *approval.Approvals
}

// Fetched implements the connected skills of package server.
func (c Connected) Fetched(skill *skills.Skill) bool { return c.Host.Fetched(skill) }

// Again implements the connected skills of package server.
func (c Connected) Again() { c.Host.Again() }

// Fetch implements the connected skills of package server.
func (c Connected) Fetch(ctx context.Context, skill *skills.Skill, call *run.Call) error {
	proposed, err := c.Host.Propose(skill)
	if err == nil && proposed != nil {
		err = c.Approvals.Approve(ctx, &run.Proposal{
			Way: call.Way, Principal: call.Principal, Client: call.Client, Skill: skill, Digest: proposed.Set, Command: &sandbox.Command{},
			Decision: &run.Decision{Class: skills.Safe, Signatures: 1, Fetch: proposed, Version: "fetch 1"},
		})
	}
	if err == nil {
		if call.Progress != nil {
			call.Progress("fetching skill " + skill.QualifiedName())
		}
		err = c.Host.Fetch(ctx, skill)
	}
	return fetchError(skill, err)
}

// fetchError returns the error of a fetch for a model.
func fetchError(skill *skills.Skill, err error) error {
	if _, known := errors.AsType[*run.Error](err); err == nil || known || errors.Is(err, context.Canceled) {
		return err
	}
	if _, wrong := errors.AsType[*skillshost.VerificationError](err); wrong {
		return &run.Error{Code: run.PermissionDenied, Message: fmt.Sprintf("skill %s is not as its MCP server has stated it, so nothing of it is used: %v", skill.QualifiedName(), err), Err: err}
	}
	return &run.Error{Code: run.Unavailable, Message: fmt.Sprintf("skill %s cannot be fetched from its MCP server now: %v", skill.QualifiedName(), err), Retryable: true, Err: err}
}

// FollowServers asks the connected servers for their skills in the background, until stop
// is called, which waits for that.
func FollowServers(ctx context.Context, host *skillshost.Host, reloader *live.Reloader) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		reloader.AwaitFirst(ctx)
		host.Follow(ctx, func(ctx context.Context) {
			_, _, _ = reloader.Reload(ctx) // its error is that ctx is done
		})
	}()
	return func() { cancel(); <-done }
}
