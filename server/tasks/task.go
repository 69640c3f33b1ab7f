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
	"github.com/skillsmcp/skills-mcp/server/work"
)

var (
	errCancelled = fmt.Errorf("the client has cancelled the task: %w", context.Canceled)
	errLeft      = fmt.Errorf("the client has left: %w", context.Canceled)
)

// A Task is a call that may outlive its request. The client knows of it once it is kept.
type Task struct {
	work.Unit
	age    time.Duration // for which it is kept after its last change
	ending ending        // of a call that was never kept; valid when it is over
	size   int           // of the result in the store; guarded by the store's mutex

	gone <-chan struct{} // of Until; used by the work's goroutine alone

	mu      sync.Mutex // guards the fields below
	known   known
	status  Status
	message string
	updated time.Time
	result  json.RawMessage // of a completed task
	failed  *rpc.Error      // of a failed one

	asked    map[string]string // the work's keys, by those that the client knows; all there ever were
	pending  mcp.InputRequests // by the client's keys
	put      time.Time         // when the client first got them; zero is not yet
	answers  mcp.InputResponses
	answered chan struct{} // closed when nothing is pending
}

// known says whether a client knows of a task.
type known int

const (
	undecided known = iota // the request still waits
	kept                   // the task was the answer to the request
	never                  // the result is the answer to the request
)

// An ending is the final result of work, or its error.
type ending struct {
	result *mcp.CallToolResult
	err    error
}

func newTask(owner identity.Key, age time.Duration) *Task {
	return &Task{Unit: work.Unit{ID: rand.Text(), By: owner}, updated: time.Now(), age: age, status: Working, asked: map[string]string{}}
}

// Say sets the status message. A nil task ignores it.
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

// decide sets whether the client knows the task, unless that is decided, and reports
// whether it does.
func (t *Task) decide(as known) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == undecided {
		t.known = as
	}
	return t.known == kept
}

// end sets the outcome of a task.
func (t *Task) end(v verdict) {
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

// ask puts requests to the client. It reports false if the client does not know the task.
func (t *Task) ask(requests mcp.InputRequests) bool {
	if !t.decide(never) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending, t.answers, t.answered = mcp.InputRequests{}, mcp.InputResponses{}, make(chan struct{})
	for key, request := range requests {
		t.pending[t.fresh(key)] = request
	}
	t.status, t.message, t.updated, t.put = InputRequired, "", time.Now(), time.Time{}
	if len(t.pending) == 0 {
		close(t.answered)
	}
	return true
}

// fresh returns the client's key for a key of work. The client's are unique for the life
// of the task, and work may use one twice.
func (t *Task) fresh(key string) string {
	known := key
	for i := 2; t.asked[known] != ""; i++ {
		known = fmt.Sprintf("%s-%d", key, i)
	}
	t.asked[known] = key
	return known
}

// answer stores the answers to pending requests, and ignores others.
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

// Until ends the wait for answers when gone is closed: work is then called again with the
// answers so far. Only work may call it, for the result that it returns. A nil task
// ignores it.
func (t *Task) Until(gone <-chan struct{}) {
	if t != nil {
		t.gone = gone
	}
}

// Put returns when the client first got the last requests to it; zero is never, or of a nil
// task.
func (t *Task) Put() time.Time {
	if t == nil {
		return time.Time{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.put
}

// wait waits for the answers to the requests. It returns the answers so far if gone is
// closed or ctx ends.
func (t *Task) wait(ctx context.Context) mcp.InputResponses {
	select {
	case <-t.answered:
	case <-t.gone:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status, t.pending = Working, nil
	return maps.Clone(t.answers)
}

// A verdict is the outcome of a task.
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

// failure returns the verdict for an error of the protocol; a skill's errors are results.
func failure(err error) verdict {
	failed, ok := errors.AsType[*rpc.Error](err)
	if !ok {
		failed = &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: err.Error()}
	}
	return verdict{status: Failed, message: err.Error(), failed: failed}
}

// handle returns a new task as the answer to its request.
func (t *Task) handle() wire {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.base()
	w.ResultType, w.Status = typeTask, Working
	return w
}

// base returns the fields that do not depend on the status.
func (t *Task) base() wire {
	return wire{
		ID: t.ID, Status: t.status, StatusMessage: t.message, Created: stamp(t.Began), Updated: stamp(t.updated),
		TTL: (t.updated.Sub(t.Began) + t.age).Milliseconds(), Poll: poll.Milliseconds(),
	}
}

// detailed returns all fields of the task's status.
func (t *Task) detailed() wire {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pending) > 0 && t.put.IsZero() {
		t.put = time.Now()
	}
	w := t.base()
	w.InputRequests, w.Result = maps.Clone(t.pending), t.result
	if t.failed != nil {
		w.Error = &wireError{t.failed.Code, t.failed.Message, t.failed.Data}
	}
	return w
}

// typeTask is the result type of a new task.
const typeTask mcp.ResultType = "task"
