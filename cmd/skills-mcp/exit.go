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

// exitError ends the program with a code; the message, if any, is printed.
type exitError struct {
	code int
	err  error // nil where everything has been said
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError marks an error as one of how the program was called.
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

// Is says that it is a cancellation, as of any other context.
func (i *interruption) Is(target error) bool { return target == context.Canceled }

// code is the exit code that shells have for the signal.
func (i *interruption) code() int { return 128 + int(i.signal) }

// interruptible returns a context that a signal ends, with an [*interruption] as
// its cause. It handles every signal by which systems and people end programs:
// sandboxes would run on after one that is not handled. A signal that the parent has
// this program ignore, as nohup does, is still ignored.
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
