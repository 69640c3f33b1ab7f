package tasks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
)

var (
	errCancelled = fmt.Errorf("the client has cancelled the task: %w", context.Canceled)
	errLeft      = fmt.Errorf("the client has left: %w", context.Canceled)
)

// A Task is a call that may outlive its request. It is one that a client knows
// once it is kept.
type Task struct {
	id      string
	owner   identity.Key
	created time.Time
	age     time.Duration           // how long it is kept after its last change
	cancel  context.CancelCauseFunc // ends its work
	done    chan struct{}           // closed at its end
	ending  ending                  // of a call that was never kept; valid after done
	size    int                     // of the result in the store; guarded by the store's mutex

	gone <-chan struct{} // of Until; used by the work's goroutine alone

	watchers watchers

	mu      sync.Mutex // guards what follows; no other lock is taken under it
	known   known
	status  Status
	message string
	updated time.Time
	result  json.RawMessage // of a completed task
	failed  *rpc.Error      // of a failed one

	asked    map[string]string // the work's keys, by those that the client knows; all there ever were
	pending  mcp.InputRequests // by the client's keys
	answers  mcp.InputResponses
	answered chan struct{} // closed when nothing is pending
}

// known is whether a client knows of a task.
type known int

const (
	undecided known = iota // the request waits for the end, or for the task
	kept                   // it does, and has no other answer
	never                  // the request is answered by the end
)

// ending is what work returned at last.
type ending struct {
	result *mcp.CallToolResult
	err    error
}

func newTask(owner identity.Key, age time.Duration) *Task {
	now := time.Now()
	return &Task{
		id: newID(), owner: owner, created: now, updated: now, age: age,
		done: make(chan struct{}), status: Working, asked: map[string]string{},
	}
}

// Say tells the client what the work is at. A nil task tells nobody.
func (t *Task) Say(message string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status == Working {
		t.message = message
		t.updated = time.Now()
	}
}

// decide makes a task known or not, if that is open, and reports whether it is
// known then.
func (t *Task) decide(as known) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == undecided {
		t.known = as
	}
	return t.known == kept
}

// end says how a task has ended.
func (t *Task) end(v verdict) {
	defer t.watchers.tell(t.detailed)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status, t.message, t.result, t.failed, t.updated = v.status, v.message, v.result, v.failed, time.Now()
}

// ended reports whether a task has ended, and when it last changed.
func (t *Task) ended() (ended bool, updated time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status != Working && t.status != InputRequired, t.updated
}

// ask has the client find a question, unless it does not know the task.
func (t *Task) ask(requests mcp.InputRequests) bool {
	if !t.decide(never) {
		return false
	}
	defer t.watchers.tell(t.detailed)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending, t.answers, t.answered = mcp.InputRequests{}, mcp.InputResponses{}, make(chan struct{})
	for key, request := range requests {
		t.pending[t.fresh(key)] = request
	}
	t.status, t.message, t.updated = InputRequired, "", time.Now()
	if len(t.pending) == 0 {
		close(t.answered)
	}
	return true
}

// fresh returns what the client knows a key by: one key is one question in all
// the life of a task, where work may ask twice by the same.
func (t *Task) fresh(key string) string {
	known := key
	for i := 2; t.asked[known] != ""; i++ {
		known = fmt.Sprintf("%s-%d", key, i)
	}
	t.asked[known] = key
	return known
}

// answer takes the answers that somebody waits for, and leaves the others.
func (t *Task) answer(responses mcp.InputResponses) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pending) == 0 {
		return
	}
	for key, response := range responses {
		if _, waits := t.pending[key]; waits {
			t.answers[t.asked[key]] = response
			delete(t.pending, key)
			t.updated = time.Now()
		}
	}
	if len(t.pending) == 0 {
		t.status = Working
		close(t.answered)
	}
}

// Until has the work called again, with what was answered, when gone is closed:
// what it asks for next is not waited for any longer. It is for work to call, while
// it is called itself. A nil task does nothing.
func (t *Task) Until(gone <-chan struct{}) {
	if t != nil {
		t.gone = gone
	}
}

// wait waits for the answers to a question. There may be fewer than were asked for
// when it is too late for them, or the task is over.
func (t *Task) wait(ctx context.Context) mcp.InputResponses {
	select {
	case <-t.answered:
	case <-t.gone:
	case <-ctx.Done():
	}
	defer t.watchers.tell(t.detailed)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status, t.pending = Working, nil
	return maps.Clone(t.answers)
}

// A verdict is how a task has ended.
type verdict struct {
	status  Status
	message string
	result  json.RawMessage
	failed  *rpc.Error
}

func judge(e ending, cause error) verdict {
	switch {
	case errors.Is(cause, errCancelled):
		return verdict{status: Cancelled, message: "the client has cancelled it"}
	case e.err != nil:
		return failure(e.err)
	}
	result := *e.result
	result.ResultType = mcp.ResultTypeComplete // as mcp-go marks the results of requests
	encoded, err := json.Marshal(result)
	if err != nil {
		return failure(err)
	}
	return verdict{status: Completed, result: encoded}
}

// failure is for errors of the protocol: those of a skill are results.
func failure(err error) verdict {
	failed, ok := errors.AsType[*rpc.Error](err)
	if !ok {
		failed = &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: err.Error()}
	}
	return verdict{status: Failed, message: err.Error(), failed: failed}
}

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

// typeTask is the result type of a new task.
const typeTask mcp.ResultType = "task"

// newID returns an id that nobody guesses: over HTTP, who has it has the task.
func newID() string { return rand.Text() }
