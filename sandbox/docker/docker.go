// Package docker runs each command in a container of its own, on whatever
// speaks the Docker Engine API: Docker Engine, Docker Desktop, Colima, Podman.
// Start with [New].
//
// A container is made for one command, is never used twice, and is removed on
// every path. A few are started ahead of the commands that they are for, and
// wait; see [warmpool]. All carry labels that name the driver's instance; nothing on
// the engine without such a label is ever touched. Those of a driver that was
// killed are removed by the next driver of any process that uses the engine, or that
// is made with [Options.Reclaim].
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker/seccomp"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
)

// Options configure a [Driver]. The zero value is usable, but knows no role.
type Options struct {
	// Images maps a role to the reference of its image. A command whose role is
	// not in it cannot run.
	Images map[string]string
	// Runtime is the OCI runtime's name as the engine knows it; "" is the
	// engine's default, and [RuntimeAuto] the strongest.
	Runtime string
	// Host is the engine's address, such as "unix:///var/run/docker.sock"; ""
	// looks for one at Places.
	Host string
	// Places is where engines are looked for when Host is "".
	Places Places
	// Pool bounds the containers that wait for commands.
	Pool warmpool.Limits
	// Dir is an absolute host folder, made where it is missing, for a few small
	// files. All drivers of a person share one: by it, one of them knows that
	// another was killed. With "" none is kept: containers of a driver that was
	// killed stay for a day, and starting one takes twice the time.
	Dir string
	// Reclaim removes, in the background from the start, the containers of drivers with
	// the same Dir that were killed. It contacts no engine without a trace of one.
	Reclaim bool
	// Forwarder is the absolute path of a program that is [egress.Main] where its
	// first argument is [egress.Command], and that runs in containers: a static
	// one for Linux. With "" commands that are granted hosts cannot run.
	Forwarder string
	// Egress configures the proxy to the hosts that a command is granted.
	Egress *egress.Options
	// Guard protects writable workspaces; without one, grants of these are refused.
	Guard *protect.Guard
	// DependencyEnv is the environment in which dependencies are installed, as
	// "KEY=value", such as PIP_INDEX_URL. It is in no sandbox and in no image.
	DependencyEnv []string
	// Logger logs what concerns the operator alone, such as containers that cannot be
	// removed. The default discards it.
	Logger *slog.Logger
}

// A Driver runs commands in containers. It is a [sandbox.Driver].
type Driver struct {
	owner *owner // of its containers

	roles     map[string]string // images' references
	runtime   string
	host      string
	places    Places
	dir       string
	forwarder string
	egress    *egress.Options
	guard     *protect.Guard

	engine     atomic.Pointer[engine] // nil until one has answered, and after it was lost
	connecting chan struct{}          // holds one token while somebody looks for an engine
	pulls      *pulls
	known      images
	pool       *warmpool.Pool[*instance]
	renewals   warmpool.Renewals[made]
	hosts      string // files; see engine
	profile    string
	layers     *layers

	watchers sync.WaitGroup // goroutines that run until Close; started by connect
}

// made has the origin of containers.
type made struct {
	engine *engine
	spec   *spec
}

// New returns a driver. It contacts no engine: the first use does, or
// [Options.Reclaim]. Options may be nil.
func New(options *Options) *Driver {
	var o Options
	if options != nil {
		o = *options
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	d := &Driver{
		owner:      newOwner(o.Logger),
		roles:      maps.Clone(o.Images),
		runtime:    o.Runtime,
		host:       o.Host,
		places:     o.Places,
		dir:        o.Dir,
		forwarder:  o.Forwarder,
		egress:     o.Egress,
		guard:      o.Guard,
		connecting: make(chan struct{}, 1),
	}
	d.pulls = newPulls(d.owner.life.Context(), &d.owner.background)
	d.pool = warmpool.New[*instance](&o.Pool)
	d.layers = newLayers(d.owner, o.DependencyEnv, newPulls(d.owner.life.Context(), &d.owner.background))
	if o.Reclaim {
		d.watchers.Go(d.reclaim)
	}
	return d
}

// reclaim connects to an engine, which looks for orphans, if a driver was killed.
func (d *Driver) reclaim() {
	if !abandoned(d.dir) {
		return
	}
	if _, err := d.connect(d.owner.life.Context()); err != nil {
		d.owner.log.Info("containers of a server that was killed may be left until Docker answers", "reason", err)
	}
}

// Run implements [sandbox.Driver].
//
// A command's Started is called when its container has answered that it begins.
// Where the container is lost before it has answered, Started is called because
// the command may have run.
func (d *Driver) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	return sandbox.During(ctx, d.owner.life, func(ctx context.Context) (*sandbox.Exit, error) {
		return d.run(ctx, cmd)
	})
}

