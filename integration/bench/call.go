package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// calls is a run of the suite call.
type calls struct {
	*bench
	host
	only    []string // names of contenders; empty for all
	address string   // the engine's address; "" looks for one
}

func callSuite() suite {
	c := &calls{}
	return suite{
		name: "call", duration: time.Minute, quick: []string{"duration=2s"},
		about: fmt.Sprintf(`call runs a script that prints one line, in bash and in Python, in every way there
is, and prints the median and the 95th percentile of a turn's calls.

One call at a time: each contender may get ready again before its next call. For
containers that is when the engine shows all of the driver's containers running
and the same ones for %[1]v. Then the machine rests for %[2]v: a model's calls
come one by one, and a loop is faster than that on any machine. These waits are
not in the figures.

%[3]d at a time, without any wait, and calls/s: when everything prepared is used
up. The first quarter of each turn does not count.

"over driver ms" is the time of a call through the server beyond that of its
driver alone: the median of the differences of all rounds. "CPU ms" is processor
time of the server alone, for each call.

The memory that waits is that of sandboxes which are ready but idle, and of the
engine's process for each.

Contenders:
%[4]s
Those that do not work on the machine are listed as not measured; one named in
--only has to work. With --against, the default is those with a server.
Containers need a Docker engine that sees this machine's folders, with the image
(integration/engine brings up both).
`, steadyFor, rest, atOnce, listEntries()),
		flags: func(f *flag.FlagSet) {
			f.Func("only", "measure only these `contenders`, separated by commas", func(value string) (err error) {
				c.only, err = parseOnly(value)
				return err
			})
			f.StringVar(&c.address, "host", "", "the engine's `address`, such as unix:///var/run/docker.sock (default: where Docker's tools look)")
			f.StringVar(&c.image, "image", cmp.Or(os.Getenv("SKILLS_MCP_TEST_IMAGE"), "skills-mcp-test:base"), "the containers' `image`, with bash and python3")
		},
		measure: func(ctx context.Context, b *bench) error {
			c.bench = b
			return c.measure(ctx)
		},
	}
}

func parseOnly(value string) ([]string, error) {
	names := strings.Split(value, ",")
	for _, name := range names {
		if !slices.ContainsFunc(entries(), func(e entry) bool { return e.name == name }) {
			return nil, fmt.Errorf("there is no contender %q; see --help", name)
		}
	}
	return names, nil
}

