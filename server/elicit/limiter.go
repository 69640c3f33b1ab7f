package elicit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Limits bound how scripts wait for answers. A zero field means the default of
// [DefaultLimits].
type Limits struct {
	Wait      time.Duration // for one answer
	Total     int           // scripts that wait, of all principals
	PerCaller int           // scripts that wait, of one principal
}

// DefaultLimits returns the limits of a configuration that says nothing.
func DefaultLimits() Limits { return Limits{Wait: 5 * time.Minute, Total: 16, PerCaller: 4} }

// Or returns l with every zero field taken from d.
func (l Limits) Or(d Limits) Limits {
	if l.Wait == 0 {
		l.Wait = d.Wait
	}
	if l.Total == 0 {
		l.Total = d.Total
	}
	if l.PerCaller == 0 {
		l.PerCaller = d.PerCaller
	}
	return l
}

// A WaitError ends a script that waited for an answer.
type WaitError struct{ why string }

func (e *WaitError) Error() string { return e.why }

// A WaitLimiter is where scripts wait for answers. They hold no slot there, but a
// process each, so there is room for a few.
type WaitLimiter struct {
	limits Limits

	mu      sync.Mutex
	waiting []*waiter // the oldest first
}

type waiter struct {
	owner identity.Key
	end   context.CancelCauseFunc
}

// NewWaitLimiter returns a room; zero fields are those of [DefaultLimits].
func NewWaitLimiter(l Limits) *WaitLimiter { return &WaitLimiter{limits: l.Or(DefaultLimits())} }

// enter lets an owner's script wait, with a context that ends when it has waited
// for too long, or when others need the room: the oldest goes first.
func (r *WaitLimiter) enter(ctx context.Context, owner identity.Key) (_ context.Context, leave func()) {
	ctx, timer := context.WithTimeoutCause(ctx, r.limits.Wait, &WaitError{fmt.Sprintf("nobody answered it within %s", r.limits.Wait)})
	ctx, end := context.WithCancelCause(ctx)
	p := &waiter{owner, end}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, p)
	r.makeRoom(func(other *waiter) bool { return other.owner == owner }, r.limits.PerCaller)
	r.makeRoom(func(*waiter) bool { return true }, r.limits.Total)
	return ctx, func() {
		end(nil)
		timer()
		r.remove(p)
	}
}

// makeRoom ends the oldest of some where they are more than most.
func (r *WaitLimiter) makeRoom(which func(*waiter) bool, most int) {
	count := 0
	for _, p := range r.waiting {
		if which(p) {
			count++
		}
	}
	if count <= most {
		return
	}
	i := slices.IndexFunc(r.waiting, which)
	r.waiting[i].end(&WaitError{fmt.Sprintf("more than %d calls wait for an answer, and it waited the longest", most)})
	r.waiting = slices.Delete(r.waiting, i, i+1)
}

func (r *WaitLimiter) remove(p *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(other *waiter) bool { return other == p })
}
