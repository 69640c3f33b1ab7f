package installation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// An Action is a kind of [Order].
type Action string

// The actions.
const (
	Check     Action = "check" // ask the sources for newer versions
	Install   Action = "install"
	Update    Action = "update"
	Rollback  Action = "rollback"
	Uninstall Action = "uninstall"
)

// An Order asks for a change of the installed skills of one target.
type Order struct {
	Action  Action
	Project string   // its folder; "" is the person's data folder
	Source  string   // as a person writes it, to install from
	Names   []string // skills of the source to install, else paths of entries in the lock; none is all
}

// Patience bounds the wait for a person's answer.
const Patience = 10 * time.Minute

const (
	maxActive = 3  // operations that have not ended
	maxEnded  = 16 // whose results are remembered
)

// Operations are the orders that one server carries out in the background. They may be
// used concurrently.
type Operations struct {
	work   func(context.Context, *Operation) error
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	all     []*Operation // the oldest first; guarded by mu
	version int          // of the states; guarded by mu
	workers sync.WaitGroup
}

// NewOperations returns no operations yet. Work carries out an order; it must return when
// ctx is done, with everything closed that it has fetched. The caller calls Close.
func NewOperations(work func(ctx context.Context, o *Operation) error) *Operations {
	ctx, cancel := context.WithCancel(context.Background())
	return &Operations{work: work, ctx: ctx, cancel: cancel}
}

// Close ends all operations, and waits for them.
func (a *Operations) Close() {
	a.cancel()
	a.workers.Wait()
}

// Start starts an order.
func (a *Operations) Start(order Order) (*Operation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ctx.Err() != nil:
		return nil, &run.Error{Code: run.Unavailable, Message: "the server ends"}
	case a.active() >= maxActive:
		return nil, &run.Error{Code: run.Busy, Message: fmt.Sprintf("%d operations are under way; answer or stop one of them", maxActive), Retryable: true}
	}
	ctx, cancel := context.WithCancel(a.ctx)
	o := &Operation{ID: rand.Text()[:12], Order: order, Began: time.Now(), cancel: cancel, owner: a}
	a.all = append(a.all, o)
	a.forget()
	a.workers.Go(func() {
		defer cancel()
		o.end(a.work(ctx, o))
	})
	a.version++
	return o, nil
}

// active returns the number of operations that have not ended.
func (a *Operations) active() (n int) {
	for _, o := range a.all {
		if !o.ended() {
			n++
		}
	}
	return n
}

// forget removes the oldest results.
func (a *Operations) forget() {
	surplus := len(a.all) - a.active() - maxEnded
	a.all = slices.DeleteFunc(a.all, func(o *Operation) bool {
		forgotten := surplus > 0 && o.ended()
		if forgotten {
			surplus--
		}
		return forgotten
	})
}

// Version returns a number that each change of an operation makes higher.
func (a *Operations) Version() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.version
}

// All returns the operations, the newest first.
func (a *Operations) All() []*Operation {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Clone(a.all)
	slices.Reverse(all)
	return all
}

// Find returns the operation of an ID.
func (a *Operations) Find(id string) (*Operation, error) {
	for _, o := range a.All() {
		if o.ID == id {
			return o, nil
		}
	}
	return nil, &run.Error{Code: run.NotFound, Message: "there is no such operation; only the last ones are remembered, until the server ends"}
}

// An Operation carries out one order. It may be used concurrently.
type Operation struct {
	ID    string
	Order Order
	Began time.Time

	cancel context.CancelFunc
	owner  *Operations

	mu      sync.Mutex
	state   Snapshot  // guarded by mu
	answers chan bool // has room for one; nil while nothing is asked; guarded by mu
}

// A Snapshot is the state of an operation at one time.
type Snapshot struct {
	Progress string   // of a fetch
	Lines    []string // of results
	Change   *Change  // that waits for an answer; nil if none does
	Ended    time.Time
	Err      error // after the end
}

// Choices returns the skills of the source of which one has to be chosen.
func (s Snapshot) Choices() []source.Choice {
	if choice, ok := errors.AsType[*source.ChoiceError](s.Err); ok {
		return choice.Choices
	}
	return nil
}

// Snapshot returns the state.
func (o *Operation) Snapshot() Snapshot {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.state
	s.Lines = slices.Clone(s.Lines)
	return s
}

// Progress reports the progress of a fetch.
func (o *Operation) Progress(message string) {
	o.update(func(s *Snapshot) { s.Progress = message })
}

// Report adds a line to the result.
func (o *Operation) Report(line string) {
	o.update(func(s *Snapshot) { s.Lines = append(s.Lines, line) })
}

// update changes the state.
func (o *Operation) update(change func(*Snapshot)) {
	o.mu.Lock()
	change(&o.state)
	o.mu.Unlock()
	o.owner.mu.Lock()
	defer o.owner.mu.Unlock()
	o.owner.version++
}

func (o *Operation) ended() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.state.Ended.IsZero()
}

func (o *Operation) end(err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("it was stopped, and nothing more was changed")
	}
	o.update(func(s *Snapshot) { s.Err, s.Ended, s.Progress = err, time.Now(), "" })
}

// Review asks the person whether a change is made, and waits for the answer. Without one
// in [Patience] it is no.
func (o *Operation) Review(ctx context.Context, change *Change) (bool, error) {
	answers := make(chan bool, 1)
	o.update(func(s *Snapshot) { s.Change, s.Progress, o.answers = change, "", answers })
	defer o.update(func(s *Snapshot) { s.Change = nil })
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, errors.New("nobody has answered in time, so nothing was changed; start it again"))
	defer cancel()
	select {
	case accepted := <-answers:
		return accepted, nil
	case <-ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers = nil
	select {
	case accepted := <-answers: // Answer was faster
		return accepted, nil
	default:
		return false, context.Cause(ctx)
	}
}

// Answer accepts the change of a digest, or leaves everything as it is. The error says why
// the answer does not count.
func (o *Operation) Answer(digest string, accept bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.answers == nil:
		return &run.Error{Code: run.InvalidParam, Message: "the operation waits for no answer: somebody has answered, or nobody did in time"}
	case o.state.Change.Digest != digest:
		return &run.Error{Code: run.InvalidParam, Message: "the change is not the one that was shown; look at it again"}
	}
	o.answers <- accept
	o.answers, o.state.Change = nil, nil
	return nil
}

// Stop ends the operation. A change that is being made is made to its end.
func (o *Operation) Stop() { o.cancel() }
