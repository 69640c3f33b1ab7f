package api

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// A SubagentService has the operations on subagents.
type SubagentService struct{ options *Options }

// List returns the subagents that the principal of ctx may see, the newest first, without
// messages; none where no model is configured.
func (s SubagentService) List(ctx context.Context, status agents.Status) ([]*agents.Session, error) {
	if s.options.Subagents == nil {
		return nil, nil
	}
	var owner *identity.Key
	if who := identity.FromContext(ctx); !who.Oversees() {
		own := who.Owner()
		owner = &own
	}
	return s.options.Subagents.All(ctx, owner, status)
}

// stamp returns a text that differs after a change of those that List returns.
func (s SubagentService) stamp(ctx context.Context) (string, error) {
	all, err := s.List(ctx, "")
	h := fnv.New64a()
	for _, one := range all {
		fmt.Fprint(h, one.RunID, one.Status, one.Used)
	}
	return fmt.Sprintf(".%x", h.Sum64()), err
}

// Find returns a subagent with its messages.
func (s SubagentService) Find(ctx context.Context, id string) (*agents.Session, error) {
	if s.options.Subagents == nil {
		return nil, &run.Error{Code: run.NotFound, Message: "this server runs no subagents; configure a model in agents.models"}
	}
	found, err := s.options.Subagents.Find(ctx, id)
	if err != nil {
		return nil, run.AsError(err)
	}
	if who := identity.FromContext(ctx); found == nil || !who.Oversees() && who.Owner() != found.Owner {
		return nil, &run.Error{Code: run.NotFound, Message: fmt.Sprintf("there is no subagent %q of yours here", id)}
	}
	return found, nil
}

// Stop ends a subagent and its descendants.
func (s SubagentService) Stop(ctx context.Context, id string) error {
	found, err := s.Find(ctx, id)
	if err != nil {
		return err
	}
	if !isPerson(ctx) && identity.FromContext(ctx).Owner() != found.Owner {
		return denied("this subagent is of another person")
	}
	return s.options.Subagents.Stop(ctx, id)
}
