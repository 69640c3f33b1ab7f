// Package kubernetes runs each command in a Pod of its own, on a cluster that is there
// already. Start with [New].
//
// A Pod is made for one command and is never used twice. Some are started ahead of the
// commands that they are for: blank ones, for any skill, and loaded ones, which have the
// folder of a skill already; see [warmpool]. Nodes share no files with the server, so the
// folder goes as a tar archive to the Pod's first container, the loader, which unpacks it
// into memory; the second one, the runner, sees it read-only. Arguments, environment and
// secrets of a command go to the runner alone, over its standard input, when it is called.
//
// All Pods carry a label with the driver's instance, whose Lease is renewed while it
// lives. Those of an instance that was killed are removed by any other. Nothing without
// the label is touched.
package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
)

const (
	// patience bounds the wait for an API server that does not answer, and for room on the
	// cluster. The wait for either ends earlier with its command.
	patience = 45 * time.Second
	// maxStale bounds the Pods that are tried for a command, where each has ended while it
	// waited.
	maxStale = 3
)

// A Driver runs commands in Pods. It is a [sandbox.Driver].
type Driver struct {
	options  Options
	log      *slog.Logger
	blank    *warmpool.Pool[*blank]
	loaded   *warmpool.Pool[*instance]
	renewals warmpool.Renewals[*spec]
	patience time.Duration

	connecting sync.Mutex
	starter    *starter // nil until connect
	network    *network
	gateway    *gateway

	life       *sandbox.Lifetime // ended by Close
	background sync.WaitGroup    // goroutines that outlive a run; Close waits for them
}

var (
	_ sandbox.SessionDriver = (*Driver)(nil)
	_ sandbox.Warmer        = (*Driver)(nil)
)

// New returns a driver. It contacts no cluster: the first use does, or
// [Options.Reclaim]. Options may be nil.
func New(options *Options) *Driver {
	var o Options
	if options != nil {
		o = *options
	}
	o.Images = maps.Clone(o.Images)
	o.UserNamespaces = cmp.Or(o.UserNamespaces, UserNamespacesAuto)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	pool := o.Pool
	pool.Taken = nil // a blank Pod that waits is no warm one
	d := &Driver{
		options:  o,
		log:      o.Logger,
		blank:    warmpool.New[*blank](&pool),
		loaded:   warmpool.New[*instance](&o.Pool),
		patience: patience,
		life:     sandbox.NewLifetime(),
	}
	d.gateway, d.network = newGateway(o.Egress), &network{accepted: o.Open, run: d.runUnchecked, targets: d.forbidden}
	if o.Reclaim {
		d.background.Go(func() {
			if _, err := d.connect(); err != nil {
				d.log.Warn("Pods of a server that was killed may be left", "reason", err)
			}
			if err := d.network.check(d.life.Context(), d.background.Go); err != nil && d.life.Context().Err() == nil {
				d.log.Warn("commands do not run", "reason", err)
			}
		})
	}
	return d
}

// connect returns the starter of Pods, whose owner's upkeep begins with the first use.
func (d *Driver) connect() (*starter, error) {
	d.connecting.Lock()
	defer d.connecting.Unlock()
	if d.starter != nil {
		return d.starter, nil
	}
	c, err := newCluster(&d.options)
	if err != nil {
		return nil, err
	}
	owner := newOwner(c, d.log)
	d.starter = &starter{
		options: &d.options, cluster: c, pods: newPods(c, owner.instance), owner: owner, patience: d.patience,
		starts: rate.NewLimiter(rate.Limit(cmp.Or(d.options.StartRate, 5)), 1),
	}
	d.background.Go(func() { d.starter.pods.watch(d.life.Context()) })
	d.background.Go(func() { owner.upkeep(d.life.Context()) })
	return d.starter, nil
}

