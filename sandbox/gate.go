package sandbox

import (
	"context"
	"slices"
	"sync"
)

// gate hands out slots. Callers that wait take turns; of one caller's calls the
// first comes first.
//
// Nobody starves: a caller moves behind the others only when it gets a slot, so
// one whose turn is put off, because it or its skill has all it may have, comes
// to the front and is first when that changes.
type gate struct {
	slots Slots

	mu      sync.Mutex
	callers map[string]int // commands running; entries are never zero
	skills  map[string]int // the same, by skill
	total   int            // sum of each
	waiting int            // sum of the lines' waiters
	lines   []*line        // none is empty; whose turn it is, is first
}

// line is what one caller waits for.
type line struct {
	caller  string
	waiters []*waiter
}

type waiter struct {
	skill string
	ready chan error // has room for the one answer: nil, or why there is no slot
}

func newGate(slots Slots) *gate {
	return &gate{slots: slots, callers: map[string]int{}, skills: map[string]int{}}
}

// acquire waits for a slot and returns the function that gives it back. It
// calls queued, without blocking others, when there is something to wait for.
func (g *gate) acquire(ctx context.Context, caller, skill string, queued func()) (release func(), err error) {
	release = sync.OnceFunc(func() { g.release(caller, skill) })
	w, err := g.enter(caller, skill)
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
		g.leave(caller, w)
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

// enter takes a slot, or else a place in the caller's line, which is returned.
func (g *gate) enter(caller, skill string) (*waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.line(caller)
	if own == nil && g.admits(caller, skill) {
		g.take(caller, skill)
		return nil, nil
	}
	if g.waiting >= g.slots.Queue && !g.makeRoom(own) {
		return nil, ErrBusy
	}
	if own == nil {
		own = &line{caller: caller}
		g.lines = append(g.lines, own)
	}
	w := &waiter{skill, make(chan error, 1)}
	own.waiters = append(own.waiters, w)
	g.waiting++
	return w, nil
}

// makeRoom sends away the last of the longest line, where that is longer than
// own will be: one caller alone does not fill the queue.
func (g *gate) makeRoom(own *line) bool {
	longest := slices.MaxFunc(g.lines, func(a, b *line) int { return len(a.waiters) - len(b.waiters) })
	would := 1
	if own != nil {
		would += len(own.waiters)
	}
	if len(longest.waiters) <= would {
		return false
	}
	last := longest.waiters[len(longest.waiters)-1]
	last.ready <- ErrBusy
	g.remove(longest, last)
	return true
}

// leave takes w out of its line, if it is still there.
func (g *gate) leave(caller string, w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if own := g.line(caller); own != nil && slices.Contains(own.waiters, w) {
		g.remove(own, w)
		g.admit() // whoever stood behind it may be able to go
	}
}

func (g *gate) release(caller, skill string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	decrement(g.callers, caller)
	decrement(g.skills, skill)
	g.admit()
}

// admit gives slots to those who may have one, in turn, until nobody may.
func (g *gate) admit() {
	for {
		i := slices.IndexFunc(g.lines, func(l *line) bool { return g.admits(l.caller, l.waiters[0].skill) })
		if i < 0 {
			return
		}
		own := g.lines[i]
		first := own.waiters[0]
		g.take(own.caller, first.skill)
		first.ready <- nil
		g.lines = append(slices.Delete(g.lines, i, i+1), own) // its next turn is after the others'
		g.remove(own, first)
	}
}

func (g *gate) remove(own *line, w *waiter) {
	own.waiters = slices.DeleteFunc(own.waiters, func(other *waiter) bool { return other == w })
	g.waiting--
	if len(own.waiters) == 0 {
		g.lines = slices.DeleteFunc(g.lines, func(l *line) bool { return l == own })
	}
}

// line returns the caller's line, or nil where it has none.
func (g *gate) line(caller string) *line {
	if i := slices.IndexFunc(g.lines, func(l *line) bool { return l.caller == caller }); i >= 0 {
		return g.lines[i]
	}
	return nil
}

func (g *gate) admits(caller, skill string) bool {
	return g.total < g.slots.Total && g.callers[caller] < g.slots.PerCaller && g.skills[skill] < g.slots.PerSkill
}

func (g *gate) take(caller, skill string) {
	g.total++
	g.callers[caller]++
	g.skills[skill]++
}

func decrement(counts map[string]int, key string) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}
