package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// Options configure a [Runner]. The zero value is usable.
type Options struct {
	// Admission decides when commands run; nil runs each at once.
	Admission Admission
	// Limits are for commands that leave theirs open; zero fields: DefaultLimits.
	Limits Limits
	// Observe is called with each admitted command, to which it may add variables, and with
	// the time that it waited. It returns the context of the run, and a function that is
	// called with its end. nil observes nothing.
	Observe func(ctx context.Context, cmd *Command, queued time.Duration) (context.Context, func(*Result, error))
}

// An Admission bounds how many commands run at once. Package
// [github.com/skillsmcp/skills-mcp/sandbox/admission] has one.
type Admission interface {
	// Admit waits for a slot and returns the function that gives it back, which may
	// be called more than once. It calls queued, without blocking others, where it
	// has to wait. The error is [ErrBusy], or the cause of ctx's end, when it must
	// return.
	Admit(ctx context.Context, tenant Tenant, skill string, queued func()) (release func(), err error)
}

// A Runner runs commands with a driver: when they are admitted, within their limits,
// with bounded output.
type Runner struct {
	driver    Driver
	admission Admission
	limits    Limits
	observe   func(context.Context, *Command, time.Duration) (context.Context, func(*Result, error)) // nil for none
	life      *Lifetime                                                                              // ended by Close
	serving   *Lifetime                                                                              // of Serve; ended by Close, before life
}

// endTime is the time for servers that have no input any more, all together.
const endTime = 2 * time.Second

// New returns a Runner for driver, which it owns from now on. Options may be
// nil.
func New(driver Driver, options *Options) *Runner {
	var o Options
	if options != nil {
		o = *options
	}
	o.Admission = cmp.Or[Admission](o.Admission, unbounded{})
	return &Runner{driver: driver, admission: o.Admission, limits: o.Limits.Or(DefaultLimits()), observe: o.Observe, life: NewLifetime(), serving: NewLifetime()}
}

// unbounded admits every command at once.
type unbounded struct{}

func (unbounded) Admit(context.Context, Tenant, string, func()) (func(), error) {
	return func() {}, nil
}

// Limits returns the limits of commands that leave theirs open.
func (r *Runner) Limits() Limits { return r.limits }

// Run runs cmd and returns when it has ended. The result is non-nil whenever the
// command started; the error says why it did not start or did not end by itself:
// [ErrBusy], [ErrClosed], an [*UnavailableError], a [*LimitError], or the cause of
// ctx's end. A command that ended by itself with a code other than 0 is no error.
func (r *Runner) Run(ctx context.Context, cmd Command) (*Result, error) {
	cmd.Meter = cmp.Or(cmd.Meter, new(Meter))
	return r.run(ctx, r.driver.Run, cmd)
}

// Open opens a sandbox for several commands like cmd, with the driver; see
// [SessionDriver].
func (r *Runner) Open(ctx context.Context, cmd Command) (Session, error) {
	ctx, leave, err := r.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if cmd.Progress == nil {
		cmd.Progress = func(string) {}
	}
	cmd.Limits = cmd.Limits.Or(r.limits)
	return openSession(ctx, r.driver, &cmd)
}

// RunIn runs cmd in a sandbox that Open has opened, as Run does in a fresh one; see
// [Session] for the fields of cmd that count.
func (r *Runner) RunIn(ctx context.Context, session Session, cmd Command) (*Result, error) {
	cmd.Meter = cmp.Or(cmd.Meter, new(Meter))
	return r.run(ctx, session.Run, cmd)
}

// Serve starts cmd, a server that lasts until it or ctx ends, as Run does, but without a
// slot, and without a bound of its output: it answers commands of others, which have these.
// Without an error it calls ended once, in the background; Close waits for that too, and closes
// the command's input, if it is an [io.Closer], two seconds before it ends the server. If this
// program is killed, the sandbox stays for at most Limits.Timeout.
func (r *Runner) Serve(ctx context.Context, cmd Command, ended func(*Exit, error)) error {
	ctx, leave, err := r.life.Join(ctx)
	if err != nil {
		return err
	}
	closing, left, err := r.serving.Join(context.Background())
	if err != nil {
		leave()
		return err
	}
	stop := func() bool { return true }
	if input, ok := cmd.Stdin.(io.Closer); ok {
		stop = context.AfterFunc(closing, func() { _ = input.Close() })
	}
	cmd.Limits, cmd.Meter = cmd.Limits.Or(r.limits), new(Meter)
	if cmd.Progress == nil {
		cmd.Progress = func(string) {}
	}
	go func() {
		defer leave()
		defer left()
		exit, err := r.driver.Run(ctx, &cmd)
		if stop(); closing.Err() != nil {
			err = cmp.Or(err, ErrClosed) // it has not failed
		}
		ended(exit, err)
	}()
	return nil
}

