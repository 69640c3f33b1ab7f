// Command skills-mcp serves the skills that a person has as MCP tools, and runs
// each call in a fresh sandbox. Run it without arguments for help.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A client that is gone is seen as a failed write, so that what runs for it
	// is ended before this program is.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := interruptible(context.Background())
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
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
