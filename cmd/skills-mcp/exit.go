package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes. `run` also exits with the code of the skill.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// An exitError ends the program with a code, and prints its error, if any.
type exitError struct {
	code int
	err  error // nil if everything is printed already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError marks an error as wrong usage.
func usageError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

// An interruption is the end of the program's context by a signal.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string {
	return fmt.Sprintf("stopped by the signal %d (%s)", int(i.signal), i.signal)
}

// Is reports an interruption as a cancellation, as of any other context.
func (i *interruption) Is(target error) bool { return target == context.Canceled }

// code returns the exit code that shells use for the signal.
func (i *interruption) code() int { return 128 + int(i.signal) }

// interruptible returns a context that a signal ends, with an [*interruption] as
// its cause. It handles every signal by which systems and people end programs, as
// sandboxes would survive an unhandled one. A signal that the parent ignores for this
// program, as nohup does, is still ignored.
func interruptible(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			cancel(&interruption{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