// run prepares a command's container and runs the command in it.
func (d *Driver) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	e, image, spec, err := d.prepare(ctx, cmd)
	if err != nil {
		return nil, err
	}
	for range maxStale {
		var exit *sandbox.Exit
		exit, err = d.runOnce(ctx, e, spec, image, cmd)
		if !errors.Is(err, errStale) {
			return exit, d.lost(e, err)
		}
	}
	return nil, d.lost(e, e.failed("send the command", err))
}

// prepare returns an engine, an image, and the spec of the container for cmd.
func (d *Driver) prepare(ctx context.Context, cmd *sandbox.Command) (*engine, *image, *spec, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	image, err := d.image(ctx, e, cmd)
	if err == nil {
		image, err = d.layers.add(ctx, e, image, cmd)
	}
	if err != nil {
		return nil, nil, nil, d.lost(e, err)
	}
	spec, err := newSpec(cmd, image, e)
	return e, image, spec, err
}

// maxStale bounds the containers that are tried for a command, where each has ended
// while it waited.
const maxStale = 3

// runOnce runs cmd in a container that nobody uses before or after.
func (d *Driver) runOnce(ctx context.Context, e *engine, spec *spec, image *image, cmd *sandbox.Command) (*sandbox.Exit, error) {
	b, discard, err := d.take(ctx, e, spec, image, cmd)
	if err != nil {
		return nil, err
	}
	d.owner.last.Store(time.Now().UnixNano())
	defer func() {
		if !b.lingers() {
			b.shell.Close()
		}
		discard()
	}()
	disconnect, err := b.connect(cmd, d.egress)
	if err != nil {
		return nil, err
	}
	exit, err := b.run(ctx, cmd, image)
	if connections := disconnect(); exit != nil {
		exit.Connections = connections
	}
	return exit, err
}

