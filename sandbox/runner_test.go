package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRunnerResult(t *testing.T) {
	var live bytes.Buffer
	r := newRunner(t, &fake{run: func(_ context.Context, cmd *Command) (*Exit, error) {
		cmd.Started()
		_, _ = cmd.Stdout.Write([]byte("out"))
		_, _ = cmd.Stderr.Write([]byte("err"))
		return &Exit{Code: 3, Sandbox: "fake"}, nil
	}}, nil)
	result, err := r.Run(t.Context(), Command{Stderr: &live})
	if err != nil {
		t.Fatal(err)
	}
	if result.Code != 3 || result.Sandbox != "fake" || string(result.Stdout.Bytes()) != "out" || string(result.Stderr.Bytes()) != "err" || live.String() != "err" {
		t.Errorf("result %+v, live %q", result, live.String())
	}
}

func TestRunnerFillsInLimits(t *testing.T) {
	var got Limits
	r := newRunner(t, &fake{run: func(_ context.Context, cmd *Command) (*Exit, error) {
		got = cmd.Limits
		cmd.Started()
		return &Exit{}, nil
	}}, &Options{Limits: Limits{Memory: 1, PIDs: 2}})
	if _, err := r.Run(t.Context(), Command{Limits: Limits{PIDs: 3}}); err != nil {
		t.Fatal(err)
	}
	want := DefaultLimits()
	want.Memory, want.PIDs = 1, 3
	if got != want {
		t.Errorf("limits %+v, want %+v", got, want)
	}
}

func TestRunnerTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, &fake{run: func(ctx context.Context, cmd *Command) (*Exit, error) {
			time.Sleep(time.Hour) // preparations do not count
			cmd.Started()
			_, _ = cmd.Stdout.Write([]byte("so far"))
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}, nil)
		result, err := r.Run(t.Context(), Command{Limits: Limits{Timeout: time.Minute}})
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Limit != LimitTime || limit.Error() != "stopped at its time limit of 1m0s" {
			t.Fatalf("error %v", err)
		}
		if result == nil || result.WallTime != time.Minute || string(result.Stdout.Bytes()) != "so far" {
			t.Errorf("result %+v", result)
		}
	})
}

func TestRunnerOutputLimit(t *testing.T) {
	r := newRunner(t, &fake{run: func(ctx context.Context, cmd *Command) (*Exit, error) {
		cmd.Started()
		for ctx.Err() == nil {
			_, _ = cmd.Stderr.Write([]byte(strings.Repeat("x", 100)))
		}
		return nil, context.Cause(ctx)
	}}, nil)
	result, err := r.Run(t.Context(), Command{Limits: Limits{Output: 1 << 10}})
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Limit != LimitOutput || limit.Value != "1 KB" {
		t.Fatalf("error %v", err)
	}
	if o := result.Stderr; !o.Truncated() || len(o.Head)+len(o.Tail) > 1<<10 {
		t.Errorf("kept %d and %d of %d", len(o.Head), len(o.Tail), o.Total)
	}
}

func TestRunnerNotStarted(t *testing.T) {
	missing := &UnavailableError{Reason: "no engine"}
	r := newRunner(t, &fake{run: func(context.Context, *Command) (*Exit, error) { return nil, missing }}, nil)
	if result, err := r.Run(t.Context(), Command{}); result != nil || !errors.Is(err, missing) {
		t.Errorf("result %v, error %v", result, err)
	}
	forgot := newRunner(t, &fake{run: func(context.Context, *Command) (*Exit, error) { return &Exit{}, nil }}, nil)
	if result, err := forgot.Run(t.Context(), Command{RunID: "run-1"}); result != nil || err == nil {
		t.Errorf("result %v, error %v", result, err)
	}
}

func TestRunnerCancellation(t *testing.T) {
	r := newRunner(t, &fake{run: untilDone}, nil)
	cause := errors.New("the client left")
	ctx, cancel := context.WithCancelCause(t.Context())
	result, err := r.Run(ctx, Command{Started: func() { cancel(cause) }})
	if result == nil || !errors.Is(err, cause) {
		t.Errorf("result %v, error %v", result, err)
	}
}

func TestRunnerClose(t *testing.T) {
	driver := &fake{run: untilDone}
	r := New(driver, nil)
	started, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := r.Run(t.Context(), Command{Started: func() { close(started) }})
		ended <- err
	}()
	<-started
	closed := make(chan error)
	go func() { closed <- r.Close() }()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	if err := <-closed; err != nil || driver.closed != 1 {
		t.Errorf("close: %v, %d times", err, driver.closed)
	}
	if _, err := r.Run(t.Context(), Command{}); !errors.Is(err, ErrClosed) {
		t.Errorf("afterwards: %v", err)
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

func TestEnviron(t *testing.T) {
	cmd := &Command{Env: []string{"A=1", "HOME=/elsewhere", "A=2", "B=a=b"}}
	want := "PATH=/bin HOME=/elsewhere TMPDIR=/tmp LANG=C.UTF-8 A=2 B=a=b"
	if got := strings.Join(cmd.Environ("PATH=/bin"), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAliased(t *testing.T) {
	for want, workspaces := range map[bool][][]string{
		true:  {{"/home/me"}, {"/workspaces/a"}, {"/a", "/b"}},
		false: {nil, {"/workspace"}, {"/workspace/a"}, {"/a", "/workspace/b"}},
	} {
		for _, w := range workspaces {
			if got := (Grant{Workspaces: w}).Aliased(); got != want {
				t.Errorf("%v: %t", w, got)
			}
		}
	}
}
