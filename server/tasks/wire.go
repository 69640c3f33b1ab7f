package tasks

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Status is the status of a task.
type Status string

// The last three are ends.
const (
	Working       Status = "working"
	InputRequired Status = "input_required"
	Completed     Status = "completed"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
)

// poll is the interval at which clients should poll: a call that became a task has taken
// some seconds already.
const poll = time.Second

// wire is the JSON of a task, with the fields of all statuses.
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

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// A watcher is a subscription to tasks.
type watcher struct {
	send func(method string, params map[string]any)
}

// watchers are the subscriptions to one task.
type watchers struct {
	mu  sync.Mutex // held while they are told; no lock of a task is held then
	all []*watcher
}

// add subscribes w, and sends it the state that it may have missed.
func (ws *watchers) add(w *watcher, state func() wire) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.all = append(ws.all, w)
	if now := state(); now.Status != Working {
		send(now, w)
	}
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.all = slices.DeleteFunc(ws.all, func(other *watcher) bool { return other == w })
}

// tell sends the state after a change. Where it changes again meanwhile, the last
// notice still has the last state: it is read under the lock.
func (ws *watchers) tell(state func() wire) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.all) > 0 {
		send(state(), ws.all...)
	}
}

// send sends a state as notifications/tasks.
func send(state wire, to ...*watcher) {
	encoded, err := json.Marshal(state)
	var fields map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(encoded, &fields)
	}
	if err != nil {
		return // tasks/get says why
	}
	params := map[string]any{}
	for name, value := range fields {
		params[name] = value
	}
	for _, w := range to {
		w.send("notifications/tasks", params)
	}
}
