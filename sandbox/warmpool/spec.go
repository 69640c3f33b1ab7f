package warmpool

import (
	"cmp"
	"context"
	"time"
)

// Limits bound the instances that wait. A zero field means the default.
type Limits struct {
	Max  int           // instances; 8 by default, and none where it is negative
	Idle time.Duration // how long one waits at the most; 5 minutes by default

	// Taken is called at each take, with whether an instance waited. It must not block;
	// nil is fine.
	Taken func(waited bool)
}

// or returns l with the defaults.
func (l Limits) or() Limits {
	l.Max, l.Idle = cmp.Or(l.Max, 8), cmp.Or(l.Idle, 5*time.Minute)
	if l.Taken == nil {
		l.Taken = func(bool) {}
	}
	return l
}

// An Instance is a started one that waits for its single use.
type Instance interface {
	comparable
	// Ended reports whether it has ended, so that it is of no use.
	Ended() bool
	// Discard ends it in the background. It is called once, by the pool or by the taker.
	Discard()
}

// A Spec describes instances that are alike.
type Spec[I Instance] struct {
	// Key is equal for specs whose instances can stand in for each other.
	Key string
	// Group names the purpose of the instances, such as a skill.
	Group string
	// Version is equal for specs of a group that are current together. A take drops the
	// waiting instances of its group with another version.
	Version string
	// Start starts an instance. It calls ended, if at all, when the instance ends by
	// itself, and returns when ctx is done.
	Start func(ctx context.Context, ended func(I)) (I, error)
}
