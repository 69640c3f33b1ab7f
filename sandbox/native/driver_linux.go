//go:build amd64 || arm64

package native

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
)

// A Driver runs commands in sandboxes of the Linux kernel.
type Driver struct {
	log    *slog.Logger
	warm   int
	egress *egress.Options
	guard  *protect.Guard
	taken  func(ready bool) // nil is fine

	life    *sandbox.Lifetime // ended by Close
	reclaim sync.WaitGroup    // started by New

	mu   sync.Mutex
	host *host // nil before the first run
	pool *pool // of host
}

// New returns a Driver; options may be nil. It does nothing before the first
// run, but for [Options.Reclaim].
func New(options *Options) *Driver {
	d := &Driver{log: slog.New(slog.DiscardHandler), warm: defaultWarm, life: sandbox.NewLifetime()}
	if options == nil {
		return d
	}
	if options.Logger != nil {
		d.log = options.Logger
	}
	d.egress, d.guard, d.taken = options.Egress, options.Guard, options.Taken
	if options.Warm != 0 {
		d.warm = max(options.Warm, 0)
	}
	if options.Reclaim {
		d.reclaim.Go(func() { findCgroups(d.log) })
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
	p, err := d.detect()
	if err != nil {
		return nil, diagnose(err)
	}
	cmd, release, err := d.guard.Hold(cmd, 0)
	if err != nil {
		return nil, err
	}
	defer release()
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
	p, err := d.detect()
	if err != nil {
		return nil, diagnose(err)
	}
	k, err := p.openSession(opening, cmd)
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

// Close ends all runs and ready sandboxes, and waits for their end.
func (d *Driver) Close() error {
	d.life.End()
	d.reclaim.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.host == nil {
		return nil
	}
	d.pool.close()
	err := d.host.close()
	d.host, d.pool = nil, nil
	return err
}

// detect examines the machine, once.
func (d *Driver) detect() (*pool, error) {
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
		// Not a warning: each command of the program would begin with it. doctor warns.
		d.log.Info("sandboxes have no cgroup: their memory is watched ten times a second, and processor time bounded by the deadline alone")
	}
	d.host, d.pool = h, newPool(h, d.warm, d.egress)
	if d.taken != nil {
		d.pool.taken = d.taken
	}
	return d.pool, nil
}

// Check reports which parts of the native sandbox work on this machine. It runs
// the command true.
func (d *Driver) Check(ctx context.Context) []sandbox.Finding {
	first := d.checkSandbox(ctx)
	if first.Level == sandbox.LevelFailed {
		return []sandbox.Finding{first}
	}
	return []sandbox.Finding{first, d.checkLimits()}
}

func (d *Driver) checkSandbox(ctx context.Context) sandbox.Finding {
	exit, err := d.Run(ctx, &sandbox.Command{RunID: "check", Argv: []string{"true"}, Folder: "/usr", Warm: -1})
	switch {
	case err != nil:
		return sandbox.FailedBy("sandbox", err)
	case exit.Code != 0:
		return sandbox.Failed("sandbox", fmt.Sprintf("a command in it ended with %d", exit.Code), "")
	}
	return sandbox.OK("sandbox", "namespaces, mounts and the seccomp filter work")
}

func (d *Driver) checkLimits() sandbox.Finding {
	const subject = "cgroup limits"
	p, err := d.detect()
	if err != nil {
		return sandbox.Warning(subject, err.Error(), "")
	}
	controllers := p.host.cgroups.controllers()
	if len(controllers) == len(wantedControllers) {
		return sandbox.OK(subject, "memory, processes and processor time of each sandbox are bounded")
	}
	detail := "of memory, pids and cpu only these can be bounded for a whole sandbox: " + strings.Join(controllers, ", ")
	if len(controllers) == 0 {
		detail = "the server may not make cgroups: a sandbox's memory is watched ten times a second instead, and processor time bounded only by the deadline"
	}
	return sandbox.Warning(subject, detail, "start the server in a cgroup of the user's own, such as with 'systemd-run --user --scope skills-mcp …'")
}

// Identify implements [sandbox.Identifier]: whatever the role, sandboxes have the
// programs in the machine's folders for these. A folder's time changes when a
// program comes or goes.
func (d *Driver) Identify(ctx context.Context, _ string) (sandbox.Base, error) {
	if err := ctx.Err(); err != nil {
		return sandbox.Base{}, context.Cause(ctx)
	}
	if _, err := d.detect(); err != nil {
		return sandbox.Base{}, diagnose(err)
	}
	hash := sha256.New()
	for dir := range strings.SplitSeq(systemPath(), ":") {
		info, err := os.Stat(dir)
		if err != nil {
			fmt.Fprintf(hash, "%s -\n", dir)
			continue
		}
		fmt.Fprintf(hash, "%s %d\n", dir, info.ModTime().UnixNano())
	}
	return sandbox.Base{
		ID: "folders " + hex.EncodeToString(hash.Sum(nil)), Name: "the native sandbox",
		Remedy: "install it for all users of this machine",
	}, nil
}

// checkDependencies refuses a command that depends on packages: there is no
// image here that they could be installed into.
func checkDependencies(cmd *sandbox.Command) error {
	if len(cmd.Dependencies) == 0 {
		return nil
	}
	return &sandbox.UnavailableError{
		Reason: "the native sandbox has no images, so it cannot install the packages that the skill declares",
		Remedy: "use the docker driver, or, for a script, install them on this machine and set sandbox.dependencies: report",
	}
}
