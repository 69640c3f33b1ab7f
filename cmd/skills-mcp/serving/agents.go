package serving

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// newSubagents returns the sessions of agents, which act in the views; nil without a model.
func (b *Backend) newSubagents(executor *run.Executor) *agents.Sessions {
	s, c := b.settings, &b.settings.Config.Agents
	if len(c.Models) == 0 {
		return nil
	}
	return agents.New(agents.Options{
		Store: s.Store, Models: s.Models(), Model: c.Model, Depth: c.Depth, MaxChildren: c.MaxChildren, Timeout: c.Timeout, Keep: c.Keep, SkillsPerTurn: c.SkillsPerTurn, Budget: c.Budget, Logger: s.Logger,
		Find: func(ctx context.Context, who identity.Principal, name string) (*agents.Agent, error) {
			_, catalog, err := b.views.catalog(ctx, who)
			if err != nil {
				return nil, err
			}
			return s.Roster.Find(catalog, name)
		},
		Names: func(ctx context.Context, who identity.Principal) []string {
			_, catalog, err := b.views.catalog(ctx, who)
			if err != nil {
				return nil
			}
			return s.Roster.Spawnable(who.Agents, catalog)
		},
		Route: func(ctx context.Context, who identity.Principal, task string) string {
			v, _, err := b.views.catalog(ctx, who)
			if err != nil {
				return ""
			}
			return v.server.AgentFor(ctx, who, task)
		},
		Connect: func(ctx context.Context, who identity.Principal, workspaces []string) (agents.Tools, error) {
			return b.views.connect(ctx, who, workspaces) // there are no views yet
		},
		Hook: func(ctx context.Context, who identity.Principal, event string, fields map[string]any) map[string]any {
			return s.Sandboxes.Hooks.Event(ctx, run.Hooked(ctx, executor, who), event, fields)
		},
	})
}

// spawnable returns the function for the agents that the clients of a view may spawn; nil is
// none, whatever there is.
func (b *Backend) spawnable(k viewKey) func(*skills.Catalog) []string {
	chain := k.principal().Agents
	if len(chain) >= b.settings.Config.Agents.Depth {
		return nil
	}
	return func(catalog *skills.Catalog) []string { return b.settings.Roster.Spawnable(chain, catalog) }
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
	local, err := v.server.Connect(ctx, who, workspaces)
	if err != nil {
		leave()
		return nil, err
	}
	return viewTools{local, leave}, nil
}

// viewTools are tools in a view.
type viewTools struct {
	*server.Local
	leave func()
}

// Close implements [agents.Tools].
func (t viewTools) Close() {
	t.Local.Close()
	t.leave()
}
