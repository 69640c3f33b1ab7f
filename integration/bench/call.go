package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// calls is a run of the suite call.
type calls struct {
	lineup
}

func callSuite() suite {
	c := &calls{lineup{entries: entries()}}
	return suite{
		name: "call", duration: time.Minute, quick: []string{"duration=2s"},
		about: fmt.Sprintf(`call runs a script that prints one line, in bash and in Python, in every way there
is, and prints the median of each turn's calls and the 95th percentile of all.

One call at a time, after a rest of %[1]v: a model's calls come one by one, and a
loop is faster than that on any machine. In the rest a contender gets ready again,
if it can in that time. The suite rest measures other rests.

%[2]d at a time, without any wait, and calls/s: when everything prepared is used
up. The first quarter of each turn does not count.

"× bare" is the time of a call as a multiple of the bare script's, and "over
driver ms" the time of a call through the server beyond that of its driver alone:
the server's own share. Each is the median of all rounds with its interval. "CPU
ms" is processor time of the server alone, for each call.

The memory that waits is that of sandboxes which are ready but idle, and of the
engine's process for each.

Contenders:
%[3]s
Those that do not work on the machine are listed as not measured; one named in
--only has to work. With --against, the default is those with a server.
Containers need a Docker engine that sees this machine's folders, with the image
(integration/engine brings up both).
`, rest, atOnce, c.list()),
		flags: c.flags,
		measure: func(ctx context.Context, b *bench) error {
			return c.with(ctx, b, func(contenders []*contender) error { return c.measure(ctx, contenders) })
		},
	}
}

// A callCase says which script is called, and how many calls are under way.
type callCase struct {
	script script
	atOnce int
}

func (p callCase) String() string {
	if p.atOnce == 1 {
		return p.script.name + ", one call at a time"
	}
	return fmt.Sprintf("%s, %d at a time without a pause", p.script.name, p.atOnce)
}

// callCases returns all cases, the quiet ones first.
func callCases() (all []callCase) {
	for _, n := range []int{1, atOnce} {
		for _, s := range scripts() {
			all = append(all, callCase{s, n})
		}
	}
	return all
}

// rest is the time without work before each call, one at a time.
const rest = 500 * time.Millisecond

// minRounds is how many turns each contender has at least, however long they
// take.
const minRounds = 2

func (c *calls) measure(ctx context.Context, contenders []*contender) error {
	for _, p := range callCases() {
		fmt.Fprintf(c.log, "bench: %s\n", p)
		if err := c.measureCase(ctx, p, contenders); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return c.measureMemory(ctx, contenders)
}

// measureCase lets the contenders take turns until the time is over.
func (c *calls) measureCase(ctx context.Context, p callCase, contenders []*contender) error {
	for _, one := range contenders { // fill caches, and use up prepared sandboxes
		warm := load{workers: p.atOnce, calls: 2, time: callTimeout, call: one.caller(p)}
		_, err := warm.run(ctx)
		if err := errors.Join(err, c.ready(ctx, one)); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	began := time.Now()
	more := func(round int) bool { return round < minRounds || time.Since(began) < c.duration }
	err := takeTurns(contenders, more, func(one *contender) error {
		return c.turn(ctx, p, one, len(contenders))
	})
	for _, one := range contenders {
		c.relate(p.String(), one)
	}
	return err
}

// caller returns the calls of a case.
func (one *contender) caller(p callCase) func(context.Context, int, int) error {
	return func(ctx context.Context, _, _ int) error { return one.call(ctx, p.script, p.atOnce) }
}

// turn is one contender's part of a round.
func (c *calls) turn(ctx context.Context, p callCase, one *contender, contenders int) error {
	l := load{workers: p.atOnce, call: one.caller(p)}
	if p.atOnce == 1 {
		l.calls, l.time, l.before = 10, time.Second, resting(rest)
		if one.labels != nil { // the first call finds containers that had more time than the rest
			l.warm = rest * 3 / 2
		}
	} else {
		share := c.duration / time.Duration(2*contenders)
		l.time = min(max(share, 500*time.Millisecond), 5*time.Second)
		l.warm = l.time / 4
	}
	if err := c.ready(ctx, one); err != nil {
		return err
	}
	err := c.result(p.String(), one.name).record(ctx, one, l)
	// What this contender clears up must not slow down the next.
	return errors.Join(err, c.ready(ctx, one))
}

// measureMemory adds the memory that waits for each contender.
func (c *calls) measureMemory(ctx context.Context, contenders []*contender) error {
	for _, one := range contenders {
		if err := c.ready(ctx, one); err != nil {
			return err
		}
		var each, shims []float64
		switch {
		case one.labels != nil:
			pids, err := c.engine.shims(ctx, one.labels...)
			if err != nil {
				c.Absent = append(c.Absent, fmt.Sprintf("memory of %s: %v", one.name, err))
			}
			for _, pid := range pids {
				each, shims = append(each, pss(descendants(pid)...)), append(shims, pss(pid))
			}
		case one.server != nil:
			for _, pid := range descendants(one.server.cmd.Process.Pid) {
				each = append(each, pss(pid))
			}
		}
		if len(each) == 0 {
			continue
		}
		r := c.result("memory that waits", one.name)
		r.set("sandboxes", float64(len(each)))
		r.set("MB each", percentile(each, 50))
		if shims != nil {
			r.set("its shim MB", percentile(shims, 50))
		}
	}
	return nil
}
