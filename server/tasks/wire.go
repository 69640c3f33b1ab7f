package tasks

import (
	"encoding/json"
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

	shown func([]byte) []byte // of the call; nil changes nothing
}

// MarshalJSON returns the task as its client gets it.
func (w wire) MarshalJSON() ([]byte, error) {
	type plain wire
	encoded, err := json.Marshal(plain(w))
	if err == nil && w.shown != nil {
		encoded = w.shown(encoded)
	}
	return encoded, err
}

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
