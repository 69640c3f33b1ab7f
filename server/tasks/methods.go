package tasks

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/rpc"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// poll is how long clients are asked to wait before they look again: a call that
// became a task has taken some seconds already.
const poll = time.Second

// wire is a task as clients see it: the base of the extension's Task, and what
// its statuses add.
type wire struct {
	ResultType    mcp.ResultType    `json:"resultType,omitempty"`
	ID            string            `json:"taskId"`
	Status        Status            `json:"status"`
	StatusMessage string            `json:"statusMessage,omitempty"`
	Created       time.Time         `json:"createdAt"`
	Updated       time.Time         `json:"lastUpdatedAt"`
	TTL           int64             `json:"ttlMs"` // from its creation
	Poll          int64             `json:"pollIntervalMs"`
	InputRequests mcp.InputRequests `json:"inputRequests,omitempty"`
	Result        json.RawMessage   `json:"result,omitempty"`
	Error         *wireError        `json:"error,omitempty"`
}

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// typeTask is the result type of a new task.
const typeTask mcp.ResultType = "task"

// handle is a new task, as it answers the request.
func (t *Task) handle() wire {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.base()
	w.ResultType, w.Status = typeTask, Working
	return w
}

// base is what is known of a task whatever its status is.
func (t *Task) base() wire {
	return wire{
		ID: t.id, Status: t.status, StatusMessage: t.message, Created: stamp(t.created), Updated: stamp(t.updated),
		TTL: (t.updated.Sub(t.created) + t.age).Milliseconds(), Poll: poll.Milliseconds(),
	}
}

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// detailed is a task with what belongs to its status.
func (t *Task) detailed() wire {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.base()
	w.InputRequests, w.Result = maps.Clone(t.pending), t.result
	if t.failed != nil {
		w.Error = &wireError{t.failed.Code, t.failed.Message, t.failed.Data}
	}
	return w
}

// Methods are those of the extension. owner returns who makes a request.
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
			t.cancel(errCancelled) // which does nothing to one that has ended
			return struct{}{}
		}),
	}
}

// params are those of all methods.
type params struct {
	TaskID         string             `json:"taskId"`
	InputResponses mcp.InputResponses `json:"inputResponses"` // of tasks/update
}

// asked is the task that a request is about.
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
