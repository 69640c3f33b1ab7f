package serving

import (
	"context"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// newSubagents returns the sessions of agents, which act in the views that there are by then;
// nil without a model.
func newSubagents(s *setup.Settings, executor *run.Executor, all func() *views) *agents.Sessions {
	c := &s.Config.Agents
	if len(c.Models) == 0 {
		return nil
	}
	return agents.New(agents.Options{
		Store: s.Store, Models: s.Models(), Model: c.Default(), Depth: c.Depth, MaxChildren: c.MaxChildren, Timeout: c.Timeout, Keep: c.Keep, SkillsPerTurn: c.SkillsPerTurn, Budget: c.Budget, Logger: s.Logger,
		Find: func(ctx context.Context, who identity.Principal, name string) (*agents.Agent, error) {
			_, catalog, err := all().catalog(ctx, who)
			if err != nil {
				return nil, err
			}
			return s.Roster.Find(catalog, name)
		},
		Route: func(ctx context.Context, who identity.Principal, task string) string {
			v, _, err := all().catalog(ctx, who)
			if err != nil {
				return ""
			}
			return v.server.AgentFor(ctx, who, task)
		},
		Connect: func(ctx context.Context, who identity.Principal, workspaces []string) (agents.Tools, error) {
			return all().connect(ctx, who, workspaces) // there are no views yet
		},
		Watch: func(ctx context.Context, who identity.Principal) func(context.Context) (bool, error) {
			if who.Kind != identity.Token || !who.Named() {
				return nil
			}
			return s.Tokens.Watch(ctx, who.ID)
		},
		Hook: func(ctx context.Context, who identity.Principal, event, field string, fields map[string]any) string {
			return s.Sandboxes.Hooks.Event(ctx, run.Hooked(ctx, executor, &run.Call{Principal: who}), event, field, fields)
		},
	})
}

// spawnable returns the function for the agents that the clients of a view may spawn; nil is
// none, whatever there is.
func spawnable(s *setup.Settings, k viewKey) func(*skills.Catalog) []*agents.Role {
	chain := k.principal().Agents
	if len(chain) >= s.Config.Agents.Depth {
		return nil
	}
	return func(catalog *skills.Catalog) []*agents.Role { return s.Roster.Spawnable(chain, catalog) }
}

// catalog returns the view of a principal, with its catalog once there is one.
func (s *views) catalog(ctx context.Context, who identity.Principal) (*view, *skills.Catalog, error) {
	v, err := s.of(ctx, who)
	if err != nil {
		return nil, nil, err
	}
	catalog, err := v.server.Await(ctx)
	return v, catalog, err
}

// connect returns the tools of the session of an agent, whose view stays until they are closed.
func (s *views) connect(ctx context.Context, who identity.Principal, workspaces []string) (agents.Tools, error) {
	v, leave, err := s.enter(ctx, who)
	if err != nil {
		return nil, err
	}
	local, err := v.server.Connect(ctx, who, workspaces, leave)
	if err != nil {
		leave()
		return nil, err
	}
	return local, nil
}