// listEntries lists the contenders for --help.
func listEntries() string {
	var b strings.Builder
	for _, e := range entries() {
		fmt.Fprintf(&b, "  %-18s %s\n", e.name, e.about)
	}
	return b.String()
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

// rest is the time without work before each call, one at a time. The native
// driver, which does not show when it is ready, gets ready in it.
const rest = 100 * time.Millisecond

// minRounds is how many turns each contender has at least, however long they
// take.
const minRounds = 2

func (c *calls) measure(ctx context.Context) (err error) {
	c.host.id, c.host.dir = c.bench.id, c.bench.dir
	c.folder = filepath.Join(c.host.dir, "skill")
	for _, s := range scripts() {
		err = errors.Join(err, writeFile(filepath.Join(c.folder, s.file), s.content))
	}
	if err != nil {
		return err
	}
	if c.engine, c.noEngine = findEngine(ctx, c.address); c.engine != nil {
		defer c.engine.client.CloseIdleConnections()
		i := c.engine.info
		c.Machine += fmt.Sprintf("; Docker %s (%s, cgroup version %s, %s), image %s", i.ServerVersion, i.Driver, i.CgroupVersion, i.DefaultRuntime, c.image)
	}
	contenders, err := c.open(ctx)
	defer func() { err = errors.Join(err, c.close(ctx, contenders)) }()
	if err != nil {
		return err
	}
	for _, p := range callCases() {
		fmt.Fprintf(c.log, "bench: %s\n", p)
		if err := c.measureCase(ctx, p, contenders); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return c.measureMemory(ctx, contenders)
}

// open sets up the contenders that the flags ask for. Those that do not work here
// are absent, unless a flag names them.
func (c *calls) open(ctx context.Context) (all []*contender, err error) {
	for _, e := range entries() {
		if len(c.only) > 0 && !slices.Contains(c.only, e.name) || len(c.only) == 0 && c.against != "" && !e.serves {
			continue
		}
		binaries := []binary{{}}
		if e.serves {
			if binaries, err = c.servers(ctx); err != nil {
				return all, err
			}
		}
		for _, b := range binaries {
			one, err := c.openOne(ctx, e, b)
			if err == nil {
				all = append(all, one)
				continue
			}
			err = fmt.Errorf("%s: %w", e.name+b.suffix, err)
			if len(c.only) > 0 || ctx.Err() != nil {
				return all, err
			}
			c.Absent = append(c.Absent, err.Error())
		}
	}
	return all, nil
}

// openOne sets up a contender and runs a script, as an installed program may not
// work.
func (c *calls) openOne(ctx context.Context, e entry, b binary) (*contender, error) {
	one, err := e.open(&c.host, ctx, e.name+b.suffix, b)
	if err == nil {
		err = one.call(ctx, scripts()[0], 1)
	}
	if err != nil && one != nil && one.close != nil {
		err = errors.Join(err, one.close())
	}
	return one, err
}

// close closes contenders, also after an interrupt.
func (c *calls) close(ctx context.Context, contenders []*contender) (err error) {
	for _, one := range contenders {
		if one.close != nil {
			err = errors.Join(err, one.close())
		}
	}
	if c.engine != nil {
		err = errors.Join(err, c.engine.remove(context.WithoutCancel(ctx), c.ownLabel()))
	}
	return err
}

// ready waits until a contender's containers wait for the next call.
func (c *calls) ready(ctx context.Context, one *contender) error {
	if one.labels == nil {
		return ctx.Err()
	}
	return c.engine.settle(ctx, one.labels...)
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
		if err := c.turn(ctx, p, one, len(contenders)); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		return nil
	})
	for _, one := range contenders {
		c.relate(c.result(p.String(), one.name), one.alone)
	}
	return err
}

// caller returns the calls of a case.
func (one *contender) caller(p callCase) func(context.Context, int, int) error {
	return func(ctx context.Context, _, _ int) error { return one.call(ctx, p.script, p.atOnce) }
}

// turn is one contender's part of a round.
func (c *calls) turn(ctx context.Context, p callCase, one *contender, contenders int) error {
	l := load{workers: p.atOnce, call: one.caller(p), server: one.server}
	if p.atOnce == 1 {
		l.calls, l.time = 10, time.Second
		l.before = func(ctx context.Context) error { return errors.Join(c.ready(ctx, one), pause(ctx, rest)) }
	} else {
		share := c.duration / time.Duration(2*contenders)
		l.time = min(max(share, 500*time.Millisecond), 5*time.Second)
		l.warm = l.time / 4
	}
	if err := c.ready(ctx, one); err != nil {
		return err
	}
	s, err := l.run(ctx)
	// What this contender clears up must not slow down the next.
	if err := errors.Join(err, c.ready(ctx, one)); err != nil {
		return err
	}
	r := c.result(p.String(), one.name)
	r.set("calls", r.figure("calls").Value+float64(len(s.times)))
	r.add("p50 ms", milliseconds(percentile(s.times, 50)))
	r.add("p95 ms", milliseconds(percentile(s.times, 95)))
	if p.atOnce > 1 {
		r.add("calls/s", s.rate)
	}
	if one.server != nil {
		r.add("CPU ms", milliseconds(s.cpu))
	}
	return nil
}

// relate sets the figures of a contender that compare it with others.
func (c *calls) relate(r *result, alone string) {
	own := r.figure("p50 ms")
	if bare := c.find(r.Case, "bare"); bare != nil {
		r.set("× bare", own.Value/bare.figure("p50 ms").Value)
	}
	if driver := c.find(r.Case, alone); driver != nil {
		over := pairs(own.rounds, driver.figure("p50 ms").rounds, func(a, b float64) float64 { return a - b })
		r.set("over driver ms", percentile(over, 50))
	}
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
