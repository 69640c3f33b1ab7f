package warmpool

import "time"

// A bucket has the instances of one key.
type bucket[I Instance] struct {
	spec   *Spec[I]
	target int   // how many are to wait
	used   int64 // the clock at the last take
	bursts bursts
	learnt bool // target is that of bursts, not one that was asked for

	ready    []idle[I] // the oldest first
	refills  int       // refills that are scheduled
	starting int       // instances on their way
	waiters  []*waiter[I]
}

// An idle instance waits for its use.
type idle[I Instance] struct {
	instance I
	timer    *time.Timer // expires it
}

// A waiter waits for an instance.
type waiter[I Instance] struct{ got chan taken[I] }

type taken[I Instance] struct {
	instance I
	err      error
}

// before reports whether b is to lose an instance before other.
func (b *bucket[I]) before(other *bucket[I]) bool {
	if spare := b.spare(); spare != other.spare() {
		return spare
	}
	return b.used < other.used
}

// spare reports whether b has instances for bursts.
func (b *bucket[I]) spare() bool { return b.learnt && len(b.ready) > 1 }

// buckets holds a pool's buckets by key.
type buckets[I Instance] map[string]*bucket[I]

// excess returns the bucket that can do best without an instance: the least recently
// used one with more than one for bursts, or else the least recently used one.
func (all buckets[I]) excess() *bucket[I] {
	var found *bucket[I]
	for _, b := range all {
		if len(b.ready) > 0 && (found == nil || b.before(found)) {
			found = b
		}
	}
	return found
}

// crowded reports whether another instance would displace one that waits.
func (all buckets[I]) crowded(limits Limits) bool {
	count := 0
	for _, b := range all {
		count += len(b.ready) + b.starting
	}
	return count >= limits.Max
}

// full reports whether more instances wait than may.
func (all buckets[I]) full(limits Limits) bool {
	count := 0
	for _, b := range all {
		count += len(b.ready)
	}
	return count > max(0, limits.Max)
}