// forbidden returns the addresses that no Pod without hosts may reach, for [reachScript].
func (d *Driver) forbidden(ctx context.Context) (targets []string, done func(), err error) {
	s, err := d.connect()
	if err != nil {
		return nil, nil, err
	}
	targets = append(s.cluster.addresses(ctx), "the metadata service=169.254.169.254 80")
	own, done := d.options.Egress.listenForPods()
	if own != "" {
		targets = append(targets, own)
	}
	if dns := nameserver(); dns != "" && d.options.Egress.Direct { // it is the cluster's
		targets = append(targets, "the cluster's DNS="+dns+" 53")
	}
	return targets, done, nil
}

// Run implements [sandbox.Driver].
//
// A command's Started is called when its shell has answered that it begins, and where the
// Pod is lost before that after the command may have run.
func (d *Driver) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	return sandbox.During(ctx, d.life, func(ctx context.Context) (*sandbox.Exit, error) {
		if err := d.network.check(ctx, d.background.Go); err != nil {
			return nil, err
		}
		return d.run(ctx, cmd)
	})
}

// runUnchecked runs cmd whatever the network of the Pods.
func (d *Driver) runUnchecked(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	return sandbox.During(ctx, d.life, func(ctx context.Context) (*sandbox.Exit, error) {
		return d.run(ctx, cmd)
	})
}

func (d *Driver) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	s, spec, err := d.prepare(ctx, cmd)
	if err != nil {
		return nil, err
	}
	for range maxStale {
		var exit *sandbox.Exit
		exit, err = d.runOnce(ctx, s, spec, cmd)
		if !errors.Is(err, errStale) {
			return exit, err
		}
		d.log.Info("a Pod was lost before its command began; another one runs it", "run", cmd.RunID, "reason", err)
	}
	return nil, s.cluster.unavailable("send the command", err)
}

// prepare returns the starter and the spec of a Pod for cmd.
func (d *Driver) prepare(ctx context.Context, cmd *sandbox.Command) (*starter, *spec, error) {
	role := cmp.Or(cmd.Role, "default")
	image, known := d.options.Images[role]
	if !known {
		return nil, nil, unknownRole(role, slices.Sorted(maps.Keys(d.options.Images)))
	}
	if len(cmd.Dependencies) > 0 {
		return nil, nil, &sandbox.UnavailableError{
			Reason: "packages of a skill are not installed on a cluster",
			Remedy: fmt.Sprintf("set %s to an image that has them", setting(role)),
		}
	}
	s, err := d.connect()
	if err != nil {
		return nil, nil, err
	}
	spec, err := newSpec(ctx, s.cluster, &d.options, cmd, role, image)
	return s, spec, err
}

// runOnce runs cmd in a Pod that nobody uses before or after.
func (d *Driver) runOnce(ctx context.Context, s *starter, spec *spec, cmd *sandbox.Command) (*sandbox.Exit, error) {
	i, release, err := d.take(ctx, s, spec, cmd)
	if err != nil {
		return nil, err
	}
	defer release()
	connected, disconnect, err := d.gateway.proxied(cmd, s.pods.addresses(i.name))
	if err != nil {
		return nil, err
	}
	exit, err := i.run(ctx, connected)
	disconnect(exit)
	if ctx.Err() != nil && !i.answered {
		i.end()
	}
	return exit, err
}

// take returns a Pod for cmd, and the function that discards it. One that may write to a
// workspace is started when its command comes: what it has mounted there has to be what is
// there now.
func (d *Driver) take(ctx context.Context, s *starter, spec *spec, cmd *sandbox.Command) (i *instance, release func(), err error) {
	s.calls.Add(1)
	defer s.calls.Add(-1)
	defer s.waits.listen(spec.key, cmd.Progress)()
	if !cmd.Grant.Write {
		if i, err = d.loaded.Take(ctx, d.warm(s, spec, cmd.Warm), cmd.Warm); err != nil {
			return nil, nil, err
		}
		d.renewals.Took(cmd.Skill, spec, cmd.Warm)
		return i, i.Discard, nil
	}
	cmd, unhold, err := hold(cmd, d.options.Claims, cmd.Limits.Timeout+cmd.Waits+patience)
	if err != nil {
		return nil, nil, err
	}
	if _, spec, err = d.prepare(ctx, cmd); err == nil {
		i, err = s.launch(ctx, spec)
	}
	if err != nil {
		unhold()
		return nil, nil, err
	}
	return i, func() {
		i.owner.background.Go(func() {
			i.dispose()
			if i.owner.awaitGone(i.name) { // else the journal keeps the paths protected
				unhold()
			}
		})
	}, nil
}

