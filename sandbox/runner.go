package sandbox

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options configure a [Runner]. The zero value is usable.
type Options struct {
	Slots  Slots  // zero fields: DefaultSlots
	Limits Limits // for commands that leave theirs open; zero fields: DefaultLimits
	// Keeping bounds kept sandboxes; zero fields: DefaultKeeping.
	Keeping Keeping
}

// A Runner runs commands with a driver: when a slot is free, within their
// limits, with bounded output.
type Runner struct {
	driver Driver
	limits Limits
	gate   *gate
	keep   *keep
	life   *Lifetime // ended by Close
}

// New returns a Runner for driver, which it owns from now on. Options may be
// nil.
func New(driver Driver, options *Options) *Runner {
	var o Options
	if options != nil {
		o = *options
	}
	return &Runner{
		driver: driver,
		limits: o.Limits.Or(DefaultLimits()),
		gate:   newGate(o.Slots.Or(DefaultSlots())),
		keep:   newKeep(o.Keeping.Or(DefaultKeeping())),
		life:   NewLifetime(),
	}
}

// Run runs cmd and returns when it has ended. The result is non-nil whenever the command started; the error
// says why it did not start or did not end by itself: [ErrBusy], [ErrClosed],
// an [*UnavailableError], a [*LimitError], or the cause of ctx's end. A command
// that ended by itself with a code other than 0 is no error.
func (r *Runner) Run(ctx context.Context, cmd Command) (*Result, error) {
	ctx, leave, err := r.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	if cmd.Progress == nil {
		cmd.Progress = func(string) {}
	}
	if cmd.Meter == nil {
		cmd.Meter = new(Meter)
	}
	err = cmd.Meter.begin(ctx, func(ctx context.Context) (func(), error) {
		return r.gate.acquire(ctx, cmd.Tenant, cmd.Skill, func() { cmd.Progress(waiting) })
	})
	if err != nil {
		return nil, err
	}
	defer cmd.Meter.end()
	return run(ctx, cancel, r.driver.Run, cmd, cmd.Limits.Or(r.limits))
}

// waiting is the progress of a command that has no slot yet.
const waiting = "waiting for other calls to finish"

// Forget discards sandboxes that are ready for a skill, by its qualified name,
// which has changed or gone.
func (r *Runner) Forget(skill string) { forget(r.driver, skill) }

// Close ends the runs under way and the kept sandboxes, waits for them, and
// closes the driver.
func (r *Runner) Close() error {
	r.life.End()
	r.keep.close()
	return r.driver.Close()
}

// run puts the deadline and the output caps around one call of a driver's Run.
func run(ctx context.Context, cancel context.CancelCauseFunc, start func(context.Context, *Command) (*Exit, error), cmd Command, limits Limits) (*Result, error) {
	flood := func() { cancel(&LimitError{LimitOutput, Bytes(limits.Output)}) }
	stdout, stderr := newCapture(limits.Output, flood), newCapture(limits.Output, flood)
	clock := &clock{timeout: limits.Timeout, expired: func() {
		cancel(&LimitError{LimitTime, limits.Timeout.String()})
	}}
	defer clock.stop()
	if cmd.Meter != nil {
		cmd.Meter.time(clock)
	}

	started := cmd.Started
	cmd.Limits = limits
	cmd.Stdout, cmd.Stderr = tee(stdout, cmd.Stdout), tee(stderr, cmd.Stderr)
	sifted := sift(&cmd)
	cmd.Started = func() {
		clock.start()
		if started != nil {
			started()
		}
	}
	exit, err := start(ctx, &cmd)
	sifted()
	wall, ran := clock.stop()
	if !ran {
		if err == nil {
			err = fmt.Errorf("run %s: the driver never started it", cmd.RunID)
		}
		return nil, err
	}
	result := &Result{Stdout: stdout.output(), Stderr: stderr.output(), WallTime: wall}
	if exit != nil {
		result.Exit, result.Exited = *exit, true
	}
	return result, err
}

// tee returns a writer to kept and, where there is one, to live. What live
// does with it must not keep the output from being kept, so its errors are
// ignored.
func tee(kept io.Writer, live io.Writer) io.Writer {
	if live == nil {
		return kept
	}
	return writerFunc(func(p []byte) (int, error) {
		_, _ = live.Write(p)
		return kept.Write(p)
	})
}

// sift puts the command's sieve in front of its stdout, and returns what ends it.
func sift(cmd *Command) (end func()) {
	if cmd.Sieve == nil {
		return func() {}
	}
	sieve := cmd.Sieve(cmd.Stdout)
	cmd.Stdout = sieve
	return func() { _ = sieve.Close() } // nothing can be done about what is held back
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// clock measures a command from its start, and ends it at its timeout. Pauses do
// not count.
type clock struct {
	timeout time.Duration
	expired func()

	mu     sync.Mutex
	timer  *time.Timer   // nil until started
	began  time.Time     // the present stretch
	wall   time.Duration // of the stretches before it
	paused bool
	done   bool
}

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil || c.done {
		return
	}
	c.began = time.Now()
	c.timer = time.AfterFunc(c.timeout, c.expired)
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil && !c.done && !c.paused {
		c.halt()
		c.paused = true
	}
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || !c.paused {
		return
	}
	c.paused = false
	c.began = time.Now()
	c.timer.Reset(max(0, c.timeout-c.wall))
}

// halt ends a stretch.
func (c *clock) halt() {
	c.timer.Stop()
	c.wall += time.Since(c.began)
}

// stop returns how long the clock ran, and whether it was ever started.
func (c *clock) stop() (wall time.Duration, ran bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.done = true
		return 0, false
	}
	if !c.done && !c.paused {
		c.halt()
	}
	c.done = true
	return c.wall, true
}

// Bytes renders a number of bytes for people: "512 MB".
func Bytes(n int64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB"}
	unit, value := 0, float64(n)
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	if value == float64(int64(value)) {
		return fmt.Sprintf("%d %s", int64(value), units[unit])
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
