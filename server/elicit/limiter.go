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

// A WaitError is the error of a script that waited too long for an answer, or asked too
// much.
type WaitError struct{ why string }

func (e *WaitError) Error() string { return e.why }

// A WaitLimiter bounds the scripts that wait for answers. They hold no slot meanwhile,
// but a process each, so there are few.
type WaitLimiter struct {
	limits Limits

	mu      sync.Mutex
	waiting []*waiter // the oldest first
}

type waiter struct {
	owner identity.Key
	end   context.CancelCauseFunc
}

// NewWaitLimiter returns a limiter; zero fields are those of [DefaultLimits].
func NewWaitLimiter(l Limits) *WaitLimiter { return &WaitLimiter{limits: l.Or(DefaultLimits())} }

// Enter counts an owner's call as waiting, until leave is called. The context ends, with
// a [*WaitError], when it has waited too long, or is the oldest of too many.
func (r *WaitLimiter) Enter(ctx context.Context, owner identity.Key) (_ context.Context, leave func()) {
	ctx, timer := context.WithTimeoutCause(ctx, r.limits.Wait, &WaitError{fmt.Sprintf("nobody answered it within %s", r.limits.Wait)})
	ctx, end := context.WithCancelCause(ctx)
	p := &waiter{owner, end}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, p)
	r.evict(func(other *waiter) bool { return other.owner == owner }, r.limits.PerCaller)
	r.evict(func(*waiter) bool { return true }, r.limits.Total)
	return ctx, func() {
		end(nil)
		timer()
		r.remove(p)
	}
}

// evict ends the oldest of the waiters of a kind, if there are more than most.
func (r *WaitLimiter) evict(which func(*waiter) bool, most int) {
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
