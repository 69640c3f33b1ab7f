// Package work runs work that outlives the request that started it, within bounds: calls
// that became tasks or wait for an answer, runs of the REST API and the page, and changes
// of the installed skills.
//
// Start with [New]; a type of work embeds a [Unit].
package work

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A Unit is the part that all kinds of work have. Its methods may be used concurrently
// once it was started.
type Unit struct {
	ID    string
	By    identity.Key // who started it
	Began time.Time    // set by [Registry.Start]

	cancel context.CancelCauseFunc // ends its context
	done   chan struct{}           // closed when it has ended
	ended  time.Time               // valid after done
}

func (u *Unit) unit() *Unit { return u }

// End ends the context of the work, with a cause. It does not wait.
func (u *Unit) End(cause error) { u.cancel(cause) }

// Done returns a channel that is closed when the work has ended.
func (u *Unit) Done() <-chan struct{} { return u.done }

// Over reports whether the work has ended.
func (u *Unit) Over() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

// Limits bound the work of a [Registry]. A zero field bounds nothing, but where Known is
// zero nothing that has ended is remembered.
type Limits struct {
	Running, Owned int           // that run, in all and of one owner
	Known          int           // that run or have ended; of these see [Registry.Evict]
	Age            time.Duration // for which those that have ended are remembered
}

// A Registry holds the work of one kind. It may be used concurrently.
type Registry[T interface{ unit() *Unit }] struct {
	limits Limits
	life   *sandbox.Lifetime // ended by Close; all work has joined it

	mu     sync.Mutex
	all    []T  // the oldest first
	drains bool // no more is started
}

// New returns a registry without work, which has to be closed.
func New[T interface{ unit() *Unit }](l Limits) *Registry[T] {
	return &Registry[T]{limits: l, life: sandbox.NewLifetime()}
}

var (
	// ErrOwned is returned for work of an owner who has too much that runs.
	ErrOwned = errors.New("too much work of one owner runs")
	// ErrRunning is returned for work where too much runs.
	ErrRunning = errors.New("too much work runs")
)

// Start runs work, which goes on when ctx ends, and until its own context does. The error
// is [ErrOwned], [ErrRunning] or [sandbox.ErrClosed].
func (r *Registry[T]) Start(ctx context.Context, one T, do func(ctx context.Context)) error {
	ctx, leave, err := r.life.Join(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	u := one.unit()
	ctx, u.cancel = context.WithCancelCause(ctx)
	u.Began, u.done = time.Now(), make(chan struct{})
	if err := r.admit(one); err != nil {
		u.cancel(nil)
		leave()
		return err
	}
	go func() { // life waits for it
		defer leave()
		defer u.cancel(nil)
		defer close(u.done)
		do(ctx)
		u.ended = time.Now()
		if r.limits.Known == 0 {
			r.Forget(one)
		}
	}()
	return nil
}

// admit adds work, if there is room.
func (r *Registry[T]) admit(one T) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drains {
		return sandbox.ErrClosed
	}
	running, owned := 0, 0
	for _, other := range r.all {
		if u := other.unit(); !u.Over() {
			running++
			if u.By == one.unit().By {
				owned++
			}
		}
	}
	switch l := r.limits; {
	case l.Owned > 0 && owned >= l.Owned:
		return ErrOwned
	case l.Running > 0 && running >= l.Running:
		return ErrRunning
	}
	for r.limits.Known > 0 && len(r.all) >= r.limits.Known && r.evict(one.unit().By) {
	}
	r.all = append(r.all, one)
	return nil
}

// Forget forgets work, which may still run.
func (r *Registry[T]) Forget(one T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(other T) bool { return other.unit() == one.unit() })
}

// Evict forgets the oldest work that has ended, if possible some of an owner. It reports
// false if there is none.
func (r *Registry[T]) Evict(owner identity.Key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.evict(owner)
}

// evict is Evict while the mutex is held.
func (r *Registry[T]) evict(owner identity.Key) bool {
	oldest := -1
	for i, one := range r.all {
		if u := one.unit(); u.Over() && (oldest < 0 || u.By == owner && r.all[oldest].unit().By != owner) {
			oldest = i
		}
	}
	if oldest >= 0 {
		r.all = slices.Delete(r.all, oldest, oldest+1)
	}
	return oldest >= 0
}

// Find returns the work of an ID; found is false without one.
func (r *Registry[T]) Find(id string) (one T, found bool) {
	for _, one := range r.All() {
		if one.unit().ID == id {
			return one, true
		}
	}
	return one, false
}

// All returns the work, the newest first.
func (r *Registry[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(one T) bool { return one.unit().Over() && time.Since(one.unit().ended) >= r.limits.Age })
	all := slices.Clone(r.all)
	slices.Reverse(all)
	return all
}

// Leave ends the work of an owner, with a cause. It does not wait.
func (r *Registry[T]) Leave(owner identity.Key, cause error) {
	for _, one := range r.All() {
		if one.unit().By == owner {
			one.unit().End(cause)
		}
	}
}

// Drain starts no more work, and returns when that under way has ended, or ctx has.
func (r *Registry[T]) Drain(ctx context.Context) {
	r.mu.Lock()
	r.drains = true
	r.mu.Unlock()
	for _, one := range r.All() {
		select {
		case <-one.unit().done:
		case <-ctx.Done():
		}
	}
}

// Close ends all work and waits for it.
func (r *Registry[T]) Close() { r.life.End() }

// ErrPanic is returned for work that has panicked.
var ErrPanic = errors.New("internal error; the log of the server has it")

// Guard calls a function and recovers its panic, which in a goroutine of ours would end the
// server.
func Guard[R any](logger *slog.Logger, do func() (R, error)) (result R, err error) {
	defer func() {
		if p := recover(); p != nil {
			logger.Error("panic in a call", "panic", p, "stack", string(debug.Stack()))
			err = ErrPanic
		}
	}()
	return do()
}
