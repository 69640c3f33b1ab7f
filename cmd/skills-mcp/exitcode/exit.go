// Package exitcode has the exit codes of the program, the errors that carry one, and the end
// of the program by a signal.
//
// Start with [Usage] and [Interruptible].
package exitcode

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// Exit codes. `run` also exits with the code of the skill.
const (
	OK         = 0
	Failed     = 1
	WrongUsage = 2
)

// An Error ends the program with a code, and prints its error, if any.
type Error struct {
	Code int
	Err  error // nil if everything is printed already
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Silent returns an error with a code, which prints nothing: all is printed already.
func Silent(code int) error { return &Error{Code: code} }

// Usage marks an error as wrong usage.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &Error{WrongUsage, err}
}

// An Interruption is the end of the program's context by a signal.
type Interruption struct {
	signal syscall.Signal
	again  chan struct{} // closed by the next signal
}

func (i *Interruption) Error() string {
	return fmt.Sprintf("stopped by the signal %d (%s)", int(i.signal), i.signal)
}

// Is reports an interruption as a cancellation, as of any other context.
func (i *Interruption) Is(target error) bool { return target == context.Canceled }

// Code returns the exit code that shells use for the signal.
func (i *Interruption) Code() int { return 128 + int(i.signal) }

// Again returns a channel that is closed by a second signal: the program ends without the
// time that it has given itself.
func (i *Interruption) Again() <-chan struct{} { return i.again }

// hangupKey is the key of a context's hangups.
type hangupKey struct{}

// hangups are the signals SIGHUP of a program that reads its configuration again by them.
type hangups struct {
	taken atomic.Bool   // else they end the program
	each  chan struct{} // holds one that has not been read
}

// Hangups returns a channel with each SIGHUP from now on, in place of the end of ctx, which
// is of [Interruptible].
func Hangups(ctx context.Context) <-chan struct{} {
	h, ok := ctx.Value(hangupKey{}).(*hangups)
	if !ok {
		return nil
	}
	h.taken.Store(true)
	return h.each
}

// Interruptible returns a context that a signal ends, with an [*Interruption] as
// its cause. It handles every signal by which systems and people end programs, as
// sandboxes would survive an unhandled one. A signal that the parent ignores for this
// program, as nohup does, is still ignored.
func Interruptible(ctx context.Context) (_ context.Context, stop func()) {
	h := &hangups{each: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, hangupKey{}, h))
	signals := make(chan os.Signal, 4)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	stopped := make(chan struct{})
	go func() {
		var ended *Interruption
		for {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				switch {
				case number == syscall.SIGHUP && h.taken.Load():
					select {
					case h.each <- struct{}{}:
					default:
					}
				case ended == nil:
					ended = &Interruption{number, make(chan struct{})}
					cancel(ended)
				default:
					close(ended.again)
					return
				}
			case <-stopped:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
		close(stopped)
	}
}
