package warmpool

import "sync"

// MaxRenewals bounds the instances that are started for changes of a group between two
// takes: a file may be written all the time.
const MaxRenewals = 4

// A Renewal knows the instances that the last take of a group had ready.
type Renewal[T any] struct {
	Of   T   // what they were made of
	Want int // how many

	due  bool // they were discarded since
	left int  // how often they may be renewed before the next take
}

// Renewals hold the renewal of each group that had a take. The zero value is ready.
type Renewals[T any] struct {
	mu  sync.Mutex
	all map[string]*Renewal[T]
}

// Took notes a take.
func (r *Renewals[T]) Took(group string, of T, want int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]*Renewal[T]{}
	}
	r.all[group] = &Renewal[T]{Of: of, Want: want, left: MaxRenewals}
}

// Discarded notes that the instances of a group were discarded.
func (r *Renewals[T]) Discarded(group string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.all[group]; one != nil {
		one.due = true
	}
}

// Due returns the renewal of a group where it is due, and nil otherwise. It is not due
// again until instances are discarded again.
func (r *Renewals[T]) Due(group string) *Renewal[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.all[group]
	if one == nil || !one.due || one.left == 0 {
		return nil
	}
	one.due = false
	one.left--
	return one
}

// Current reports whether the group had no take since one.
func (r *Renewals[T]) Current(group string, one *Renewal[T]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[group] == one
}