// warm returns spec for the pool of loaded Pods, which takes blank ones from the other.
func (d *Driver) warm(s *starter, spec *spec, want int) *warmpool.Spec[*instance] {
	return &warmpool.Spec[*instance]{
		Key:     spec.loads(),
		Group:   spec.skill,
		Version: spec.folder + "\n" + spec.image,
		Start: func(ctx context.Context, ended func(*instance)) (*instance, error) {
			ctx, leave, err := d.life.Join(ctx)
			if err != nil {
				return nil, err
			}
			defer leave()
			b, err := d.blank.Take(ctx, &warmpool.Spec[*blank]{
				Key:     spec.key,
				Group:   spec.role,
				Version: spec.image,
				Start: func(ctx context.Context, ended func(*blank)) (*blank, error) {
					ctx, leave, err := d.life.Join(ctx)
					if err != nil {
						return nil, err
					}
					defer leave()
					return s.start(ctx, spec, ended)
				},
			}, want)
			if err != nil {
				return nil, err
			}
			return b.load(ctx, spec, ended)
		},
	}
}

// Open implements [sandbox.SessionDriver].
func (d *Driver) Open(ctx context.Context, cmd *sandbox.Command) (sandbox.Session, error) {
	return sandbox.During(ctx, d.life, func(ctx context.Context) (sandbox.Session, error) {
		if err := d.network.check(ctx, d.background.Go); err != nil {
			return nil, err
		}
		return d.open(ctx, cmd)
	})
}

func (d *Driver) open(ctx context.Context, cmd *sandbox.Command) (sandbox.Session, error) {
	if len(cmd.Grant.Hosts) > 0 {
		return nil, &sandbox.UnavailableError{Reason: "a kept sandbox has no way to hosts", Remedy: "run what needs them in a sandbox of its own"}
	}
	like := *cmd
	like.Argv = []string{"true"} // a command names a program; this one is never run
	starter, spec, err := d.prepare(ctx, &like)
	if err != nil {
		return nil, err
	}
	i, _, err := d.take(ctx, starter, spec, &like) // no session may write to a workspace
	if err != nil {
		return nil, err
	}
	return newSession(i, cmd.Limits, d.life, d.background.Go), nil
}

// Forget implements [sandbox.Warmer].
func (d *Driver) Forget(skill string) {
	if d.loaded.Forget(skill) {
		d.renewals.Discarded(skill)
	}
}

// Renew implements [sandbox.Warmer].
func (d *Driver) Renew(skill string, folder func() (string, error)) error {
	one := d.renewals.Due(skill)
	if one == nil {
		return nil
	}
	dir, err := folder()
	if err != nil {
		return err
	}
	if d.renewals.Current(skill, one) { // else a command has had its own made ready
		d.loaded.Prepare(d.warm(d.starter, one.Of.on(dir), one.Want), one.Want)
	}
	return nil
}

// Close implements [sandbox.Driver]. Its error says that Pods may be left.
func (d *Driver) Close() error {
	d.life.End()
	d.loaded.Close()
	d.loaded.Wait()
	d.blank.Close()
	d.blank.Wait()
	d.background.Wait()
	d.gateway.close()
	if d.starter == nil {
		return nil
	}
	defer d.starter.cluster.close()
	return d.starter.owner.close()
}
