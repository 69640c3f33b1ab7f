// Package admission decides when a command may run: a fair queue hands out a
// bounded number of slots. Start with [New], and give the [Queue] to a
// [sandbox.Runner].
package admission

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Slots bound how many commands run at once. A zero field means the default of
// [DefaultSlots]; a zero PerSkill follows Total.
type Slots struct {
	Total     int // commands running, of all tenants
	PerTenant int // commands running for one tenant, or for all tenants of one principal, which never has more than half of Total
	PerSkill  int // commands running of one skill; by default all slots but one
	Queue     int // commands waiting, of all tenants
}

// DefaultSlots returns the slots of a configuration that sets none: two commands
// for each processor.
func DefaultSlots() Slots {
	return Slots{Total: 2 * runtime.NumCPU(), PerTenant: 3, Queue: 32}
}

// or returns s with every zero field taken from d.
func (s Slots) or(d Slots) Slots {
	total := cmp.Or(s.Total, d.Total)
	return Slots{
		Total:     total,
		PerTenant: cmp.Or(s.PerTenant, d.PerTenant),
		PerSkill:  cmp.Or(s.PerSkill, d.PerSkill, max(total-1, 1)), // one skill alone does not lock all others out
		Queue:     cmp.Or(s.Queue, d.Queue),
	}
}

// A Queue hands out slots in fair turns: first groups of tenants take turns, then
// the tenants of a group; the commands of one tenant go first come, first served. The
// tenants of one principal are a group.
//
// Nobody starves. A tenant moves behind the others only when it gets a slot, and its
// group with it. One that is passed over, because it or its skill has all the slots
// it may have, moves to the front and is first when that changes.
type Queue struct {
	slots Slots

	mu      sync.Mutex
	tenants map[sandbox.Tenant]int // slots taken, by payerOf; entries are never zero
	skills  map[string]int         // the same, by skill
	taken   int                    // sum of each
	waiting int                    // waiters of all flows
	flows   []*flow                // none is empty; the next turn is the first's
}

// A flow is the queue of one tenant.
type flow struct {
	tenant  sandbox.Tenant
	waiters []*waiter
}

// A waiter is a command that has no slot yet.
type waiter struct {
	skill   string
	decided chan error // receives once, and never blocks the sender: nil is a slot
}

// New returns a queue for slots, which may be nil.
func New(slots *Slots) *Queue {
	slots = cmp.Or(slots, &Slots{})
	return &Queue{slots: slots.or(DefaultSlots()), tenants: map[sandbox.Tenant]int{}, skills: map[string]int{}}
}

// Admit implements [sandbox.Admission].
func (q *Queue) Admit(ctx context.Context, tenant sandbox.Tenant, skill string, queued func()) (release func(), err error) {
	release = sync.OnceFunc(func() { q.release(tenant, skill) })
	w, err := q.enter(tenant, skill)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return release, nil
	}
	queued()
	select {
	case err := <-w.decided:
		if err != nil {
			return nil, err
		}
		return release, nil
	case <-ctx.Done():
		q.abandon(tenant, w)
		select {
		case err := <-w.decided: // at the same moment
			if err == nil {
				release()
			}
		default:
		}
		return nil, context.Cause(ctx)
	}
}

// Load returns how many commands run and wait, and how many may run.
func (q *Queue) Load() (running, waiting, slots int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken, q.waiting, q.slots.Total
}

// enter takes a slot and returns nil, or returns a new waiter of the tenant.
func (q *Queue) enter(tenant sandbox.Tenant, skill string) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.flow(tenant)
	if own == nil && q.admits(tenant, skill) {
		q.take(tenant, skill)
		return nil, nil
	}
	if q.waiting >= q.slots.Queue && !q.evict(tenant) {
		return nil, sandbox.ErrBusy
	}
	if own == nil {
		own = &flow{tenant: tenant}
		q.flows = append(q.flows, own)
	}
	w := &waiter{skill, make(chan error, 1)}
	own.waiters = append(own.waiters, w)
	q.waiting++
	return w, nil
}

