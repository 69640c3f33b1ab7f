// Package docker runs each command in a container of its own, on whatever
// speaks the Docker Engine API: Docker Engine, Docker Desktop, Colima, Podman.
// Start with [New].
//
// A container is made for one command, is never used twice, and is removed on
// every path. It carries labels that name the driver's instance; nothing on the
// engine without that label is ever touched.
package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
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
	// DependencyEnv is the environment in which dependencies are installed, as
	// "KEY=value", such as PIP_INDEX_URL. It is in no sandbox and in no image.
	DependencyEnv []string
	// Instance is the value of the label that marks this driver's containers;
	// the default is random.
	Instance string
	// Logger gets what concerns the operator alone, such as containers that
	// cannot be removed. The default discards it.
	Logger *slog.Logger
}

// A Driver runs commands in containers. It is a [sandbox.Driver].
type Driver struct {
	images   map[string]string
	runtime  string
	host     string
	places   Places
	instance string
	log      *slog.Logger

	engine     atomic.Pointer[engine] // nil until one has answered, and after it was lost
	connecting chan struct{}          // holds one token while somebody looks for an engine
	pulls      *pulls
	layers     *layers
	programs   programs

	life       *sandbox.Lifetime // ended by Close
	background sync.WaitGroup    // what outlives a Run; started by runs only, or by what they started
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
		images:     maps.Clone(o.Images),
		runtime:    o.Runtime,
		host:       o.Host,
		places:     o.Places,
		instance:   cmp.Or(o.Instance, strings.ToLower(rand.Text()[:12])),
		log:        o.Logger,
		connecting: make(chan struct{}, 1),
		life:       sandbox.NewLifetime(),
		retries:    removalRetries(),
	}
	d.pulls = newPulls(d.life.Context(), &d.background)
	d.layers = newLayers(o.DependencyEnv, newPulls(d.life.Context(), &d.background))
	return d
}

// Run implements [sandbox.Driver].
//
// A command's Started is called once the engine has answered that its container
// runs, and before any of its output is passed on: only then is it sure that the
// command runs at all. Where the engine goes away instead of answering, Started
// is called because the command may have run.
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
	e, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	image, err := d.image(ctx, e, cmd)
	if err == nil {
		image, err = d.withDependencies(ctx, e, image, cmd)
	}
	if err != nil {
		return nil, d.lost(e, err)
	}
	spec, err := newSpec(cmd, image, e, d.instance)
	if err != nil {
		return nil, err
	}
	box, err := d.create(ctx, e, spec)
	if err != nil {
		return nil, d.lost(e, err)
	}
	defer d.remove(box)
	if err := d.programs.check(ctx, box, cmd, image); err != nil {
		return nil, d.lost(e, err)
	}
	exit, err := box.run(ctx, cmd)
	return exit, d.lost(e, err)
}

// Close implements [sandbox.Driver]. Where the engine does not let go of a
// container within [closeTimeout], Close returns an error that says so.
func (d *Driver) Close() error {
	d.life.End()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := d.settle(ctx); err != nil {
		return err
	}
	return d.sweep(ctx)
}
