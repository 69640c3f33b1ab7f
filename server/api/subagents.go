package api

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// Subagents has the sessions of subagents, as [agents.Sessions] does.
type Subagents interface {
	// All returns the sessions of an owner, those of everybody for nil, that have a status
	// ("" is any): the newest first, without messages. It may leave out old ones that have
	// ended.
	All(ctx context.Context, owner *identity.Key, status agents.Status) ([]*agents.Session, error)
	// Find returns a session with the end of its conversation, in short messages that name
	// calls in their text, whoever owns it; nil if there is none.
	Find(ctx context.Context, runID string) (*agents.Session, error)
	// Stop ends a session and its descendants, as sessions_kill does. One that has ended
	// stays as it is.
	Stop(ctx context.Context, runID string) error
}

// A subagentQuery selects subagents.
type subagentQuery struct {
	Status agents.Status `json:"status,omitempty"`
}

// A SubagentService has the operations on subagents.
type SubagentService struct{ options *Options }

// SubagentsOf returns the subagents of a service.
func SubagentsOf(s *Service) SubagentService { return SubagentService{&s.options} }

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

func subagentOperations() []operation {
	const example = `{"run_id":"0123456789ab","child_agent_id":"team/reviewer","parent_session_key":"token/ann//1","parent_agent_id":"","task":"Review the last commit.","label":"review","status":"running","depth":1,"cleanup":"keep","created_at":"2026-01-31T15:04:00Z","timeout_seconds":300,"root":"token/ann//1","owner":"token/ann","budget":{"turns":50},"used":{"turns":3,"tokens":5120,"cost":0.02}`
	return []operation{
		{
			method: "GET", path: "subagents", id: "listSubagents", does: "List subagents, the newest first, without messages: a person and skills:admin see all, another principal its own", query: subagentQuery{}, result: List[*agents.Session]{},
			answer: `{"items":[` + example + `}]}`,
			serve: func(x *exchange) (any, error) {
				var q subagentQuery
				return take(x, &q, func() (any, error) { return list(SubagentsOf(x.service).List(x.request.Context(), q.Status)) })
			},
		},
		{
			method: "GET", path: "subagents/{id}", id: "getSubagent", does: "Get a subagent with its messages and the IDs of its children", result: agents.Session{},
			answer: example + `,"children":["ba9876543210"],"messages":[{"role":"user","text":"Review the last commit."}]}`,
			serve: func(x *exchange) (any, error) {
				return SubagentsOf(x.service).Find(x.request.Context(), x.request.PathValue("id"))
			},
		},
		{
			method: "DELETE", path: "subagents/{id}", id: "stopSubagent", does: "End a subagent and its descendants", scope: identity.ScopeRun, status: http.StatusNoContent,
			serve: func(x *exchange) (any, error) {
				return nil, SubagentsOf(x.service).Stop(x.request.Context(), x.request.PathValue("id"))
			},
		},
	}
}
