//go:build amd64 || arm64

package native

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// A Driver runs commands in sandboxes of the Linux kernel.
type Driver struct {
	log    *slog.Logger
	warm   int
	egress *egress.Options

	life *sandbox.Lifetime // ended by Close

	mu   sync.Mutex
	host *host // nil before the first run
	pool *pool // of host
}

// New returns a Driver; options may be nil. It does nothing before the first
// run.
func New(options *Options) *Driver {
	d := &Driver{log: slog.New(slog.DiscardHandler), warm: defaultWarm, life: sandbox.NewLifetime()}
	if options == nil {
		return d
	}
	if options.Logger != nil {
		d.log = options.Logger
	}
	d.egress = options.Egress
	if options.Warm != 0 {
		d.warm = max(options.Warm, 0)
	}
	return d
}

// Run runs cmd as [sandbox.Driver] says. A reader in cmd.Stdin that blocks does
// not hold it up; one Read may still be under way when Run returns.
func (d *Driver) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	if err := checkDependencies(cmd); err != nil {
		return nil, err
	}
	ctx, leave, err := d.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p, err := d.learn()
	if err != nil {
		return nil, diagnose(err)
	}
	return p.run(ctx, cmd)
}

// Open makes a sandbox for several commands, as [sandbox.SessionDriver] says.
func (d *Driver) Open(ctx context.Context, cmd *sandbox.Command) (sandbox.Session, error) {
	opening, opened, err := d.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer opened()
	if opening.Err() != nil {
		return nil, context.Cause(opening)
	}
	p, err := d.learn()
	if err != nil {
		return nil, diagnose(err)
	}
	k, err := p.keep(opening, cmd)
	if err != nil {
		return nil, err
	}
	life, leave, err := d.life.Join(context.WithoutCancel(ctx))
	if err != nil { // closed by now, which waits for opened
		leave = func() {}
	}
	k.leave = leave
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	context.AfterFunc(life, func() { _ = k.Close() })
	return k, nil
}

// Close ends the runs under way, and what is ready for others, and waits until
// all is gone.
func (d *Driver) Close() error {
	d.life.End()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.host == nil {
		return nil
	}
	d.pool.close()
	d.host.cgroups.close()
	err := d.host.program.close()
	d.host, d.pool = nil, nil
	return err
}

// learn finds out what there is to know about the machine, once.
func (d *Driver) learn() (*pool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.host != nil {
		return d.pool, nil
	}
	h, err := newHost(d.log)
	if err != nil {
		return nil, err
	}
	if len(h.cgroups.parents) == 0 {
		d.log.Warn("sandboxes have no cgroup: their memory is watched ten times a second, and processor time bounded by the deadline alone")
	}
	d.host, d.pool = h, newPool(h, d.warm, d.egress)
	return d.pool, nil
}
