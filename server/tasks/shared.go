package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// elsewhere answers a request about a task that this server does not hold, with an answer or,
// for nil, the task. The task of a server that has ended fails, once.
func (s *Store) elsewhere(ctx context.Context, owner identity.Key, id string, answer any) (any, error) {
	none := rpc.InvalidParams("there is no such task: it has expired, or never was", nil)
	if s.options.Replicas == nil {
		return nil, none
	}
	body, working, err := s.options.Replicas.Tasks().Find(ctx, id, owner, time.Now().Add(s.options.Age), failed)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find the task: %w", err)
	case body == nil:
		return nil, none
	case working && answer != nil:
		return nil, &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: "the server of this task cannot be reached: try again"}
	case answer != nil:
		return answer, nil
	}
	return json.RawMessage(body), nil
}

// failed returns the JSON of a task whose server has ended.
func failed(body []byte) ([]byte, error) {
	var w wire
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, err
	}
	v := failure(errEnded)
	w.Status, w.StatusMessage, w.Updated, w.Error = v.status, v.message, stamp(time.Now()), &wireError{v.failed.Code, v.failed.Message, v.failed.Data}
	return json.Marshal(w)
}
