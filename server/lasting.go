package server

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/tasks"
	"github.com/skillsmcp/skills-mcp/skills"
)

// patience is when a call becomes a task, for clients that know tasks. Most calls
// end before, and cost one request; clients give up on what is silent for a
// minute, and a model can do something else meanwhile.
const patience = 5 * time.Second

// lasting answers a call with a task where it takes long, or the skill says so,
// for clients that know tasks.
func (s *Server) lasting(r *request, task skills.Task, handle handler) (*mcp.CallToolResult, error) {
	switch {
	case tasks.Declared(r.ctx):
	case task == skills.TaskRequired && mcpserver.IsModernRequest(r.ctx):
		return nil, tasks.Undeclared()
	case task == skills.TaskRequired: // its protocol has neither the tasks nor that error
		return nil, &run.Error{Code: run.Unavailable, Message: "this skill is run for clients that know the tasks of MCP 2026-07-28 only; use one of these"}
	default:
		return handle(r)
	}
	c := tasks.Call{Owner: r.principal.Key(), Patience: patience, Round: r.retry.MultiRoundTripParams}
	if task != skills.TaskLong {
		c.Patience = 0
	}
	return s.tasks.Do(r.ctx, c, func(ctx context.Context, t *tasks.Task, round mcp.MultiRoundTripParams) (*mcp.CallToolResult, error) {
		own := *r // which goes on when r is answered
		own.ctx, own.task, own.retry.MultiRoundTripParams = ctx, t, round
		result, err := handle(&own)
		if err != nil {
			return s.refused(err)
		}
		return result, nil
	})
}
