// Package tasks lets a call outlive its request: a client that declares the extension
// io.modelcontextprotocol/tasks (SEP-2663) gets a task in place of a result that takes
// long, and polls it.
//
// Start with [New] and [Store.Do]; clients use [Store.Methods].
package tasks

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/work"
)

// Extension is the name of the extension, as servers and clients declare it.
const Extension = "io.modelcontextprotocol/tasks"

// Options bound a [Store]. A zero field means its default.
type Options struct {
	Count int           // tasks; 512
	Bytes int           // of results; 64 MiB
	Age   time.Duration // how long a task is kept after its last change; 1 hour
	// Logger gets panics; nil discards them.
	Logger *slog.Logger
}

// A Store has the tasks of all principals. It may be used concurrently, and has to be
// closed.
type Store struct {
	options Options
	running *work.Registry[*Task] // also those that no client knows

	mu    sync.Mutex
	tasks []*Task // that clients know, the oldest first
	bytes int     // of results
}

// New returns an empty store. Options may be nil.
func New(options *Options) *Store {
	s := &Store{running: work.New[*Task](work.Limits{})}
	if options != nil {
		s.options = *options
	}
	o := &s.options
	if o.Count == 0 {
		o.Count = 512
	}
	if o.Bytes == 0 {
		o.Bytes = 64 << 20
	}
	if o.Age == 0 {
		o.Age = time.Hour
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return s
}

// Declared reports whether the client declares the extension in this request; earlier
// ones do not count.
func Declared(ctx context.Context) bool {
	info := mcpserver.RequestProtocolInfoFromContext(ctx)
	if info == nil || !info.Modern || info.ClientCapabilities == nil {
		return false
	}
	_, declared := info.ClientCapabilities.Extensions[Extension]
	return declared
}

// Undeclared returns the error for a request that needs the extension.
func Undeclared() *rpc.Error {
	return &rpc.Error{
		Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Message: "the client has to declare the extension " + Extension,
		Data: map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{Extension: struct{}{}}}},
	}
}

// Work handles a call. Its context outlives the request; when it has ended, nobody waits
// for the result. If [Task.Asks] has refused its questions, its result asks for input.
type Work func(ctx context.Context, t *Task) (*mcp.CallToolResult, error)

// A Call is one that may become a task.
type Call struct {
	Owner    identity.Key  // of the task: nobody else finds it
	Patience time.Duration // for which the request waits; 0 is none
}

// Do runs work and returns its result. If that takes longer than the call's patience and
// there is room for a task, the error is an [*rpc.Other] with the new task. A result that
// comes before may ask for input.
func (s *Store) Do(ctx context.Context, c Call, do Work) (*mcp.CallToolResult, error) {
	t := newTask(c.Owner, s.options.Age)
	kept := make(chan bool, 1)
	err := s.running.Start(ctx, t, func(working context.Context) {
		kept <- c.Patience == 0 && s.keep(t) // before it ends
		result, err := work.Guard(s.options.Logger, func() (*mcp.CallToolResult, error) { return do(working, t) })
		if result == nil && err == nil {
			err = errors.New("the call has no result")
		}
		s.end(t, ending{result, err}, context.Cause(working))
	})
	if err != nil {
		return nil, err
	}
	unlink := context.AfterFunc(ctx, func() { t.End(context.Cause(ctx)) })
	defer unlink()
	if <-kept || s.outlasts(ctx, t, c.Patience) {
		return nil, &rpc.Other{Result: t.handle()}
	}
	return t.ending.result, t.ending.err
}

// outlasts waits until a call has ended or has become a task, and reports the latter.
func (s *Store) outlasts(ctx context.Context, t *Task, patience time.Duration) bool {
	select {
	case <-t.Done():
		return false
	case <-ctx.Done():
	case <-time.After(patience):
		if s.keep(t) {
			return true
		}
	}
	<-t.Done()
	return false
}

// Leave ends and removes the tasks of an owner that has left. It does not wait.
func (s *Store) Leave(owner identity.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range slices.Clone(s.tasks) {
		if t.By == owner {
			t.End(errLeft)
			s.remove(t)
		}
	}
}

// Close ends all tasks and waits for them.
func (s *Store) Close() { s.running.Close() }

// keep makes a call a task. It reports false if the call has ended already, or there are
// too many tasks.
func (s *Store) keep(t *Task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if len(s.tasks) >= s.options.Count && !s.evict(t.By) || !t.decide(kept) {
		return false
	}
	s.tasks = append(s.tasks, t)
	return true
}

// end ends a call, for its request or as a task.
func (s *Store) end(t *Task, e ending, cause error) {
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

// hold counts a result of size bytes, and evicts the oldest if there is no room. It
// reports false for one that is larger than all the room.
func (s *Store) hold(t *Task, size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.tasks, t) {
		return true // it was removed
	}
	s.expire()
	for s.bytes+size > s.options.Bytes {
		if !s.evict(t.By) {
			return false
		}
	}
	t.size = size
	s.bytes += size
	return true
}

// expire removes tasks that have ended and are too old.
func (s *Store) expire() {
	for _, t := range slices.Clone(s.tasks) {
		if ended, updated := t.ended(); ended && time.Since(updated) >= s.options.Age {
			s.remove(t)
		}
	}
}

// evict removes the oldest task that has ended, if possible one of the owner's own. It
// reports false if there is none.
func (s *Store) evict(owner identity.Key) bool {
	var oldest *Task
	for _, t := range slices.Backward(s.tasks) {
		ended, _ := t.ended()
		if ended && (oldest == nil || t.By == owner || oldest.By != owner) {
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
	s.tasks = slices.DeleteFunc(s.tasks, func(other *Task) bool { return other == t })
	s.bytes -= t.size
	t.size = 0
}

// find returns an owner's task, or nil.
func (s *Store) find(owner identity.Key, id string) *Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	i := slices.IndexFunc(s.tasks, func(t *Task) bool { return t.ID == id && t.By == owner })
	if i < 0 {
		return nil
	}
	return s.tasks[i]
}
