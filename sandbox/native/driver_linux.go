//go:build amd64 || arm64

package native

import (
	"context"
	"log/slog"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A Driver runs commands in sandboxes of the Linux kernel.
type Driver struct {
	log *slog.Logger

	ctx   context.Context // ends with Close
	close context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	host   *host          // nil before the first run
	runs   sync.WaitGroup // the runs under way; Close waits for them
}

// New returns a Driver; options may be nil. It does nothing before the first
// run.
func New(options *Options) *Driver {
	d := &Driver{log: slog.New(slog.DiscardHandler)}
	if options != nil && options.Logger != nil {
		d.log = options.Logger
	}
	d.ctx, d.close = context.WithCancelCause(context.Background())
	return d
}

// Run runs cmd as [sandbox.Driver] says. A reader in cmd.Stdin that blocks does
// not hold it up; one Read may still be under way when Run returns.
func (d *Driver) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	if !d.enter() {
		return nil, sandbox.ErrClosed
	}
	defer d.runs.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	h, err := d.learn()
	if err != nil {
		return nil, diagnose(err)
	}
	return h.run(ctx, cmd)
}

// Close ends the runs under way and waits for them.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.close(sandbox.ErrClosed)
	d.runs.Wait()

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.host == nil {
		return nil
	}
	err := d.host.program.close()
	d.host = nil
	return err
}

// learn returns what there is to know about the machine.
func (d *Driver) learn() (*host, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.host != nil {
		return d.host, nil
	}
	h, err := newHost(d.log)
	if err != nil {
		return nil, err
	}
	if len(h.cgroups.parents) == 0 {
		d.log.Warn("sandboxes have no cgroup: memory is bounded for each process, not for all of a sandbox")
	}
	d.host = h
	return h, nil
}

func (d *Driver) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.runs.Add(1)
	return true
}
