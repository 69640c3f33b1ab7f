// Package tasks lets a call outlive its request: a client that declares the extension
// io.modelcontextprotocol/tasks (SEP-2663) gets a task in place of a result that takes
// long, and polls it.
//
// Start with [New] and [Store.Do]; clients use [Store.Methods].
package tasks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/replica"
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
	// Replicas are the servers that share the tasks; nil are none.
	Replicas *replica.Set
}

// A Store has the tasks of all principals. It may be used concurrently, and has to be
// closed.
type Store struct {
	options Options
	calls   *work.Registry[*Task] // those under way, and the tasks that clients know

	mu sync.Mutex // held while a result is made room for
}

// New returns an empty store. Options may be nil.
func New(options *Options) *Store {
	s := &Store{}
	if options != nil {
		s.options = *options
	}
	o := &s.options
	o.Count = cmp.Or(o.Count, 512)
	o.Bytes = cmp.Or(o.Bytes, 64<<20)
	o.Age = cmp.Or(o.Age, time.Hour)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	s.calls = work.New[*Task](work.Limits{Known: o.Count, Age: o.Age})
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
	Message  string        // the first status message; may be ""
	// Shown changes the JSON of the task that its client gets; may be nil.
	Shown func(task []byte) []byte
	// Detached work goes on when its task ends: [Store.Drain] waits for none.
	Detached bool
}

// Do runs work and returns its result. If that takes longer than the call's patience, the
// error is an [*rpc.Other] with a new task. A result that comes before may ask for input.
func (s *Store) Do(ctx context.Context, c Call, do Work) (*mcp.CallToolResult, error) {
	t := &Task{Unit: work.Unit{ID: s.options.Replicas.Name(rand.Text()), By: c.Owner}, updated: time.Now(), age: s.options.Age, stored: make(chan struct{}), shown: c.Shown, detached: c.Detached, status: Working, message: c.Message, used: map[string]bool{}}
	atOnce := make(chan bool, 1) // it is a task
	err := s.calls.Start(ctx, t, func(working context.Context) {
		atOnce <- c.Patience == 0 && t.decide(kept) // before it ends
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
	if <-atOnce || outlasts(ctx, t, c.Patience) {
		s.keep(ctx, t)
		return nil, &rpc.Other{Result: t.handle()}
	}
	return t.ending.result, t.ending.err
}

// outlasts waits until a call has ended or has become a task, and reports the latter.
func outlasts(ctx context.Context, t *Task, patience time.Duration) bool {
	select {
	case <-t.Done():
		return false
	case <-ctx.Done():
	case <-time.After(patience):
		if t.decide(kept) {
			return true
		}
	}
	<-t.Done()
	return false
}

// Leave ends and removes the tasks of an owner that has left. It does not wait.
func (s *Store) Leave(owner identity.Key) {
	for _, t := range s.calls.All() {
		if t.By == owner {
			t.End(errLeft)
			s.calls.Forget(t)
		}
	}
}

// errStopping is the error of a detached task: nobody could read a result that comes now.
var errStopping = errors.New("the server is stopping: the next one announces the result")

// Drain starts no more calls, and returns when those under way have ended, or ctx has.
func (s *Store) Drain(ctx context.Context) {
	for _, t := range s.calls.All() {
		if t.detached {
			t.End(errStopping)
		}
	}
	s.calls.Drain(ctx)
}

// Close ends all tasks and waits for them.
func (s *Store) Close() { s.calls.Close() }

// end ends a call, for its request or as a task.
func (s *Store) end(t *Task, e ending, cause error) {
	if !t.decide(never) {
		t.ending = e
		s.calls.Forget(t)
		return
	}
	v := s.settle(t, judge(e, cause))
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.makeRoom(t, len(v.result)) {
		v = failure(errors.New("the result is larger than what is kept of all tasks"))
	}
	t.end(v)
}

const (
	// maxShared is the longest task that outlives its server, in bytes of JSON.
	maxShared = 1 << 20
	// longest is the time for which the row of a task that has not ended is kept.
	longest = 7 * 24 * time.Hour
)

// errEnded is the error of a task whose server has ended before it.
var errEnded = errors.New("its server has ended before it; it may have run: look at its effects before you call it again")

// keep stores a task for the other servers, before the client knows of it.
func (s *Store) keep(ctx context.Context, t *Task) {
	defer close(t.stored)
	if s.options.Replicas == nil {
		return
	}
	w := t.handle()
	w.ResultType = ""
	body, err := json.Marshal(w)
	if err == nil {
		err = s.options.Replicas.Tasks().Keep(ctx, t.ID, t.By, time.Now().Add(longest), body)
	}
	if err != nil {
		s.options.Logger.Warn("a task will be lost with this server", "error", err)
	}
}

// settle stores the verdict on a task for the other servers, and returns the one that counts:
// another server may have taken this one for ended.
func (s *Store) settle(t *Task, v verdict) verdict {
	<-t.stored
	if s.options.Replicas == nil {
		return v
	}
	body, err := json.Marshal(t.ended(v))
	if err == nil && len(body) > maxShared {
		return v
	}
	counts := true
	if err == nil {
		counts, err = s.options.Replicas.Tasks().End(context.Background(), t.ID, time.Now().Add(s.options.Age), body)
	}
	if err != nil {
		s.options.Logger.Warn("the end of a task will be lost with this server", "error", err)
	}
	switch {
	case !counts:
		return failure(errEnded)
	case err == nil && v.result != nil:
		t.hasRead()
	}
	return v
}

// makeRoom forgets the oldest results as long as there is no room for one of size bytes. It
// reports false for one that is larger than all the room.
func (s *Store) makeRoom(t *Task, size int) bool {
	for s.bytes()+size > s.options.Bytes {
		if !s.calls.Evict(t.By) {
			return false
		}
	}
	return true
}

// bytes returns the size of all results.
func (s *Store) bytes() (sum int) {
	for _, t := range s.calls.All() {
		sum += t.size()
	}
	return sum
}

// find returns an owner's task, or nil.
func (s *Store) find(owner identity.Key, id string) *Task {
	t, found := s.calls.Find(id)
	if !found || t.By != owner || !t.decide(undecided) { // which decides nothing
		return nil
	}
	return t
}
