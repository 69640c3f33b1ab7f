package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

const (
	// createTimeout bounds the making of a container, which is not given up
	// when its caller is: it would leave one that nobody knows of.
	createTimeout = 2 * time.Minute
	// removeTimeout bounds one attempt at removing a container.
	removeTimeout = 30 * time.Second
	// closeTimeout bounds the wait for an engine that does not answer.
	closeTimeout = 30 * time.Second
	// closePause is the longest pause between attempts at removing a container
	// when the driver is being closed.
	closePause = 100 * time.Millisecond
)

// A box is one container, made for one command.
type box struct {
	engine *engine
	id     string
}

// create makes the container of spec. Whoever gets it must remove it.
func (d *Driver) create(ctx context.Context, e *engine, spec *spec) (*box, error) {
	type result struct {
		box *box
		err error
	}
	made := make(chan result, 1)
	d.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
		defer cancel()
		b, err := d.makeBox(ctx, e, spec)
		made <- result{b, err}
	})
	select {
	case r := <-made:
		return r.box, r.err
	case <-ctx.Done():
		d.background.Go(func() {
			if r := <-made; r.err == nil {
				d.removeBox(r.box)
			}
		})
		return nil, context.Cause(ctx)
	}
}

func (d *Driver) makeBox(ctx context.Context, e *engine, spec *spec) (*box, error) {
	made, err := e.api.ContainerCreate(ctx, spec.config, spec.host, nil, nil, spec.name)
	if err != nil {
		// The answer may be what was lost, rather than the request.
		if gone(err) {
			d.remove(&box{e, spec.name})
		}
		return nil, e.failed("create the sandbox", err)
	}
	for _, warning := range made.Warnings {
		d.log.Warn("the Docker engine has a reservation about a sandbox", "warning", warning)
	}
	return &box{e, made.ID}, nil
}

// remove removes b in the background.
func (d *Driver) remove(b *box) {
	d.background.Go(func() { d.removeBox(b) })
}

// removeBox removes b, and tries again while the engine is away, in a hurry
// once the driver is being closed.
func (d *Driver) removeBox(b *box) {
	err := b.remove()
	for _, pause := range d.retries {
		if err == nil {
			return
		}
		d.pause(pause)
		err = b.remove()
	}
	if err != nil {
		d.log.Error("a container is left on the Docker engine", "container", b.id, "error", err)
	}
}

// pause waits for duration, and not for long after Close.
func (d *Driver) pause(duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.life.Context().Done():
		time.Sleep(min(duration, closePause))
	}
}

// removalRetries are the pauses between attempts at removing a container: a few
// short ones for an engine that is busy with it, then enough for one that
// restarts.
func removalRetries() []time.Duration {
	second := time.Second
	return []time.Duration{second / 10, second / 2, 2 * second, 5 * second, 15 * second, 30 * second, 60 * second, 120 * second}
}

// remove ends the container and whatever runs in it. It is not cancelled by
// the end of a run, which is when it is needed.
func (b *box) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	err := b.engine.api.ContainerRemove(ctx, b.id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// settle waits until nothing is under way in the background.
func (d *Driver) settle(ctx context.Context) error {
	settled := make(chan struct{})
	go func() {
		d.background.Wait()
		close(settled)
	}()
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the Docker driver: the engine does not let go of containers with the label %s=%s", labelInstance, d.instance)
	}
}

// sweep removes what is left of this driver's containers, such as one whose
// creation was never answered.
func (d *Driver) sweep(ctx context.Context) error {
	e := d.engine.Load()
	if e == nil {
		return nil
	}
	left, err := e.api.ContainerList(ctx, container.ListOptions{
		All:     true,
		Filters: filters.NewArgs(filters.Arg("label", labelInstance+"="+d.instance)),
	})
	if err != nil {
		return fmt.Errorf("list what is left on the Docker engine: %w", err)
	}
	var failures []error
	for _, c := range left {
		// In conflict is a removal with another that is under way.
		if err := (&box{e, c.ID}).remove(); err != nil && !cerrdefs.IsConflict(err) {
			failures = append(failures, fmt.Errorf("remove container %s: %w", c.ID, err))
		}
	}
	return errors.Join(failures...)
}
