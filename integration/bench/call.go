package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func callSuite() suite {
	o := &callOptions{}
	return suite{name: "call", about: fmt.Sprintf(`call runs a script that prints one line, in bash and in Python, in every way there
is, and prints the median and the 95th percentile of a call's time, and calls/s.

One call at a time: each contender may get ready again before its next call. For
containers that is when the engine shows all of the driver's containers running
and the same ones for %[1]v. Then the machine rests for %[2]v: a model's calls
come one by one, and a loop is faster than that on any machine. These waits are
not in the figures.

%[3]d at a time, without any wait: the rate when everything prepared is used up.
The first quarter of each turn does not count. "settled ms" is the time that the
engine then needed to clear up and to get ready again.

"over driver ms" is the time of a call through the server beyond that of its
driver alone: the median of the differences of all rounds. "CPU ms" is processor
time of the server alone, for each call.

Contenders:
%[4]s
Those that the machine does not have are listed as not measured; one named in
--only has to be there. With --against, the default is those with a server.
Containers need a Docker engine that sees this machine's folders, with the image
(integration/engine brings up both).
`, steadyFor, rest, atOnce, listEntries()),
		duration: time.Minute,
		flags: func(f *flag.FlagSet) {
			f.Func("only", "measure only these `contenders`, separated by commas", func(value string) (err error) {
				o.only, err = parseOnly(value)
				return err
			})
			f.StringVar(&o.host, "host", "", "the engine's `address`, such as unix:///var/run/docker.sock (default: where Docker's tools look)")
			f.StringVar(&o.image, "image", cmp.Or(os.Getenv("SKILLS_MCP_TEST_IMAGE"), "skills-mcp-test:base"), "the containers' `image`, with bash and python3")
		},
		quick:   func(o *options) { o.duration = 2 * time.Second },
		check:   func() error { return nil },
		measure: func(ctx context.Context, s *setup, r *report) error { return s.measureCalls(ctx, o, r) },
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

// An entry is a contender that has not been set up.
type entry struct {
	name, about string
	open        func(c *calls, ctx context.Context, name string) (*contender, error)
	// server is the driver of "skills-mcp serve"; open is nil then.
	server string
}

// entries returns all contenders. Those that people compare are neighbours.
func entries() []entry {
	return []entry{
		{"bare", "the script on the host: nothing can be faster", (*calls).bare, ""},
		{"bwrap", "bubblewrap with all namespaces", (*calls).bubblewrap, ""},
		{"native", "the native driver", (*calls).native, ""},
		{"serve-native", "skills-mcp serve on the native driver: tools/call over stdio", nil, "native"},
		{"docker-warm", "the docker driver with its warm pool, runc", (*calls).dockerWarm, ""},
		{"serve-docker", "skills-mcp serve on the docker driver: tools/call over stdio", nil, "docker"},
		{"docker-warm-runsc", "the same driver with gVisor, where the engine has a runtime runsc", (*calls).dockerWarmRunsc, ""},
		{"docker-cold", "the docker driver without its pool: each call starts its container", (*calls).dockerCold, ""},
		{"docker-exec", "docker exec into one running container: calls share it", (*calls).dockerExec, ""},
		{"docker-run", "docker run --rm with the sandbox's flags", (*calls).dockerRun, ""},
	}
}

// listEntries lists the contenders for --help.
func listEntries() string {
	var b strings.Builder
	for _, e := range entries() {
		fmt.Fprintf(&b, "  %-18s %s\n", e.name, e.about)
	}
	return b.String()
}

// open sets up the contenders that the flags ask for. absent are those that this
// machine cannot run, unless a flag names them.
func (c *calls) open(ctx context.Context) (contenders []*contender, absent []absence, err error) {
	for _, e := range entries() {
		if len(c.only) > 0 && !slices.Contains(c.only, e.name) || len(c.only) == 0 && c.against != "" && e.server == "" {
			continue
		}
		some, err := c.openEntry(ctx, e)
		var lacking *absentError
		if errors.As(err, &lacking) && len(c.only) == 0 {
			absent = append(absent, absence{e.name, lacking.what})
			continue
		}
		contenders = append(contenders, some...)
		if err != nil {
			return contenders, absent, fmt.Errorf("set up %s: %w", e.name, err)
		}
	}
	return contenders, absent, nil
}

// openEntry sets up a contender, and its twin of an older server.
func (c *calls) openEntry(ctx context.Context, e entry) (all []*contender, err error) {
	if e.server == "" {
		one, err := try(ctx, func() (*contender, error) { return e.open(c, ctx, e.name) })
		if err != nil {
			return nil, err
		}
		return []*contender{one}, nil
	}
	binaries, err := c.servers(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range binaries {
		one, err := try(ctx, func() (*contender, error) { return c.openServer(ctx, e.name+b.suffix, e.server, b) })
		if err != nil {
			return nil, errors.Join(err, closeContenders(all))
		}
		all = append(all, one)
	}
	return all, nil
}

// try opens a contender and runs a script, as an installed program may not work.
func try(ctx context.Context, open func() (*contender, error)) (*contender, error) {
	one, err := open()
	if err != nil {
		return nil, err
	}
	if err := one.call(ctx, part{scripts()[0], 1}); err != nil {
		var failure error = &absentError{fmt.Sprintf("it does not work here: %v", err)}
		if ctx.Err() != nil {
			failure = context.Cause(ctx)
		}
		return nil, errors.Join(failure, closeContenders([]*contender{one}))
	}
	return one, nil
}

// How a contender's turn goes, one call at a time.
const (
	turnCalls = 10          // at most
	turnTime  = time.Second // after it, no further call is begun
)

// rest is the time without work before each call, one at a time. The native
// driver, which does not show when it is ready, gets ready in it.
const rest = 100 * time.Millisecond

// minRounds is how many turns each contender has at least, however long they
// take.
const minRounds = 2

// parts returns all cases, the quiet ones first.
func parts() []part {
	var all []part
	for _, n := range []int{1, atOnce} {
		for _, s := range scripts() {
			all = append(all, part{s, n})
		}
	}
	return all
}

func (s *setup) measureCalls(ctx context.Context, o *callOptions, r *report) (err error) {
	c, err := s.newCalls(ctx, o)
	if err != nil {
		return err
	}
	defer c.close()
	r.Machine.More = c.versions(ctx)
	contenders, absent, err := c.open(ctx)
	defer func() { err = errors.Join(err, closeContenders(contenders)) }()
	r.Absent = absent
	if err != nil {
		return err
	}
	for _, p := range parts() {
		fmt.Fprintf(s.log, "bench: %s\n", p)
		if err := measureCase(ctx, s.duration, p, contenders, r); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return measureMemory(ctx, contenders, r)
}

// A tally collects the calls of one contender in one case.
type tally struct {
	*result
	times   []time.Duration // of all calls
	window  time.Duration   // how long a sustained turn takes
	waiting []int           // sandboxes before each call or turn
}

// measureCase lets the contenders take turns until the time is over.
func measureCase(ctx context.Context, duration time.Duration, p part, contenders []*contender, r *report) error {
	tallies := make([]tally, len(contenders))
	for i, c := range contenders {
		slowest, err := warmUp(ctx, c, p)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		tallies[i].window = window(duration, len(contenders), slowest)
		tallies[i].result = r.result(p.String(), c.name)
	}
	began := time.Now()
	err := takeTurns(len(contenders), func(round int) bool { return round < minRounds || time.Since(began) < duration }, func(i int) error {
		turn := tallies[i].sustained
		if p.atOnce == 1 {
			turn = tallies[i].quiet
		}
		before := contenders[i].processorTime()
		calls, err := turn(ctx, contenders[i], p)
		if err != nil {
			return fmt.Errorf("%s: %w", contenders[i].name, err)
		}
		if spent := contenders[i].processorTime() - before; spent > 0 {
			tallies[i].add("CPU ms", milliseconds(spent)/float64(calls))
		}
		return nil
	})
	for i := range tallies {
		tallies[i].conclude(r, contenders[i])
	}
	return err
}

// conclude sets the figures that are made of all rounds.
func (t *tally) conclude(r *report, c *contender) {
	t.set("calls", float64(len(t.times)))
	t.set("p50 ms", milliseconds(percentile(t.times, 50)))
	t.set("p95 ms", milliseconds(percentile(t.times, 95)))
	if bare := r.find(t.Case, "bare"); bare != nil && len(t.times) > 0 {
		t.set("× bare", t.figure("p50 ms").Value/bare.figure("p50 ms").Value)
	}
	if c.settle != nil {
		t.set("waiting", float64(percentile(t.waiting, 50)))
	}
	driver := r.find(t.Case, c.driver)
	if driver == nil {
		return
	}
	var over []float64
	alone := driver.figure("p50 ms").rounds
	for i, took := range t.figure("p50 ms").rounds {
		if i < len(alone) {
			over = append(over, took-alone[i])
		}
	}
	t.set("over driver ms", percentile(over, 50))
}

// window returns how long a sustained turn is: it leaves time for several rounds,
// and for enough of the slowest calls.
func window(duration time.Duration, contenders int, slowest time.Duration) time.Duration {
	share := duration / time.Duration(2*contenders)
	return max(min(max(share, 500*time.Millisecond), 5*time.Second), 6*slowest)
}

// warmUp makes calls that do not count: they fill caches, and use up prepared
// sandboxes. It returns the time of the slowest.
func warmUp(ctx context.Context, c *contender, p part) (slowest time.Duration, err error) {
	times, errs := make([]time.Duration, p.atOnce), make([]error, p.atOnce)
	var workers sync.WaitGroup
	for i := range p.atOnce {
		workers.Go(func() {
			for range 2 {
				start := time.Now()
				errs[i] = errors.Join(errs[i], c.attempt(ctx, p))
				times[i] = max(times[i], time.Since(start))
			}
		})
	}
	workers.Wait()
	_, err = c.ready(ctx)
	return slices.Max(times), errors.Join(append(errs, err)...)
}

// quiet is a turn of one call at a time, each when the contender is ready. It
// returns the number of calls.
func (t *tally) quiet(ctx context.Context, c *contender, p part) (calls int, err error) {
	var turn []time.Duration
	var spent time.Duration
	for began := time.Now(); len(turn) < turnCalls && (len(turn) == 0 || time.Since(began) < turnTime); {
		waiting, err := c.ready(ctx)
		if err == nil {
			err = pause(ctx, rest)
		}
		if err != nil {
			return 0, err
		}
		start := time.Now()
		err = c.attempt(ctx, p)
		took := time.Since(start)
		if err != nil {
			return 0, err
		}
		t.waiting, turn, spent = append(t.waiting, waiting), append(turn, took), spent+took
	}
	t.times = append(t.times, turn...)
	t.add("p50 ms", milliseconds(percentile(turn, 50)))
	t.add("calls/s", float64(len(turn))/spent.Seconds())
	// What this contender clears up must not slow down the next.
	_, err = c.ready(ctx)
	return len(turn), err
}

// sustained is a turn of several calls at a time for as long as the window. It
// returns the number of calls.
func (t *tally) sustained(ctx context.Context, c *contender, p part) (calls int, err error) {
	waiting, err := c.ready(ctx)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	b := &burst{from: start.Add(t.window / 4), until: start.Add(t.window)}
	var workers sync.WaitGroup
	for range p.atOnce {
		workers.Go(func() {
			for b.call(ctx, c, p) {
			}
		})
	}
	workers.Wait()
	if b.failure != nil {
		return 0, b.failure
	}
	if len(b.times) == 0 {
		return 0, fmt.Errorf("no call began in the last three quarters of %v: measure for longer", t.window)
	}
	t.waiting, t.times = append(t.waiting, waiting), append(t.times, b.times...)
	t.add("p50 ms", milliseconds(percentile(b.times, 50)))
	t.add("calls/s", float64(b.ended)/b.until.Sub(b.from).Seconds())
	if c.settle != nil {
		ended := time.Now()
		_, err = c.ready(ctx)
		t.add("settled ms", milliseconds(time.Since(ended)))
	}
	return b.all, err
}

// A burst is the measurement of a sustained turn. Its workers share it.
type burst struct {
	from, until time.Time // the time that counts

	mu      sync.Mutex
	times   []time.Duration // of calls that began in between
	ended   int             // calls that ended in between
	all     int             // calls
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
	b.all++
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

// measureMemory adds the memory that waits for each contender, ready but idle.
func measureMemory(ctx context.Context, contenders []*contender, r *report) error {
	for _, c := range contenders {
		if c.memory == nil {
			continue
		}
		if _, err := c.ready(ctx); err != nil {
			return err
		}
		waiting, err := c.memory(ctx)
		if err != nil {
			return fmt.Errorf("memory of %s: %w", c.name, err)
		}
		var own, shims []int64
		total := int64(0)
		for _, w := range waiting {
			own, shims = append(own, w.own), append(shims, w.extra)
			total += max(w.own, 0) + max(w.extra, 0)
		}
		each := amount(percentile(own, 50))
		if shim := percentile(shims, 50); shim != 0 {
			each += " and its shim " + amount(shim)
		}
		r.Notes = append(r.Notes, fmt.Sprintf("memory that waits: %s: %d sandboxes, each %s; together %s", c.name, len(waiting), each, amount(total)))
	}
	return nil
}

// amount renders a number of bytes, -1 for an unknown one.
func amount(bytes int64) string {
	if bytes < 0 {
		return "unknown"
	}
	return sandbox.Bytes(bytes)
}
