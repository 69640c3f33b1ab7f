// Package docker runs each command in a container of its own, on whatever
// speaks the Docker Engine API: Docker Engine, Docker Desktop, Colima, Podman.
// Start with [New].
//
// A container is made for one command, is never used twice, and is removed on
// every path. A few are started ahead of the commands that they are for, and
// wait; see [warmpool]. All carry labels that name the driver's instance; nothing on
// the engine without such a label is ever touched. Those of a driver that was
// killed are removed by the next driver of any process that uses the engine.
package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
)

// RuntimeAuto as [Options.Runtime] takes the strongest runtime that the engine
// has: runsc (gVisor), then Kata Containers, then the engine's default.
const RuntimeAuto = "auto"

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
	// Forwarder is the absolute path of a program that is [egress.Main] where its
	// first argument is [egress.Command], and that runs in containers: a static
	// one for Linux. With "" commands that are granted hosts cannot run.
	Forwarder string
	// Egress configures the proxy to the hosts that a command is granted.
	Egress *egress.Options
	// DependencyEnv is the environment in which dependencies are installed, as
	// "KEY=value", such as PIP_INDEX_URL. It is in no sandbox and in no image.
	DependencyEnv []string
	// Logger gets what concerns the operator alone, such as containers that
	// cannot be removed. The default discards it.
	Logger *slog.Logger
}

// A Driver runs commands in containers. It is a [sandbox.Driver].
type Driver struct {
	roles     map[string]string // images' references
	runtime   string
	host      string
	places    Places
	dir       string
	forwarder string
	egress    *egress.Options
	instance  string // of the label that marks this driver's containers
	log       *slog.Logger

	engine     atomic.Pointer[engine] // nil until one has answered, and after it was lost
	connecting chan struct{}          // holds one token while somebody looks for an engine
	pulls      *pulls
	known      images
	copies     copies
	pool       *warmpool.Pool[*box]
	lease      *lease // nil until an engine has answered
	hosts      string // files; see engine
	profile    string
	layers     *layers

	life       *sandbox.Lifetime  // ended by Close
	work       context.Context    // of removals, which outlive runs
	giveUp     context.CancelFunc // ends work; called at the end of Close
	background sync.WaitGroup     // goroutines that outlive a Run; started by runs only, or by one of these
	watchers   sync.WaitGroup     // goroutines that run until Close; started by connect
	retries    []time.Duration
}

// New returns a driver. It contacts no engine: the first use does. Options may
// be nil.
func New(options *Options) *Driver {
	var o Options
	if options != nil {
		o = *options
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Driver{
		roles:      maps.Clone(o.Images),
		runtime:    o.Runtime,
		host:       o.Host,
		places:     o.Places,
		dir:        o.Dir,
		forwarder:  o.Forwarder,
		egress:     o.Egress,
		instance:   strings.ToLower(rand.Text()[:12]),
		log:        o.Logger,
		connecting: make(chan struct{}, 1),
		life:       sandbox.NewLifetime(),
		retries:    removalRetries(),
	}
	d.work, d.giveUp = context.WithCancel(context.Background())
	d.pulls = newPulls(d.life.Context(), &d.background)
	d.pool = warmpool.New[*box](&o.Pool)
	d.layers = newLayers(o.DependencyEnv, newPulls(d.life.Context(), &d.background))
	return d
}

// Run implements [sandbox.Driver].
//
// A command's Started is called when its container has answered that it begins.
// Where the container is lost before it has answered, Started is called because
// the command may have run.
func (d *Driver) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	ctx, leave, err := d.life.Join(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	exit, err := d.run(ctx, cmd)
	if err != nil && exit == nil && ctx.Err() != nil {
		return nil, context.Cause(ctx) // whatever failed, failed because of it
	}
	return exit, err
}

// run gets a command what it needs, and runs it.
func (d *Driver) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	e, image, spec, err := d.prepare(ctx, cmd)
	if err != nil {
		return nil, err
	}
	for range maxStale {
		var exit *sandbox.Exit
		exit, err = d.runOnce(ctx, e, spec, image, cmd)
		if !e.apart() && unseen(err, cmd.Folder) {
			e.blind.Store(true)
			return d.run(ctx, cmd)
		}
		if !errors.Is(err, errStale) {
			return exit, d.lost(e, err)
		}
	}
	return nil, d.lost(e, e.failed("send the command", err))
}

// prepare finds an engine and an image, and says what container cmd needs.
func (d *Driver) prepare(ctx context.Context, cmd *sandbox.Command) (*engine, *image, *spec, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	image, err := d.image(ctx, e, cmd)
	if err == nil {
		image, err = d.withDependencies(ctx, e, image, cmd)
	}
	if err != nil {
		return nil, nil, nil, d.lost(e, err)
	}
	spec, err := newSpec(cmd, image, e)
	if err == nil && e.apart() {
		err = d.lost(e, d.copyIn(ctx, e, image, spec))
	}
	return e, image, spec, err
}

// maxStale is how often a container is taken for a command that turns out to
// have ended while it waited.
const maxStale = 3

// runOnce runs cmd in a container that nobody uses before or after.
func (d *Driver) runOnce(ctx context.Context, e *engine, spec *spec, image *image, cmd *sandbox.Command) (*sandbox.Exit, error) {
	b, err := d.pool.Take(ctx, d.warm(e, spec), cmd.Warm)
	if err != nil {
		return nil, err
	}
	defer d.discard(b)
	defer b.shell.Close()
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

// warm returns spec for the pool. Containers for a skill that has changed are of no use,
// nor are those of another image or engine.
func (d *Driver) warm(e *engine, spec *spec) *warmpool.Spec[*box] {
	return &warmpool.Spec[*box]{
		Key:     e.id + spec.key(),
		Group:   spec.config.Labels[labelSkill],
		Version: strings.Join([]string{e.id, spec.config.Image, spec.folder()}, "\n"),
		Start: func(ctx context.Context, ended func(*box)) (*box, error) {
			return d.makeBox(ctx, e, spec, ended)
		},
	}
}

// Close implements [sandbox.Driver]. Where the engine does not let go of a
// container within [closeTimeout], or does not answer at all, Close returns an
// error that says so.
func (d *Driver) Close() error {
	defer d.giveUp()
	d.life.End()
	d.pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := d.settle(ctx); err != nil {
		return err
	}
	if err := d.sweep(ctx); err != nil {
		return err
	}
	return d.lease.end()
}

// Forget implements [sandbox.Warmer].
func (d *Driver) Forget(skill string) { d.pool.Forget(skill) }