// evict refuses the last waiter of the longest flow of the group with the most
// waiters, and reports whether it did. It does so only where that group then still
// has no fewer waiters than the tenant's group will have, or, within that group, the
// flow no fewer than the tenant's: neither one tenant alone fills the queue, nor one
// program with many connections.
func (q *Queue) evict(tenant sandbox.Tenant) bool {
	groups := map[sandbox.Tenant]int{groupOf(tenant): 1} // waiters, with the tenant's
	own := 1
	for _, f := range q.flows {
		groups[groupOf(f.tenant)] += len(f.waiters)
		if f.tenant == tenant {
			own += len(f.waiters)
		}
	}
	longest := slices.MaxFunc(q.flows, func(a, b *flow) int {
		return cmp.Or(groups[groupOf(a.tenant)]-groups[groupOf(b.tenant)], len(a.waiters)-len(b.waiters))
	})
	most, group := groupOf(longest.tenant), groupOf(tenant)
	switch {
	case most == group && len(longest.waiters) <= own:
		return false
	case most != group && groups[most] <= groups[group]:
		return false
	}
	last := longest.waiters[len(longest.waiters)-1]
	last.decided <- sandbox.ErrBusy
	q.remove(longest, last)
	return true
}

// abandon removes w from its flow, if it is still there.
func (q *Queue) abandon(tenant sandbox.Tenant, w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if own := q.flow(tenant); own != nil && slices.Contains(own.waiters, w) {
		q.remove(own, w)
		q.dispatch() // the waiter behind it may be admissible
	}
}

// release gives a slot back.
func (q *Queue) release(tenant sandbox.Tenant, skill string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	decrement(q.tenants, payerOf(tenant))
	decrement(q.skills, skill)
	q.dispatch()
}

// dispatch gives free slots to waiters in turn, until none may have one.
func (q *Queue) dispatch() {
	for {
		i := slices.IndexFunc(q.flows, func(f *flow) bool { return q.admits(f.tenant, f.waiters[0].skill) })
		if i < 0 {
			return
		}
		own := q.flows[i]
		first := own.waiters[0]
		q.take(own.tenant, first.skill)
		first.decided <- nil
		q.rotate(own)
		q.remove(own, first)
	}
}

// rotate puts a flow's next turn after those of all others, and its group's after
// those of other groups.
func (q *Queue) rotate(own *flow) {
	rank := func(f *flow) int {
		switch {
		case f == own:
			return 2
		case groupOf(f.tenant) == groupOf(own.tenant):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(q.flows, func(a, b *flow) int { return rank(a) - rank(b) })
}

// remove removes a waiter from its flow.
func (q *Queue) remove(own *flow, w *waiter) {
	own.waiters = slices.DeleteFunc(own.waiters, func(other *waiter) bool { return other == w })
	q.waiting--
	if len(own.waiters) == 0 {
		q.flows = slices.DeleteFunc(q.flows, func(f *flow) bool { return f == own })
	}
}

// flow returns the tenant's flow, or nil where nothing of it waits.
func (q *Queue) flow(tenant sandbox.Tenant) *flow {
	if i := slices.IndexFunc(q.flows, func(f *flow) bool { return f.tenant == tenant }); i >= 0 {
		return q.flows[i]
	}
	return nil
}

// admits reports whether a command may have a slot now.
func (q *Queue) admits(tenant sandbox.Tenant, skill string) bool {
	return q.taken < q.slots.Total && q.tenants[payerOf(tenant)] < q.share(tenant) && q.skills[skill] < q.slots.PerSkill
}

// share returns how many slots a tenant may have. With more than half of them, one principal
// would fill the processors, and the slots of a skill that others call too.
func (q *Queue) share(t sandbox.Tenant) int {
	if t.Principal == "" {
		return q.slots.PerTenant
	}
	return min(q.slots.PerTenant, max(q.slots.Total/2, 1))
}

// take counts a slot as taken.
func (q *Queue) take(tenant sandbox.Tenant, skill string) {
	q.taken++
	q.tenants[payerOf(tenant)]++
	q.skills[skill]++
}

// groupOf returns t without its connection, or its principal alone: clients of one group
// take turns as one.
func groupOf(t sandbox.Tenant) sandbox.Tenant {
	t = payerOf(t)
	t.Connection = ""
	return t
}

// payerOf returns the tenant whose slots t takes: its principal, or else t itself.
func payerOf(t sandbox.Tenant) sandbox.Tenant {
	if t.Principal != "" {
		return sandbox.Tenant{Principal: t.Principal}
	}
	return t
}

// decrement counts one less, and deletes an entry that reaches zero.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
