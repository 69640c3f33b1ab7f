package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/work"
)

var (
	// ErrCancelled is the cause in the context of a task that its client has cancelled.
	ErrCancelled = fmt.Errorf("the client has cancelled the task: %w", context.Canceled)
	errLeft      = fmt.Errorf("the client has left: %w", context.Canceled)
)

// A Task is a call that may outlive its request. The client knows of it once it is kept.
type Task struct {
	work.Unit
	age      time.Duration       // for which it is kept after its last change
	ending   ending              // of a call that was never kept; valid when it is over
	shown    func([]byte) []byte // of the call
	detached bool                // likewise
	stored   chan struct{}       // closed when the other servers can find it, after it is kept

	mu      sync.Mutex // guards the fields below
	known   known
	status  Status
	message string
	updated time.Time
	result  json.RawMessage // of a completed task
	failed  *rpc.Error      // of a failed one
	read    func()          // of [Task.OnRead], until it is called

	questions *elicit.PendingCall // of the work, once it has asked
	round     int                 // the number of the question that keys are of
	keys      map[string]string   // of its requests, by those that the client knows
	used      map[string]bool     // all keys that the client ever got
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

// OnRead has read called, once, when the client gets the result of the task, or other servers
// can give it.
func (t *Task) OnRead(read func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read = read
}

// hasRead calls the function of [Task.OnRead].
func (t *Task) hasRead() {
	t.mu.Lock()
	read := t.read
	t.read = nil
	t.mu.Unlock()
	if read != nil {
		read()
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

// size returns the number of bytes of the result.
func (t *Task) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.result)
}

// Asks has the task show the questions of a call to the client from now on. It reports false
// if the client does not know the task, and never will; so does a nil task.
func (t *Task) Asks(questions *elicit.PendingCall) bool {
	if t == nil || !t.decide(never) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.questions, t.message, t.updated = questions, "", time.Now()
	return true
}

// pending returns the requests that wait for an answer, by keys that the client got for
// no other one: the work may use one twice. The caller holds the mutex.
func (t *Task) pending() mcp.InputRequests {
	if t.questions == nil || t.status != Working {
		return nil
	}
	round, requests, err := t.questions.Pending()
	if err != nil { // the work checks what it asks
		return nil
	}
	if round != t.round {
		t.round, t.keys = round, map[string]string{}
		for key := range requests {
			t.keys[t.fresh(key)] = key
		}
	}
	all := mcp.InputRequests{}
	for known, key := range t.keys {
		if request, waits := requests[key]; waits {
			all[known] = request
		}
	}
	return all
}

// fresh returns the client's key for a key of the work.
func (t *Task) fresh(key string) string {
	known := key
	for i := 2; t.used[known]; i++ {
		known = fmt.Sprintf("%s-%d", key, i)
	}
	t.used[known] = true
	return known
}

// answer passes answers to pending requests on, and ignores others. An answer that does not
// fit is asked for again.
func (t *Task) answer(responses mcp.InputResponses) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answers := mcp.InputResponses{}
	for known := range t.pending() {
		if response, given := responses[known]; given {
			answers[t.keys[known]] = response
			delete(t.keys, known)
		}
	}
	if len(answers) == 0 {
		return
	}
	for _, key := range t.questions.Answer(answers) {
		t.keys[t.fresh(key)] = key // clients answer no key twice
	}
	t.updated = time.Now()
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
	case errors.Is(cause, ErrCancelled):
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

// ended returns all fields with a verdict.
func (t *Task) ended(v verdict) wire {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.base()
	w.Status, w.StatusMessage, w.Updated, w.Result = v.status, v.message, stamp(time.Now()), v.result
	if v.failed != nil {
		w.Error = &wireError{v.failed.Code, v.failed.Message, v.failed.Data}
	}
	return w
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
		TTL: (t.updated.Sub(t.Began) + t.age).Milliseconds(), Poll: poll.Milliseconds(), shown: t.shown,
	}
}

// detailed returns all fields of the task's status.
func (t *Task) detailed() wire {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.base()
	w.InputRequests, w.Result = t.pending(), t.result
	if len(w.InputRequests) > 0 {
		w.Status = InputRequired
	}
	if t.failed != nil {
		w.Error = &wireError{t.failed.Code, t.failed.Message, t.failed.Data}
	}
	return w
}

// typeTask is the result type of a new task.
const typeTask mcp.ResultType = "task"
