package elicit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	return Limits{cmp.Or(l.Wait, d.Wait), cmp.Or(l.Total, d.Total), cmp.Or(l.PerCaller, d.PerCaller)}
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
	skill string
	end   context.CancelCauseFunc
}

// NewWaitLimiter returns a limiter; zero fields are those of [DefaultLimits].
func NewWaitLimiter(l Limits) *WaitLimiter { return &WaitLimiter{limits: l.Or(DefaultLimits())} }

// Enter counts an owner's call of a skill as waiting, until leave is called. The context
// ends, with a [*WaitError], when it has waited too long, or is the oldest of too many: of
// the skill of which most of the owner's wait, and of the owner of whom most of all do.
func (r *WaitLimiter) Enter(ctx context.Context, owner identity.Key, skill string) (_ context.Context, leave func()) {
	ctx, timer := context.WithTimeoutCause(ctx, r.limits.Wait, &WaitError{fmt.Sprintf("nobody answered it within %s", r.limits.Wait)})
	ctx, end := context.WithCancelCause(ctx)
	p := &waiter{owner, skill, end}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, p)
	r.evict(func(other *waiter) (string, bool) { return other.skill, other.owner == owner }, r.limits.PerCaller)
	r.evict(func(other *waiter) (string, bool) { return string(other.owner), true }, r.limits.Total)
	return ctx, func() {
		end(nil)
		timer()
		r.remove(p)
	}
}

// evict ends the oldest waiter of the largest group, if there are more than most that have
// a group: nobody's questions displace another's, who asks less.
func (r *WaitLimiter) evict(group func(*waiter) (string, bool), most int) {
	count, sizes := 0, map[string]int{}
	for _, p := range r.waiting {
		if name, counts := group(p); counts {
			sizes[name]++
			count++
		}
	}
	if count <= most {
		return
	}
	largest := slices.Max(slices.Collect(maps.Values(sizes)))
	i := slices.IndexFunc(r.waiting, func(p *waiter) bool {
		name, counts := group(p)
		return counts && sizes[name] == largest
	})
	r.waiting[i].end(&WaitError{fmt.Sprintf("more than %d calls wait for an answer, and it waited the longest", most)})
	r.waiting = slices.Delete(r.waiting, i, i+1)
}

func (r *WaitLimiter) remove(p *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(other *waiter) bool { return other == p })
}
