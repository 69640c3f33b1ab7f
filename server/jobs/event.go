package jobs

import (
	"encoding/json"
	"time"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// A State is the progress of a job.
type State string

// The states of a job.
const (
	Running State = "running"
	Asking  State = "asking" // it waits for an answer of the person
	Ended   State = "ended"
)

// The kinds of an [Event].
const (
	Progress = "progress"
	Stdout   = "stdout"
	Stderr   = "stderr"
	Asked    = "question"
	Answered = "answer"
	End      = "end"
	// Dropped stands for events that are not kept: its Text says which.
	Dropped = "dropped"
)

// An Event is a step of a job.
type Event struct {
	Seq  int       `json:"seq"` // from 1
	At   time.Time `json:"at"`
	Kind string    `json:"kind" jsonschema:"enum=progress,enum=stdout,enum=stderr,enum=question,enum=answer,enum=dropped,enum=end"`
	Text string    `json:"text,omitempty"`
	// Count is the progress that a script counts; nil is another message.
	Count *Count `json:"progress,omitempty"`
	// Question is the question that waits for an answer, or the ID alone of the answered
	// one, for these kinds.
	Question *Question `json:"question,omitempty"`
}

// A Count is the part of a script's work that is done: 0 ≤ Done ≤ Total, and Total > 0.
type Count struct {
	Done  float64 `json:"done"`
	Total float64 `json:"total"`
}

// size returns the bytes of an event that are counted.
func (e *Event) size() int {
	if e.Question == nil {
		return len(e.Text)
	}
	return len(e.Text) + len(e.Question.Message)
}

// A Question waits for an answer of the person who started a job. It has a Form or an
// Approval.
type Question struct {
	ID string `json:"id"` // unique within the job
	// Message and Form have the shapes of MCP's form elicitation: Form is a flat JSON Schema.
	Message string          `json:"message,omitempty"`
	Form    json.RawMessage `json:"form,omitempty"`
	// Approval asks to confirm the run itself, or a call of its script.
	Approval *approval.Question `json:"approval,omitempty"`
}

// An Answer answers a [Question].
type Answer struct {
	Action  string          `json:"action"`            // "accept", "decline" or "cancel"
	Content json.RawMessage `json:"content,omitempty"` // of a form
	Scope   approval.Scope  `json:"scope,omitempty"`   // of an approval that is accepted
}

// A Snapshot is the state of a job at one time.
type Snapshot struct {
	State     State         `json:"state,omitempty"`
	Events    []Event       `json:"events,omitempty"`
	Questions []Question    `json:"questions,omitempty"`
	Result    *result.Run   `json:"result,omitempty"` // after the end of a run that has started
	Err       *run.Error    `json:"error,omitempty"`  // after the end
	Took      time.Duration `json:"-"`                // until now, or until the end
}
