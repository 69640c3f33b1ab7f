// Package tasks lets a call outlive its request: a client that declares the extension
// io.modelcontextprotocol/tasks (SEP-2663) gets a task in place of a result that takes
// long, and polls it.
//
// Start with [New] and [Store.Do]; clients use [Store.Methods].
package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/rpc"
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
	life    *sandbox.Lifetime // ended by Close; all work has joined it

	mu    sync.Mutex
	tasks map[string]*Task // by id
	order []*Task          // the oldest first
	bytes int              // of results
}

// New returns an empty store. Options may be nil.
func New(options *Options) *Store {
	s := &Store{life: sandbox.NewLifetime(), tasks: map[string]*Task{}}
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

// Work handles a call. If its result asks for input, it is called again with the state of
// that result and the answers. Its context outlives the request. When the context has
// ended, nobody waits for the result, and work has to release the run of its state.
type Work func(ctx context.Context, t *Task, round mcp.MultiRoundTripParams) (*mcp.CallToolResult, error)

// A Call is one that may become a task.
type Call struct {
	Owner    identity.Key  // of the task: nobody else finds it
	Patience time.Duration // for which the request waits; 0 is none
	// Round is the state and the answers in the client's request, for the first call
	// of work.
	Round mcp.MultiRoundTripParams
}

// Do runs work and returns its result. If that takes longer than the call's patience and
// there is room for a task, the error is an [*rpc.Other] with the new task. A result that
// comes before may ask for input.
func (s *Store) Do(ctx context.Context, c Call, work Work) (*mcp.CallToolResult, error) {
	working, leave, err := s.life.Join(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	t := newTask(c.Owner, s.options.Age)
	working, t.cancel = context.WithCancelCause(working)
	unlink := context.AfterFunc(ctx, func() { t.cancel(context.Cause(ctx)) })
	defer unlink()
	kept := c.Patience == 0 && s.keep(t)
	go func() { // life waits for it
		defer leave()
		defer t.cancel(nil)
		s.work(working, t, c.Round, work)
	}()
	if kept || s.outlasts(ctx, t, c.Patience) {
		return nil, &rpc.Other{Result: t.handle()}
	}
	return t.ending.result, t.ending.err
}

// outlasts waits until a call has ended or has become a task, and reports the latter.
func (s *Store) outlasts(ctx context.Context, t *Task, patience time.Duration) bool {
	select {
	case <-t.done:
		return false
	case <-ctx.Done():
	case <-time.After(patience):
		if s.keep(t) {
			return true
		}
	}
	<-t.done
	return false
}

// work calls work until it has a final result, or asks a client that has no task.
func (s *Store) work(ctx context.Context, t *Task, round mcp.MultiRoundTripParams, work Work) {
	for {
		result, err := s.guarded(ctx, t, round, work)
		if err != nil || !result.NeedsInput() || ctx.Err() != nil || !t.ask(result.InputRequests) {
			s.end(t, ending{result, err}, context.Cause(ctx))
			return
		}
		round = mcp.MultiRoundTripParams{RequestState: result.RequestState, InputResponses: t.wait(ctx)}
	}
}

// guarded calls work and recovers its panic, which in a goroutine of ours would end the
// server.
func (s *Store) guarded(ctx context.Context, t *Task, round mcp.MultiRoundTripParams, work Work) (result *mcp.CallToolResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.options.Logger.Error("panic in a call", "panic", p, "stack", string(debug.Stack()))
			result, err = nil, &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: "internal error"}
		}
	}()
	result, err = work(ctx, t, round)
	if result == nil && err == nil {
		err = fmt.Errorf("the call has no result")
	}
	return result, err
}

// Leave ends and removes the tasks of an owner that has left. It does not wait.
func (s *Store) Leave(owner identity.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tasks {
		if t.owner == owner {
			t.cancel(errLeft)
			s.remove(t)
		}
	}
}

// Close ends all tasks and waits for them.
func (s *Store) Close() { s.life.End() }

// keep makes a call a task. It reports false if the call has ended already, or there are
// too many tasks.
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

// end ends a call, for its request or as a task.
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

// hold counts a result of size bytes, and evicts the oldest if there is no room. It
// reports false for one that is larger than all the room.
func (s *Store) hold(t *Task, size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks[t.id] != t {
		return true // it was removed
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

// expire removes tasks that have ended and are too old.
func (s *Store) expire() {
	for _, t := range slices.Clone(s.order) {
		if ended, updated := t.ended(); ended && time.Since(updated) >= s.options.Age {
			s.remove(t)
		}
	}
}

// evict removes the oldest task that has ended, if possible one of the owner's own. It
// reports false if there is none.
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
