package sandbox

import (
	"context"
	"slices"
	"sync"
)

// Slots bound how many commands run at once. A zero field means the default of
// [DefaultSlots].
type Slots struct {
	Total     int // commands running, of all callers
	PerCaller int // commands running for one caller
	Queue     int // commands waiting, of all callers
}

// DefaultSlots returns the slots of a configuration that says nothing.
func DefaultSlots() Slots { return Slots{Total: 4, PerCaller: 3, Queue: 32} }

// Or returns s with every zero field taken from d.
func (s Slots) Or(d Slots) Slots {
	or(&s.Total, d.Total)
	or(&s.PerCaller, d.PerCaller)
	or(&s.Queue, d.Queue)
	return s
}

// gate hands out slots, first come first served among those whose caller may
// have one more.
type gate struct {
	slots Slots

	mu      sync.Mutex
	running map[string]int // by caller; entries are never zero
	total   int            // sum of running
	waiting []*waiter
}

type waiter struct {
	caller string
	ready  chan struct{} // closed by the gate when the slot is this waiter's
}

func newGate(slots Slots) *gate {
	return &gate{slots: slots, running: map[string]int{}}
}

// acquire waits for a slot and returns the function that gives it back. It
// calls queued, without blocking others, when there is something to wait for.
func (g *gate) acquire(ctx context.Context, caller string, queued func()) (release func(), err error) {
	release = sync.OnceFunc(func() { g.release(caller) })
	g.mu.Lock()
	if g.admits(caller) {
		g.take(caller)
		g.mu.Unlock()
		return release, nil
	}
	if len(g.waiting) >= g.slots.Queue {
		g.mu.Unlock()
		return nil, ErrBusy
	}
	w := &waiter{caller: caller, ready: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()

	queued()
	select {
	case <-w.ready:
		return release, nil
	case <-ctx.Done():
		if !g.leave(w) { // the slot came at the same moment
			release()
		}
		return nil, context.Cause(ctx)
	}
}

// leave takes w out of the queue and reports whether it was still there.
func (g *gate) leave(w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, w)
	if i < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	return true
}

func (g *gate) release(caller string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	if g.running[caller]--; g.running[caller] == 0 {
		delete(g.running, caller)
	}
	for i := 0; i < len(g.waiting) && g.total < g.slots.Total; {
		w := g.waiting[i]
		if !g.admits(w.caller) {
			i++
			continue
		}
		g.take(w.caller)
		close(w.ready)
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}

func (g *gate) admits(caller string) bool {
	return g.total < g.slots.Total && g.running[caller] < g.slots.PerCaller
}

func (g *gate) take(caller string) {
	g.total++
	g.running[caller]++
}
