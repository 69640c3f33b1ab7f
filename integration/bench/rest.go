package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"time"
)

// A pace is a rest before each call.
type pace struct {
	rest   time.Duration
	rounds uint // in which each contender has a turn; none has more than the longest
	calls  int  // of a turn
}

func (p pace) String() string { return fmt.Sprintf("bash, after a rest of %v", p.rest) }

// paces returns all paces, the longest rest first: the calls after a short rest
// follow those after a longer one, so that none of them finds the machine fresher
// than its rest. All rounds of five contenders fit in twelve minutes, ten of which
// are the rests of 10 s.
func paces() []pace {
	return []pace{{10 * time.Second, 12, 1}, {2 * time.Second, 7, 1}, {500 * time.Millisecond, 8, 1}, {20 * time.Millisecond, 8, 5}}
}

// rests is a run of the suite rest.
type rests struct {
	lineup
	longest time.Duration // no rest is longer
	paces   []pace
}

func restSuite() suite {
	r := &rests{lineup: lineup{entries: entries(), usual: []string{"bare", "native", "serve-native", "docker-warm", "serve-docker"}}}
	return suite{
		name: "rest", quick: []string{"longest=20ms"},
		about: fmt.Sprintf(`rest calls the script in bash as a model does: one call at a time, after a rest of
the machine, in which nothing polls. Each call of each contender has a rest of its
own. A turn is one call after 10 s, one after 2 s, one after 0.5 s and five after
20 ms, in this order. The client blocks in a read until the answer. A full run takes
twelve minutes, and two more for each further contender.

  × bare          the time of a call as a multiple of the bare script's after the
                  same rest
  over driver ms  of a call through the server beyond that of its driver alone: the
                  server's own share
  that × bare     the same as a multiple of the bare script's time
  none waiting    calls that found no waiting container, by the engine's events, and
                  the median of the others. An engine starts and removes some ten
                  containers a second at most

Contenders; --only may also name the others of the suite call:
%s`, r.list()),
		flags: func(f *flag.FlagSet) {
			r.flags(f)
			f.DurationVar(&r.longest, "longest", 10*time.Second, "measure no longer rest")
		},
		measure: func(ctx context.Context, b *bench) error {
			r.blocking = true
			return r.with(ctx, b, func(contenders []*contender) error { return r.measure(ctx, contenders) })
		},
	}
}

func (r *rests) measure(ctx context.Context, contenders []*contender) error {
	r.paces = slices.DeleteFunc(paces(), func(p pace) bool { return p.rest > r.longest })
	if len(r.paces) == 0 {
		return nil
	}
	err := takeTurns(contenders, rounds(r.paces[0].rounds), func(one *contender) error { return r.turn(ctx, one) })
	for _, p := range r.paces {
		for _, one := range contenders {
			r.relate(p.String(), one)
		}
	}
	return err
}

// turn is one contender's part of a round: all paces that have further rounds.
func (r *rests) turn(ctx context.Context, one *contender) error {
	var begun []time.Time
	var results []*result // of the calls
	var times []time.Duration
	for _, p := range r.paces {
		o := r.result(p.String(), one.name)
		before := len(o.times)
		if before >= int(p.rounds)*p.calls {
			continue
		}
		err := o.record(ctx, one, load{workers: 1, calls: p.calls, time: time.Hour, before: resting(p.rest),
			call: func(ctx context.Context, _, _ int) error {
				begun, results = append(begun, time.Now()), append(results, o)
				return one.call(ctx, r.scripts[0], 1)
			}})
		if err != nil {
			return err
		}
		times = append(times, o.times[before:]...)
	}
	if one.labels == nil {
		return nil
	}
	waits, err := r.engine.waits(ctx, begun, one.labels...)
	for i, waited := range waits {
		o := results[i]
		if !waited {
			o.found = append(o.found, times[i])
		}
		o.set("none waiting", float64(len(o.times)-len(o.found)))
		o.set("others' p50 ms", milliseconds(percentile(o.found, 50)))
	}
	return err
}
