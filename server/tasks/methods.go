package tasks

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// Methods returns the extension's methods. owner returns the principal of a request.
func (s *Store) Methods(owner func(context.Context) identity.Key) map[string]rpc.Method {
	method := func(answer func(t *Task, params params) any) rpc.Method {
		return rpc.Method{Named: "taskId", Handle: func(ctx context.Context, raw json.RawMessage) (any, error) {
			t, params, err := s.asked(ctx, owner(ctx), raw)
			if err != nil {
				return nil, err
			}
			return answer(t, params), nil
		}}
	}
	return map[string]rpc.Method{
		"tasks/get": method(func(t *Task, _ params) any { return t.detailed() }),
		"tasks/update": method(func(t *Task, p params) any {
			t.answer(p.InputResponses)
			return struct{}{}
		}),
		"tasks/cancel": method(func(t *Task, _ params) any {
			t.End(errCancelled) // which does nothing to one that has ended
			return struct{}{}
		}),
	}
}

// params are the params of all methods.
type params struct {
	TaskID         string             `json:"taskId"`
	InputResponses mcp.InputResponses `json:"inputResponses"` // of tasks/update
}

// asked returns the task and the params of a request.
func (s *Store) asked(ctx context.Context, owner identity.Key, raw json.RawMessage) (*Task, params, error) {
	var p params
	switch {
	case !mcpserver.IsModernRequest(ctx):
		return nil, p, &rpc.Error{Code: mcp.METHOD_NOT_FOUND, Message: "tasks are an extension of the protocol of 2026-07-28"}
	case !Declared(ctx):
		return nil, p, Undeclared()
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.TaskID == "" {
		return nil, p, rpc.InvalidParams("the params need a taskId, and inputResponses have to be an object", nil)
	}
	t := s.find(owner, p.TaskID)
	if t == nil {
		return nil, p, rpc.InvalidParams("there is no such task: it has expired, or never was", nil)
	}
	return t, p, nil
}
