package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// takeTurns calls turn once for each contender in every round, while more returns
// true. The order rotates: each is the first of every nth round.
func takeTurns[C any](contenders []C, more func(round int) bool, turn func(C) error) error {
	for round := 0; more(round); round++ {
		for i := range contenders {
			if err := turn(contenders[(round+i)%len(contenders)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// rounds returns the condition of n rounds.
func rounds(n uint) func(round int) bool { return func(round int) bool { return round < int(n) } }

// A load is calls of one kind by several workers at once, each of which makes one
// after the other.
type load struct {
	workers int
	warm    time.Duration // calls that begin in it do not count
	time    time.Duration // after it, no further call begins
	calls   int           // of each worker at most; 0 for no limit
	server  *process      // whose processor time is measured; nil for none
	// before prepares a call, outside its time; nil for nothing.
	before func(ctx context.Context) error
	// call is call n of a worker. It gets a timeout: engines have been seen to
	// hang.
	call func(ctx context.Context, worker, n int) error
}

// callTimeout bounds a call.
const callTimeout = time.Minute

// A sample is the outcome of a load.
type sample struct {
	times []time.Duration // of the calls that count: at least one of each worker
	rate  float64         // calls a second of all workers together
	cpu   time.Duration   // the server's for each call, also of those that do not count
}

// run makes the calls until the time is over or one fails.
func (l load) run(ctx context.Context) (s sample, err error) {
	workers := make([]worker, l.workers)
	before, began := l.server.cpu(), time.Now()
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { workers[i].run(ctx, l, i, began) })
	}
	all.Wait()
	spent, calls := l.server.cpu()-before, 0
	for _, w := range workers {
		err = errors.Join(err, w.err)
		s.times = append(s.times, w.times...)
		s.rate += w.rate
		calls += w.calls
	}
	s.cpu = spent / time.Duration(max(calls, 1))
	return s, err
}

// A worker makes calls of a load.
type worker struct {
	calls int
	times []time.Duration
	rate  float64 // calls a second between the first and the last that counts
	err   error   // ends its work
}

func (w *worker) run(ctx context.Context, l load, number int, began time.Time) {
	var first, end time.Time
	for w.more(l, began) {
		if l.before != nil {
			if w.err = l.before(ctx); w.err != nil {
				return
			}
		}
		start := time.Now()
		if w.err = l.attempt(ctx, number, w.calls); w.err != nil {
			return
		}
		w.calls++
		if start.Sub(began) < l.warm {
			continue
		}
		if first.IsZero() {
			first = start
		}
		end = time.Now()
		w.times = append(w.times, end.Sub(start))
	}
	w.rate = float64(len(w.times)) / end.Sub(first).Seconds()
}

// more reports whether the worker makes another call.
func (w *worker) more(l load, began time.Time) bool {
	return len(w.times) == 0 || time.Since(began) < l.warm+l.time && (l.calls == 0 || w.calls < l.calls)
}

// attempt makes a call, with a timeout.
func (l load) attempt(ctx context.Context, worker, n int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("a call took longer than %v", callTimeout))
	defer cancel()
	err := l.call(ctx, worker, n)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// resting returns a preparation of calls that lets the machine rest: nothing of
// this program runs meanwhile.
func resting(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error { return pause(ctx, d) }
}

// percentile returns the smallest value that at least p percent of values do not
// exceed (the nearest rank), or zero if there are none.
func percentile[T int | int64 | time.Duration | float64](values []T, p int) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(float64(len(sorted)*p) / 100))
	return sorted[max(rank, 1)-1]
}

// medianInterval returns the 99 % confidence interval of the median of the
// distribution that values come from: by the order statistics, so it assumes no
// shape. Of fewer than 8 values it returns the least and the most.
func medianInterval(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n, cut := len(sorted), 0
	// The probability that cut or fewer of n values lie below the median.
	term := math.Pow(0.5, float64(n))
	for tail := term; tail <= 0.005 && cut < n/2; tail += term {
		cut++
		term *= float64(n-cut+1) / float64(cut)
	}
	cut = max(cut-1, 0)
	return sorted[cut], sorted[n-1-cut]
}

// milliseconds returns d in milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// microseconds returns d in microseconds.
func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