// take returns a container for cmd, and the function that discards it. One that may write to
// a workspace is started when its command comes: what it has mounted there has to be what
// is there now.
func (d *Driver) take(ctx context.Context, e *engine, spec *spec, image *image, cmd *sandbox.Command) (b *instance, discard func(), err error) {
	if !cmd.Grant.Write {
		if b, err = d.pool.Take(ctx, d.owner.warm(e, spec), cmd.Warm); err == nil {
			d.renewals.Took(cmd.Skill, made{e, spec}, cmd.Warm)
		}
		return b, func() { d.owner.discard(b) }, err
	}
	cmd, release, err := d.guard.Hold(cmd, cmd.Limits.Timeout+cmd.Waits+orphanGrace)
	if err != nil {
		return nil, nil, err
	}
	if spec, err = newSpec(cmd, image, e); err == nil {
		b, err = d.owner.launch(ctx, e, spec, func(*instance) {})
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return b, func() { d.owner.background.Go(func() { d.owner.dispose(b); release() }) }, nil
}

// orphanGrace is the time after its command's until a container has ended whose server was
// killed, and the time that its start takes.
const orphanGrace = makeTimeout + 15*time.Second

// Close implements [sandbox.Driver]. Where the engine does not let go of a
// container within [closeTimeout], or does not answer at all, Close returns an
// error that says so.
func (d *Driver) Close() error {
	defer d.owner.giveUp()
	d.owner.life.End()
	d.pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := d.settle(ctx); err != nil {
		return err
	}
	if e := d.engine.Load(); e != nil {
		if err := d.owner.sweep(ctx, e); err != nil {
			return err
		}
	}
	return d.owner.lease.end()
}

// Forget implements [sandbox.Warmer].
func (d *Driver) Forget(skill string) {
	if d.pool.Forget(skill) {
		d.renewals.Discarded(skill)
	}
}

// Renew implements [sandbox.Warmer].
func (d *Driver) Renew(skill string, folder func() (string, error)) error {
	one := d.renewals.Due(skill)
	if one == nil || d.engine.Load() != one.Of.engine {
		return nil
	}
	dir, err := folder()
	if err != nil {
		return err
	}
	if d.renewals.Current(skill, one) { // else a command has had its own made ready
		d.pool.Prepare(d.owner.warm(one.Of.engine, one.Of.spec.on(dir)), one.Want)
	}
	return nil
}

// connect returns the engine that has answered before, or the first that
// answers now.
func (d *Driver) connect(ctx context.Context) (*engine, error) {
	if e := d.engine.Load(); e != nil {
		return e, nil
	}
	select {
	case d.connecting <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-d.connecting }()
	if e := d.engine.Load(); e != nil { // somebody else found it meanwhile
		return e, nil
	}
	e, err := find(ctx, d.host, d.places, d.runtime)
	if err != nil {
		return nil, err
	}
	if d.owner.lease == nil {
		d.settleIn()
		defer d.watchOrphans()
	}
	e.hosts, e.profile, e.forwarder = d.hosts, d.profile, d.forwarder
	if sameKernel(e.info) {
		e.pipes = d.owner.lease.pipes
	}
	d.watchers.Go(func() { d.known.watch(d.owner.life.Context(), e) })
	d.engine.Store(e)
	return e, nil
}

// settleIn creates the driver's files, once it has an engine. Without them it works too.
func (d *Driver) settleIn() {
	d.owner.lease = &lease{}
	if d.dir == "" {
		return
	}
	lease, err := newLease(d.dir, d.owner.instance)
	if err != nil {
		d.owner.log.Warn("if this server is killed, its containers stay for a day", "reason", err)
		return
	}
	d.owner.lease = lease
	const hosts = "127.0.0.1\tlocalhost " + hostname + "\n::1\tlocalhost\n"
	keep := func(name, text string) string {
		file, err := keepFile(d.dir, name, text)
		if err != nil {
			d.owner.log.Warn("a file for containers cannot be kept", "file", file, "reason", err)
			return "" // there is a way without it
		}
		return file
	}
	d.hosts = keep("hosts", hosts)
	d.profile = keep("seccomp.json", seccomp.Profile())
}

// lost forgets e where err means that it is gone, so that the next run looks for an
// engine: it may come back, elsewhere or as another version. It returns err.
func (d *Driver) lost(e *engine, err error) error {
	if client.IsErrConnectionFailed(err) || errors.Is(err, errLost) {
		d.engine.CompareAndSwap(e, nil)
	}
	return err
}

// image returns the image of the command's role, after pulling it if it is not
// there.
func (d *Driver) image(ctx context.Context, e *engine, cmd *sandbox.Command) (*image, error) {
	role := cmp.Or(cmd.Role, "default")
	ref, known := d.roles[role]
	if !known {
		return nil, unknownRole(role, slices.Sorted(maps.Keys(d.roles)))
	}
	inspect := func() (*image, error) { return e.inspectImage(ctx, role, ref) }
	found, err := d.known.get(e, role, ref, inspect)
	if !cerrdefs.IsNotFound(err) {
		return found, err
	}
	fetch := func(ctx context.Context, report func(string)) error { return e.pull(ctx, ref, report) }
	if err := d.pulls.get(ctx, ref, fetch, cmd.Progress); err != nil {
		return nil, notPulled(e, role, ref, err)
	}
	found, err = inspect()
	if cerrdefs.IsNotFound(err) { // removed again, or known by another name
		return nil, notPulled(e, role, ref, err)
	}
	return found, err
}

// watchOrphans removes containers whose driver is gone, now and every minute,
// until the driver is closed.
func (d *Driver) watchOrphans() {
	d.watchers.Go(func() {
		tick := time.NewTicker(reapPause)
		defer tick.Stop()
		for {
			if e := d.engine.Load(); e != nil {
				d.owner.reap(d.owner.life.Context(), e)
			}
			select {
			case <-tick.C:
			case <-d.owner.life.Context().Done():
				return
			}
		}
	})
}

// settle waits until nothing is under way in the background, and not for an
// engine that hangs.
func (d *Driver) settle(ctx context.Context) error {
	settled := make(chan struct{})
	go func() {
		d.watchers.Wait()
		d.pool.Wait()
		d.owner.background.Wait()
		close(settled)
	}()
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-settled:
			return d.stuck(ctx)
		case <-look.C:
			if err := d.stuck(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return fmt.Errorf("close the Docker driver: the engine does not let go of containers with the label %s=%s", labelInstance, d.owner.instance)
		}
	}
}

// stuck returns the error of an engine that hangs, and nil for any other.
func (d *Driver) stuck(ctx context.Context) error {
	if e := d.engine.Load(); e != nil && e.hangs(ctx) {
		return fmt.Errorf("close the Docker driver: the engine at %s does not answer; containers with the label %s=%s may be left", e.host, labelInstance, d.owner.instance)
	}
	return nil
}
