package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a driver whose commands are functions.
type fake struct {
	run func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error)
}

func (f *fake) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	return f.run(ctx, cmd)
}

func (*fake) Close() error { return nil }

// untilDone is a command that runs until it is ended.
func untilDone(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// newRunner returns a runner of driver's commands, and the queue that admits them.
func newRunner(t *testing.T, driver sandbox.Driver, slots *Slots) (*sandbox.Runner, *Queue) {
	t.Helper()
	queue := New(slots)
	r := sandbox.New(driver, &sandbox.Options{Admission: queue})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, queue
}

// TestMeter has a command wait for longer than it may run. Its slot is another's
// meanwhile.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := &sandbox.Meter{}
		var runner *sandbox.Runner
		runner, _ = newRunner(t, &fake{run: func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
			cmd.Started()
			if cmd.RunID == "other" {
				return &sandbox.Exit{}, nil
			}
			time.Sleep(30 * time.Second)
			meter.Pause()
			meter.Pause() // is paused already
			time.Sleep(time.Hour)
			if _, err := runner.Run(ctx, sandbox.Command{RunID: "other"}); err != nil {
				t.Errorf("the other: %v", err)
			}
			if err := meter.Resume(ctx); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}, &Slots{Total: 1, PerSkill: 1})
		result, err := runner.Run(t.Context(), sandbox.Command{Meter: meter, Limits: sandbox.Limits{Timeout: time.Minute}})
		var limit *sandbox.LimitError
		if !errors.As(err, &limit) || result.WallTime != time.Minute {
			t.Errorf("result %+v, %v; want the time limit", result, err)
		}
		if err := meter.Resume(t.Context()); err != nil {
			t.Errorf("resume after the end: %v", err)
		}
	})
}

// TestMeterEnd has a command end while it waits: its slot is given back once.
func TestMeterEnd(t *testing.T) {
	meter := &sandbox.Meter{}
	runner, queue := newRunner(t, &fake{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		meter.Pause()
		return &sandbox.Exit{}, nil
	}}, &Slots{Total: 1, PerSkill: 1})
	for range 3 {
		if _, err := runner.Run(t.Context(), sandbox.Command{Meter: meter}); err != nil {
			t.Fatal(err)
		}
	}
	if queue.taken != 0 {
		t.Errorf("%d slots are taken", queue.taken)
	}
}

// TestMeterResume has another command hold the slot when the first is to go on.
func TestMeterResume(t *testing.T) {
	meter := &sandbox.Meter{}
	gone := errors.New("gone")
	runner, queue := newRunner(t, &fake{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		meter.Pause()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if err := meter.Resume(ctx); !errors.Is(err, gone) {
			t.Errorf("resume: %v, want that the context has ended", err)
		}
		return &sandbox.Exit{}, nil
	}}, &Slots{Total: 1, PerSkill: 1})
	release := func() {}
	defer func() { release() }()
	cmd := sandbox.Command{Meter: meter, Started: func() {
		meter.Pause()
		release, _ = queue.Admit(t.Context(), sandbox.Tenant{ID: "other"}, "other", func() {})
	}}
	if _, err := runner.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
}

func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, queue := newRunner(t, &fake{run: untilDone}, &Slots{Total: 3, PerTenant: 2, PerSkill: 3, Queue: 2})
		type call struct {
			cancel   context.CancelFunc
			progress string
			started  bool
			err      error
		}
		begin := func(caller string) *call {
			ctx, cancel := context.WithCancel(t.Context())
			c := &call{cancel: cancel}
			go func() {
				_, c.err = r.Run(ctx, sandbox.Command{
					Tenant:   sandbox.Tenant{ID: caller},
					Started:  func() { c.started = true },
					Progress: func(m string) { c.progress = m },
				})
			}()
			synctest.Wait()
			return c
		}
		ann1, ann2, ann3 := begin("ann"), begin("ann"), begin("ann")
		bob1, bob2 := begin("bob"), begin("bob")
		if !ann1.started || !ann2.started || ann3.started || !bob1.started || bob2.started {
			t.Fatal("not the first two of ann and the first of bob have started")
		}
		if ann3.progress != "waiting for other calls to finish" || bob1.progress != "" {
			t.Errorf("progress %q and %q", ann3.progress, bob1.progress)
		}
		if full := begin("cid"); !errors.Is(full.err, sandbox.ErrBusy) {
			t.Errorf("with the queue full: %v", full.err)
		}
		bob1.cancel() // ann has her two already, so the place is bob's
		synctest.Wait()
		if ann3.started || !bob2.started {
			t.Errorf("ann's third started: %t, bob's second: %t", ann3.started, bob2.started)
		}
		ann3.cancel() // while it waits
		synctest.Wait()
		if ann3.started || !errors.Is(ann3.err, context.Canceled) {
			t.Errorf("cancelled in the queue: started %t, %v", ann3.started, ann3.err)
		}
		ann1.cancel()
		ann2.cancel()
		bob2.cancel()
		synctest.Wait()
		if total, running := queue.taken, len(queue.tenants); total != 0 || running != 0 || queue.waiting != 0 {
			t.Errorf("left: %d of %d callers, %d waiting", total, running, queue.waiting)
		}
	})
}
