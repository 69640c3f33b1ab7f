package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestMeter has a command wait for longer than it may run. Its slot is another's
// meanwhile.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := &Meter{}
		var runner *Runner
		runner = newRunner(t, &fake{run: func(ctx context.Context, cmd *Command) (*Exit, error) {
			cmd.Started()
			if cmd.RunID == "other" {
				return &Exit{}, nil
			}
			time.Sleep(30 * time.Second)
			meter.Pause()
			meter.Pause() // is paused already
			time.Sleep(time.Hour)
			if _, err := runner.Run(ctx, Command{RunID: "other"}); err != nil {
				t.Errorf("the other: %v", err)
			}
			if err := meter.Resume(ctx); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}, &Options{Slots: Slots{Total: 1, PerSkill: 1}})
		result, err := runner.Run(t.Context(), Command{Meter: meter, Limits: Limits{Timeout: time.Minute}})
		var limit *LimitError
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
	meter := &Meter{}
	runner := newRunner(t, &fake{run: func(_ context.Context, cmd *Command) (*Exit, error) {
		cmd.Started()
		meter.Pause()
		return &Exit{}, nil
	}}, &Options{Slots: Slots{Total: 1, PerSkill: 1}})
	for range 3 {
		if _, err := runner.Run(t.Context(), Command{Meter: meter}); err != nil {
			t.Fatal(err)
		}
	}
	if runner.gate.total != 0 {
		t.Errorf("%d slots are taken", runner.gate.total)
	}
}

// TestMeterResume has another command hold the slot when the first is to go on.
func TestMeterResume(t *testing.T) {
	meter := &Meter{}
	gone := errors.New("gone")
	runner := newRunner(t, &fake{run: func(_ context.Context, cmd *Command) (*Exit, error) {
		cmd.Started()
		meter.Pause()
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if err := meter.Resume(ctx); !errors.Is(err, gone) {
			t.Errorf("resume: %v, want that the context has ended", err)
		}
		return &Exit{}, nil
	}}, &Options{Slots: Slots{Total: 1, PerSkill: 1}})
	release := func() {}
	defer func() { release() }()
	cmd := Command{Meter: meter, Started: func() {
		meter.Pause()
		release, _ = runner.gate.acquire(t.Context(), Tenant{ID: "other"}, "other", func() {})
	}}
	if _, err := runner.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
}

type closing struct {
	io.Writer
	close func()
}

func (c closing) Close() error { c.close(); return nil }

func TestSieve(t *testing.T) {
	var live bytes.Buffer
	runner := newRunner(t, &fake{run: func(_ context.Context, cmd *Command) (*Exit, error) {
		cmd.Started()
		_, _ = cmd.Stdout.Write([]byte("a question"))
		return &Exit{}, nil
	}}, nil)
	sieve := func(out io.Writer) io.WriteCloser {
		taken := writerFunc(func(p []byte) (int, error) { return len(p), nil })
		return closing{taken, func() { _, _ = io.WriteString(out, "rest") }}
	}
	result, err := runner.Run(t.Context(), Command{Sieve: sieve, Stdout: &live})
	if err != nil || string(result.Stdout.Bytes()) != "rest" || live.String() != "rest" {
		t.Errorf("kept %q, live %q, %v", result.Stdout.Bytes(), live.String(), err)
	}
}
