package installation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/work"
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
	maxEnded  = 16 // and those that are remembered
)

// Operations are the orders that one server carries out in the background. They may be
// used concurrently.
type Operations struct {
	*work.Registry[*Operation]
	carryOut func(context.Context, *Operation) error
	version  atomic.Int64 // of the states
}

// NewOperations returns no operations yet. carryOut carries out an order; it must return
// when ctx is done, with everything closed that it has fetched. The caller calls Close.
func NewOperations(carryOut func(ctx context.Context, o *Operation) error) *Operations {
	return &Operations{Registry: work.New[*Operation](work.Limits{Running: maxActive, Known: maxActive + maxEnded, Age: 24 * time.Hour}), carryOut: carryOut}
}

// Start starts an order.
func (a *Operations) Start(order Order) (*Operation, error) {
	o := &Operation{Unit: work.Unit{ID: rand.Text()[:12]}, Order: order, owner: a}
	err := a.Registry.Start(context.Background(), o, func(ctx context.Context) { o.end(a.carryOut(ctx, o)) })
	switch {
	case errors.Is(err, work.ErrRunning):
		return nil, &run.Error{Code: run.Busy, Message: fmt.Sprintf("%d operations are under way; answer or stop one of them", maxActive), Retryable: true}
	case err != nil:
		return nil, &run.Error{Code: run.Unavailable, Message: "the server ends"}
	}
	a.version.Add(1)
	return o, nil
}

// Version returns a number that each change of an operation makes higher.
func (a *Operations) Version() int { return int(a.version.Load()) }

// Find returns the operation of an ID.
func (a *Operations) Find(id string) (*Operation, error) {
	if o, found := a.Registry.Find(id); found {
		return o, nil
	}
	return nil, &run.Error{Code: run.NotFound, Message: "there is no such operation; only the last ones are remembered, until the server ends"}
}

// An Operation carries out one order. It may be used concurrently.
type Operation struct {
	work.Unit
	Order Order

	owner *Operations

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
	o.owner.version.Add(1)
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
func (o *Operation) Stop() { o.End(context.Canceled) }
