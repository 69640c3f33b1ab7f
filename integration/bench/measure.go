package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How a contender's turn goes, one call at a time.
const (
	turnCalls = 10          // at most
	turnTime  = time.Second // after which no further call is begun
)

// rest is the time without work before each call, one at a time. The native
// driver, of which nothing shows when it is ready, gets ready in it.
const rest = 100 * time.Millisecond

// callTimeout is how long a call may take: engines have been seen to hang.
const callTimeout = time.Minute

// minRounds is how often each contender has its turn at least, however long
// that takes.
const minRounds = 2

// A part is what one table of the report is about: which script is called, and
// how.
type part struct {
	script script
	atOnce int // calls that are made at the same time
}

func (p part) String() string {
	if p.atOnce == 1 {
		return p.script.name + ", one call at a time"
	}
	return fmt.Sprintf("%s, %d at a time without a pause", p.script.name, p.atOnce)
}

// parts are all that are measured, the quiet ones first.
func parts() []part {
	var all []part
	for _, n := range []int{1, atOnce} {
		for _, s := range scripts() {
			all = append(all, part{s, n})
		}
	}
	return all
}

// A tally is what was measured of one contender in one part.
type tally struct {
	times   []time.Duration // of all calls
	ended   int             // calls that calls per second are counted of
	counted time.Duration   // and the time that they are counted in
	settled []time.Duration // after each turn
	waiting []int           // sandboxes before each call or turn
}

// measure lets the contenders take turns until the time is over.
func measure(ctx context.Context, o *options, p part, contenders []*contender) ([]result, error) {
	tallies := make([]tally, len(contenders))
	windows := make([]time.Duration, len(contenders))
	for i, c := range contenders {
		slowest, err := warmUp(ctx, c, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		windows[i] = window(o, len(contenders), slowest)
	}
	began := time.Now()
	for round := 0; round < minRounds || time.Since(began) < o.duration; round++ {
		for i, c := range contenders {
			var err error
			if p.atOnce == 1 {
				err = tallies[i].quiet(ctx, c, p)
			} else {
				err = tallies[i].sustained(ctx, c, p, windows[i])
			}
			if err != nil {
				return results(p, contenders, tallies), fmt.Errorf("%s: %s: %w", p, c.name, err)
			}
		}
	}
	return results(p, contenders, tallies), nil
}

// window is how long a sustained turn is: as long as leaves time for several
// rounds, and for the slowest call to be made often enough.
func window(o *options, contenders int, slowest time.Duration) time.Duration {
	share := o.duration / time.Duration(2*contenders)
	return max(min(max(share, 500*time.Millisecond), 5*time.Second), 6*slowest)
}

// warmUp makes the calls that are not counted: they fill caches, and use up
// what is prepared. It returns how long the slowest took.
func warmUp(ctx context.Context, c *contender, p part) (time.Duration, error) {
	var mu sync.Mutex // guards what is below, until the workers have ended
	var slowest time.Duration
	var errs []error
	var workers sync.WaitGroup
	for range p.atOnce {
		workers.Go(func() {
			for range 2 {
				start := time.Now()
				err := c.attempt(ctx, p)
				mu.Lock()
				slowest, errs = max(slowest, time.Since(start)), append(errs, err)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	_, err := c.ready(ctx)
	return slowest, errors.Join(append(errs, err)...)
}

// ready waits until the contender is.
func (c *contender) ready(ctx context.Context) (waiting int, err error) {
	if c.settle == nil {
		return 0, ctx.Err()
	}
	return c.settle(ctx)
}

// timed makes a call when the contender is ready for it.
func (c *contender) timed(ctx context.Context, p part) (waiting int, took time.Duration, err error) {
	if waiting, err = c.ready(ctx); err == nil {
		err = pause(ctx, rest)
	}
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	err = c.attempt(ctx, p)
	return waiting, time.Since(start), err
}

// attempt makes a call that does not take for ever.
func (c *contender) attempt(ctx context.Context, p part) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("a call took longer than %v", callTimeout))
	defer cancel()
	err := c.call(ctx, p)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// quiet is a turn of one call at a time, each when the contender is ready.
func (t *tally) quiet(ctx context.Context, c *contender, p part) error {
	var turn []time.Duration
	for began := time.Now(); len(turn) < turnCalls && (len(turn) == 0 || time.Since(began) < turnTime); {
		waiting, took, err := c.timed(ctx, p)
		if err != nil {
			return err
		}
		t.waiting = append(t.waiting, waiting)
		turn = append(turn, took)
		t.counted += took
	}
	t.times = append(t.times, turn...)
	t.ended += len(turn)
	// What this contender clears up is not to hold up the next.
	_, err := c.ready(ctx)
	return err
}

// sustained is a turn of several calls at a time for as long as window.
func (t *tally) sustained(ctx context.Context, c *contender, p part, window time.Duration) error {
	waiting, err := c.ready(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	b := &burst{from: start.Add(window / 4), until: start.Add(window)}
	var workers sync.WaitGroup
	for range p.atOnce {
		workers.Go(func() {
			for b.call(ctx, c, p) {
			}
		})
	}
	workers.Wait()
	if b.failure != nil {
		return b.failure
	}
	if len(b.times) == 0 {
		return fmt.Errorf("no call was begun in the last three quarters of %v: measure for longer", window)
	}
	t.waiting = append(t.waiting, waiting)
	t.times = append(t.times, b.times...)
	t.ended += b.ended
	t.counted += b.until.Sub(b.from)
	return t.drain(ctx, c)
}

// A burst is what the workers of a sustained turn measure.
type burst struct {
	from, until time.Time // what is counted

	mu      sync.Mutex
	times   []time.Duration // of calls that began in between
	ended   int             // calls that ended in between
	failure error           // the first
}

// call makes one call, and reports whether there is time for another.
func (b *burst) call(ctx context.Context, c *contender, p part) bool {
	begin := time.Now()
	if begin.After(b.until) {
		return false
	}
	err := c.attempt(ctx, p)
	end := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failure == nil {
		b.failure = err
	}
	if !begin.Before(b.from) {
		b.times = append(b.times, end.Sub(begin))
	}
	if !end.Before(b.from) && !end.After(b.until) {
		b.ended++
	}
	return b.failure == nil
}

// drain waits until what the calls left behind is gone.
func (t *tally) drain(ctx context.Context, c *contender) error {
	start := time.Now()
	_, err := c.ready(ctx)
	t.settled = append(t.settled, time.Since(start))
	return err
}