// Forget discards sandboxes that are ready for a skill, by its qualified name,
// which has changed or gone.
func (r *Runner) Forget(skill string) { forget(r.driver, skill) }

// Renew begins to get a sandbox ready again for a skill, where Forget has discarded some;
// see [Warmer].
func (r *Runner) Renew(skill string, folder func() (string, error)) error {
	return renew(r.driver, skill, folder)
}

// Close ends the runs under way, waits for them, and closes the driver.
func (r *Runner) Close() error {
	served := make(chan struct{})
	go func() {
		r.serving.End()
		close(served)
	}()
	select {
	case <-served:
	case <-time.After(endTime):
	}
	r.life.End()
	<-served
	return r.driver.Close()
}

// A start runs one command, as [Driver].Run does.
type start func(context.Context, *Command) (*Exit, error)

// run runs cmd by start when it is admitted.
func (r *Runner) run(ctx context.Context, start start, cmd Command) (*Result, error) {
	ctx, leave, err := r.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if cmd.Progress == nil {
		cmd.Progress = func(string) {}
	}
	came := time.Now()
	err = cmd.Meter.begin(ctx, func(ctx context.Context) (func(), error) {
		return r.admission.Admit(ctx, cmd.Tenant, cmd.Skill, func() { cmd.Progress("waiting for other calls to finish") })
	})
	if err != nil {
		return nil, err
	}
	defer cmd.Meter.end()
	cmd.Limits = cmd.Limits.Or(r.limits)
	queued, ended := time.Since(came), func(*Result, error) {}
	if r.observe != nil {
		ctx, ended = r.observe(ctx, &cmd, queued)
	}
	result, err := bounded(ctx, start, cmd)
	if result != nil {
		result.Queued = queued
	}
	ended(result, err)
	return result, err
}

// bounded runs cmd by start, with a deadline and bounded output.
func bounded(ctx context.Context, start start, cmd Command) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limits := cmd.Limits
	flood := func() { cancel(&LimitError{LimitOutput, Bytes(limits.Output)}) }
	stdout, stderr := newCapture(limits.Output, flood), newCapture(limits.Output, flood)
	clock := &clock{timeout: limits.Timeout, expired: func() {
		cancel(&LimitError{LimitTime, limits.Timeout.String()})
	}}
	defer clock.stop()
	cmd.Meter.measure(clock)

	started := cmd.Started
	cmd.Stdout, cmd.Stderr = tee(stdout, cmd.Stdout), tee(stderr, cmd.Stderr)
	flush := filter(&cmd)
	cmd.Started = func() {
		clock.start()
		if started != nil {
			started()
		}
	}
	exit, err := start(ctx, &cmd)
	flush()
	wall, ran := clock.stop()
	if !ran {
		if err == nil {
			err = fmt.Errorf("run %s: the driver never started it", cmd.RunID)
		}
		return nil, err
	}
	result := &Result{Stdout: stdout.output(), Stderr: stderr.output(), WallTime: wall}
	if exit != nil {
		exit.Redact(cmd.Redact)
		result.Exit, result.Exited = *exit, true
	}
	return result, err
}

// tee returns a writer to captured and, where there is one, to live. Errors of live
// are ignored: they must not keep the output from being captured.
func tee(captured io.Writer, live io.Writer) io.Writer {
	if live == nil {
		return captured
	}
	return writerFunc(func(p []byte) (int, error) {
		_, _ = live.Write(p)
		return captured.Write(p)
	})
}

// filter puts the command's filters, if it has some, before its output. The returned
// function ends them.
func filter(cmd *Command) (flush func()) {
	var filters []io.Closer // the first of the stream last
	put := func(w io.WriteCloser) io.Writer {
		filters = append(filters, w)
		return w
	}
	if cmd.Sieve != nil {
		cmd.Stdout = put(cmd.Sieve(cmd.Stdout))
	}
	if cmd.Redact != nil { // questions, too
		cmd.Stdout, cmd.Stderr = put(cmd.Redact.Writer(cmd.Stdout)), put(cmd.Redact.Writer(cmd.Stderr))
	}
	return func() {
		for _, f := range slices.Backward(filters) {
			_ = f.Close() // nothing can be done about the bytes that it holds back
		}
	}
}

// Redact replaces values in what a command left. r may be nil.
func (e *Exit) Redact(r Redactor) {
	if r == nil {
		return
	}
	for i, f := range e.Out.Taken {
		e.Out.Taken[i] = File{r.String(f.Name), []byte(r.String(string(f.Data)))}
	}
	for i, why := range e.Out.Left {
		e.Out.Left[i] = r.String(why)
	}
	for i := range e.Connections {
		c := &e.Connections[i]
		c.Host, c.Refused = r.String(c.Host), r.String(c.Refused)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
