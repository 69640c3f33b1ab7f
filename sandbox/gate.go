package sandbox

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// gate hands out slots. Clients that wait take turns: first groups of them, then
// the clients of a group; of one client's calls the first comes first.
//
// Nobody starves: a client moves behind the others only when it gets a slot, and
// its group with it, so one whose turn is put off, because it or its skill has all
// it may have, comes to the front and is first when that changes.
type gate struct {
	slots Slots

	mu      sync.Mutex
	tenants map[Tenant]int // commands running; entries are never zero
	skills  map[string]int // the same, by skill
	total   int            // sum of each
	waiting int            // sum of the lines' waiters
	lines   []*line        // none is empty; whose turn it is, is first
}

// groupOf returns t without its connection: clients of one group take turns as one.
func groupOf(t Tenant) Tenant {
	t.Connection = ""
	return t
}

// line is the queue of one client.
type line struct {
	tenant  Tenant
	waiters []*waiter
}

type waiter struct {
	skill string
	ready chan error // has room for the one answer: nil, or why there is no slot
}

func newGate(slots Slots) *gate {
	return &gate{slots: slots, tenants: map[Tenant]int{}, skills: map[string]int{}}
}

// acquire waits for a slot and returns the function that gives it back. It
// calls queued, without blocking others, when there is something to wait for.
func (g *gate) acquire(ctx context.Context, c Tenant, skill string, queued func()) (release func(), err error) {
	release = sync.OnceFunc(func() { g.release(c, skill) })
	w, err := g.enter(c, skill)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return release, nil
	}
	queued()
	select {
	case err := <-w.ready:
		if err != nil {
			return nil, err
		}
		return release, nil
	case <-ctx.Done():
		g.leave(c, w)
		select {
		case err := <-w.ready: // at the same moment
			if err == nil {
				release()
			}
		default:
		}
		return nil, context.Cause(ctx)
	}
}

// enter takes a slot, or else a place in the client's line, which is returned.
func (g *gate) enter(c Tenant, skill string) (*waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.line(c)
	if own == nil && g.admits(c, skill) {
		g.take(c, skill)
		return nil, nil
	}
	if g.waiting >= g.slots.Queue && !g.makeRoom(c) {
		return nil, ErrBusy
	}
	if own == nil {
		own = &line{tenant: c}
		g.lines = append(g.lines, own)
	}
	w := &waiter{skill, make(chan error, 1)}
	own.waiters = append(own.waiters, w)
	g.waiting++
	return w, nil
}

// makeRoom sends away the last of the longest line of the group that waits for
// most, where that is for more than c's group will, or, in its own, than c will:
// neither one client alone fills the queue, nor one program with many connections.
func (g *gate) makeRoom(c Tenant) bool {
	groups := map[Tenant]int{groupOf(c): 1} // waiters, with c's
	own := 1
	for _, l := range g.lines {
		groups[groupOf(l.tenant)] += len(l.waiters)
		if l.tenant == c {
			own += len(l.waiters)
		}
	}
	longest := slices.MaxFunc(g.lines, func(a, b *line) int {
		return cmp.Or(groups[groupOf(a.tenant)]-groups[groupOf(b.tenant)], len(a.waiters)-len(b.waiters))
	})
	switch {
	case groupOf(longest.tenant) == groupOf(c) && len(longest.waiters) <= own:
		return false
	case groups[groupOf(longest.tenant)] <= groups[groupOf(c)] && groupOf(longest.tenant) != groupOf(c):
		return false
	}
	last := longest.waiters[len(longest.waiters)-1]
	last.ready <- ErrBusy
	g.remove(longest, last)
	return true
}

// leave takes w out of its line, if it is still there.
func (g *gate) leave(c Tenant, w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if own := g.line(c); own != nil && slices.Contains(own.waiters, w) {
		g.remove(own, w)
		g.admit() // whoever stood behind it may be able to go
	}
}

func (g *gate) release(c Tenant, skill string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	decrement(g.tenants, c)
	decrement(g.skills, skill)
	g.admit()
}

// admit gives slots to those who may have one, in turn, until nobody may.
func (g *gate) admit() {
	for {
		i := slices.IndexFunc(g.lines, func(l *line) bool { return g.admits(l.tenant, l.waiters[0].skill) })
		if i < 0 {
			return
		}
		own := g.lines[i]
		first := own.waiters[0]
		g.take(own.tenant, first.skill)
		first.ready <- nil
		g.defers(own)
		g.remove(own, first)
	}
}

// defers puts a line's next turn after those of all others, and its group's after
// those of other groups.
func (g *gate) defers(own *line) {
	place := func(l *line) int {
		switch {
		case l == own:
			return 2
		case groupOf(l.tenant) == groupOf(own.tenant):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(g.lines, func(a, b *line) int { return place(a) - place(b) })
}

func (g *gate) remove(own *line, w *waiter) {
	own.waiters = slices.DeleteFunc(own.waiters, func(other *waiter) bool { return other == w })
	g.waiting--
	if len(own.waiters) == 0 {
		g.lines = slices.DeleteFunc(g.lines, func(l *line) bool { return l == own })
	}
}

// line returns the client's line, or nil where it has none.
func (g *gate) line(c Tenant) *line {
	if i := slices.IndexFunc(g.lines, func(l *line) bool { return l.tenant == c }); i >= 0 {
		return g.lines[i]
	}
	return nil
}

func (g *gate) admits(c Tenant, skill string) bool {
	return g.total < g.slots.Total && g.tenants[c] < g.slots.PerCaller && g.skills[skill] < g.slots.PerSkill
}

func (g *gate) take(c Tenant, skill string) {
	g.total++
	g.tenants[c]++
	g.skills[skill]++
}

func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
