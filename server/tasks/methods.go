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
	// elsewhere answers for a task of another server; nil has that server's task as the answer.
	method := func(elsewhere any, answer func(t *Task, params params) any) rpc.Method {
		return rpc.Method{Named: "taskId", Announces: true, Handle: func(ctx context.Context, raw json.RawMessage) (any, error) {
			params, err := read(ctx, raw)
			if err != nil {
				return nil, err
			}
			if t := s.find(owner(ctx), params.TaskID); t != nil {
				return answer(t, params), nil
			}
			return s.elsewhere(ctx, owner(ctx), params.TaskID, elsewhere)
		}}
	}
	return map[string]rpc.Method{
		"tasks/get": method(nil, func(t *Task, _ params) any {
			w := t.detailed()
			if w.Result != nil {
				t.hasRead()
			}
			return w
		}),
		"tasks/update": method(struct{}{}, func(t *Task, p params) any {
			t.answer(p.InputResponses)
			return struct{}{}
		}),
		"tasks/cancel": method(struct{}{}, func(t *Task, _ params) any {
			t.End(ErrCancelled) // which does nothing to one that has ended
			return struct{}{}
		}),
	}
}

// params are the params of all methods.
type params struct {
	TaskID         string             `json:"taskId"`
	InputResponses mcp.InputResponses `json:"inputResponses"` // of tasks/update
}

// read returns the params of a request.
func read(ctx context.Context, raw json.RawMessage) (p params, err error) {
	switch {
	case !mcpserver.IsModernRequest(ctx):
		return p, &rpc.Error{Code: mcp.METHOD_NOT_FOUND, Message: "tasks are an extension of the protocol of 2026-07-28"}
	case !Declared(ctx):
		return p, Undeclared()
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.TaskID == "" {
		return p, rpc.InvalidParams("the params need a taskId, and inputResponses have to be an object", nil)
	}
	return p, nil
}
