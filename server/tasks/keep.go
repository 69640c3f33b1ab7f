package tasks

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/rpc"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// keep makes a call a task. It reports false where the call has ended already,
// or there is no room for it.
func (s *Store) keep(t *Task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if len(s.order) >= s.options.Count && !s.evict(t.owner) || !t.decide(kept) {
		return false
	}
	s.tasks[t.id] = t
	s.order = append(s.order, t)
	return true
}

// end ends a call: for its request, or as a task.
func (s *Store) end(t *Task, e ending, cause error) {
	defer close(t.done)
	if !t.decide(never) {
		t.ending = e
		return
	}
	v := judge(e, cause)
	if !s.hold(t, len(v.result)) {
		v = failure(errors.New("the result is larger than what is kept of all tasks"))
	}
	t.end(v)
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

// hold counts a result of size bytes, in place of the oldest where there is no
// more room.
func (s *Store) hold(t *Task, size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks[t.id] != t {
		return true // nobody asks for it any more
	}
	s.expire()
	for s.bytes+size > s.options.Bytes {
		if !s.evict(t.owner) {
			return false
		}
	}
	t.size = size
	s.bytes += size
	return true
}

// expire forgets what has ended and is too old.
func (s *Store) expire() {
	for _, t := range slices.Clone(s.order) {
		if ended, updated := t.ended(); ended && time.Since(updated) >= s.options.Age {
			s.remove(t)
		}
	}
}

// evict forgets the oldest task that has ended, one of the owner's own if there
// is one.
func (s *Store) evict(owner identity.Key) bool {
	var oldest *Task
	for _, t := range slices.Backward(s.order) {
		ended, _ := t.ended()
		if ended && (oldest == nil || t.owner == owner || oldest.owner != owner) {
			oldest = t
		}
	}
	if oldest == nil {
		return false
	}
	s.remove(oldest)
	return true
}

func (s *Store) remove(t *Task) {
	delete(s.tasks, t.id)
	s.order = slices.DeleteFunc(s.order, func(other *Task) bool { return other == t })
	s.bytes -= t.size
	t.size = 0
}

// find returns an owner's task, or nil.
func (s *Store) find(owner identity.Key, id string) *Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if t := s.tasks[id]; t != nil && t.owner == owner {
		return t
	}
	return nil
}
