// Package jobs holds runs that outlive the request that started them: their output as it
// comes, their questions to the person, and their results. The REST API and the page share
// them; each run has the ID of the record.
//
// Start with [New] and [Jobs.Start].
package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// A State says how far a job has come.
type State string

// The states of a job.
const (
	Running State = "running"
	Asking  State = "asking" // it waits for an answer of the person
	Ended   State = "ended"
)

// A Job is one run. Its methods may be used concurrently.
type Job struct {
	ID    string // of the run
	Skill string // the qualified name
	Owner identity.Principal
	Began time.Time
}

// An Event is a step of a job.
type Event struct {
	Seq  int       `json:"seq"` // from 1
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // "progress", "stdout", "stderr", "question", "answer" or "end"
	Text string    `json:"text,omitempty"`
	// Question is the question that waits for an answer, for that kind.
	Question *Question `json:"question,omitempty"`
}

// A Question waits for an answer of the person who started a job. It has a Form or an
// Approval.
type Question struct {
	ID string `json:"id"`
	// Message and Form are those of MCP's form elicitation: the form is a flat JSON Schema.
	Message string          `json:"message,omitempty"`
	Form    json.RawMessage `json:"form,omitempty"`
	// Approval asks to confirm the run itself, or a call of its script.
	Approval *approval.Question `json:"approval,omitempty"`
}

// An Answer answers a [Question].
type Answer struct {
	Action  string          `json:"action"`            // "accept", "decline" or "cancel"
	Content json.RawMessage `json:"content,omitempty"` // of a form
	Scope   approval.Scope  `json:"scope,omitempty"`   // of an approval
}

// A Snapshot is the state of a job at one time.
type Snapshot struct {
	State     State         `json:"state"`
	Events    []Event       `json:"events"`
	Questions []Question    `json:"questions,omitempty"`
	Result    *result.Run   `json:"result,omitempty"` // after the end of a run that has started
	Err       *run.Error    `json:"error,omitempty"`  // after the end
	Took      time.Duration `json:"-"`
}

// A Runner runs one call to its end.
type Runner func(ctx context.Context, request run.Request) (*result.Run, error)

// Jobs are the runs of one server. They may be used concurrently.
type Jobs struct{}

// New returns no jobs yet. Close ends them.
func New(run Runner) *Jobs { panic("TODO") }

// Start starts a run, which goes on when ctx ends. With ask it may ask its person.
func (j *Jobs) Start(ctx context.Context, request run.Request, ask bool) (*Job, error) { panic("TODO") }

// Find returns the job of an ID, or nil.
func (j *Jobs) Find(id string) *Job { panic("TODO") }

// Close ends all jobs and waits for them.
func (j *Jobs) Close() { panic("TODO") }

// Confirm implements [approval.Terminal] for the runs of jobs: the question becomes one of
// the job. It returns an error for the call of another context.
func (j *Jobs) Confirm(ctx context.Context, q *approval.Question) (approval.Scope, error) {
	panic("TODO")
}

// Snapshot returns the events after one of a number, with the state.
func (j *Job) Snapshot(after int) Snapshot { panic("TODO") }

// Wait returns when there is an event after one of a number, or the job has ended, or ctx
// is done.
func (j *Job) Wait(ctx context.Context, after int) error { panic("TODO") }

// Answer answers a question. The error says why it does not count.
func (j *Job) Answer(id string, a Answer) error { panic("TODO") }

// Cancel ends the run.
func (j *Job) Cancel() { panic("TODO") }
