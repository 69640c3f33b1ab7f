package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
)

// A drainer starts no more calls, and returns when those under way have ended, or ctx has.
type drainer interface{ Drain(ctx context.Context) }

// inTurn drains one after the other.
type inTurn []drainer

// Drain implements drainer.
func (all inTurn) Drain(ctx context.Context) {
	for _, d := range all {
		d.Drain(ctx)
	}
}

// drain waits until no call is left, for a time and until a second signal. ctx has ended.
func drain(ctx context.Context, patience time.Duration, logger *slog.Logger, calls ...drainer) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	var all sync.WaitGroup
	if ended, ok := errors.AsType[*exitcode.Interruption](context.Cause(ctx)); ok {
		all.Go(func() {
			select {
			case <-ended.Again():
				cancel()
			case <-limited.Done():
			}
		})
	}
	var under sync.WaitGroup
	for _, c := range calls {
		under.Go(func() { c.Drain(limited) })
	}
	under.Wait()
	if limited.Err() != nil {
		logger.Warn("calls that still run are cancelled", "after", patience)
	}
	cancel()
	all.Wait()
}

// activated returns the socket that systemd listens on for this service, or nil.
func activated() (net.Listener, error) {
	all, err := activation.Listeners() // nobody below inherits them
	switch {
	case err != nil:
		return nil, fmt.Errorf("take the socket of systemd: %w", err)
	case len(all) == 0:
		return nil, nil
	case len(all) > 1:
		return nil, fmt.Errorf("systemd has passed %d sockets; name one ListenStream in the socket unit", len(all))
	}
	if _, ok := all[0].(*net.TCPListener); !ok {
		return nil, errors.New("the socket of systemd is none of TCP; write ListenStream=ADDRESS:PORT into the socket unit")
	}
	return all[0], nil
}

// notify tells systemd the state of the service, where that has started it so.
func notify(logger *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		logger.Warn("systemd does not take the state of the service", "err", err)
	}
}
