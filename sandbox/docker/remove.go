package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

const (
	// endTimeout bounds the wait for a container that ends by itself, and
	// forgedTimeout the wait before it is killed: a command can forge the answer that
	// it has ended, and go on.
	endTimeout    = 2 * time.Second
	forgedTimeout = 250 * time.Millisecond
	// removeTimeout bounds one attempt at removing a container.
	removeTimeout = 30 * time.Second
	// closeTimeout bounds the wait for an engine that does not answer.
	closeTimeout = 30 * time.Second
	// hungTimeout bounds the wait for an engine's answer to a ping.
	hungTimeout = 3 * time.Second
	// closePause is the longest pause between attempts at removing a container
	// when the driver is being closed.
	closePause = 100 * time.Millisecond
)

// discard ends b and whatever runs in it, in the background.
func (d *Driver) discard(b *box) {
	d.background.Go(func() { d.dispose(b) })
}

// dispose ends b and whatever runs in it.
func (d *Driver) dispose(b *box) {
	b.close()
	if b.idle() {
		b.awaitEnd()
	}
	_ = d.removeNow(b.engine, b.id)
}

// idle reports whether nothing runs in b but its shell, which ends by itself when
// b is closed.
func (b *box) idle() bool {
	return b.answered || !b.shell.Used()
}

// awaitEnd waits until b does not run any more. To remove a container at the
// very moment that it ends is more work for an engine, which sends another
// process to kill it, and Docker 20.10 can list it for ever after.
func (b *box) awaitEnd() {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	soon, cancelSoon := context.WithTimeout(ctx, forgedTimeout)
	defer cancelSoon()
	if _, err := b.wait(soon); err == nil || soon.Err() == nil {
		return
	}
	_ = b.engine.api.ContainerKill(ctx, b.id, "KILL") // or it has ended meanwhile
	_, _ = b.wait(ctx)                                // it is removed in any case
}

// remove removes a container, by id or name, in the background.
func (d *Driver) remove(e *engine, id string) {
	d.background.Go(func() { _ = d.removeNow(e, id) })
}

// removeNow removes a container, and tries again while the engine is away or
// busy with it, in a hurry once the driver is being closed.
func (d *Driver) removeNow(e *engine, id string) error {
	err := e.remove(id)
	for _, pause := range d.retries {
		if err == nil {
			return nil
		}
		if d.work.Err() != nil {
			break
		}
		d.pause(pause)
		err = e.remove(id)
	}
	if err != nil {
		d.log.Error("a container is left on the Docker engine", "container", id, "error", err)
	}
	return err
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

// remove ends a container and whatever runs in it. It is not cancelled by the
// end of a run, which is when it is needed.
func (e *engine) remove(id string) error {
	ctx, cancel := context.WithTimeout(e.work, removeTimeout)
	defer cancel()
	err := e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// settle waits until nothing is under way in the background, and not for an
// engine that hangs.
func (d *Driver) settle(ctx context.Context) error {
	settled := make(chan struct{})
	go func() {
		d.watchers.Wait()
		d.pool.Wait()
		d.background.Wait()
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
			return fmt.Errorf("close the Docker driver: the engine does not let go of containers with the label %s=%s", labelInstance, d.instance)
		}
	}
}

// stuck returns the error of an engine that hangs, and nil for any other.
func (d *Driver) stuck(ctx context.Context) error {
	if e := d.engine.Load(); e != nil && e.hangs(ctx) {
		return fmt.Errorf("close the Docker driver: the engine at %s does not answer; containers with the label %s=%s may be left", e.host, labelInstance, d.instance)
	}
	return nil
}

// hangs reports whether nothing comes from an engine. One that is gone does not
// hang: it refuses the connection.
func (e *engine) hangs(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, hungTimeout)
	defer cancel()
	_, err := e.api.Ping(ctx)
	return err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// sweep removes what is left of this driver's containers, such as one whose
// creation was never answered.
func (d *Driver) sweep(ctx context.Context) error {
	e := d.engine.Load()
	if e == nil {
		return nil
	}
	left, err := e.list(ctx, labelInstance+"="+d.instance)
	if err != nil {
		return fmt.Errorf("list what is left on the Docker engine: %w", err)
	}
	var failures []error
	for _, c := range left {
		if err := d.removeNow(e, c.ID); err != nil {
			failures = append(failures, fmt.Errorf("remove container %s: %w", c.ID, err))
		}
	}
	mine := func(labels map[string]string) bool { return labels[labelInstance] == d.instance }
	return errors.Join(append(failures, e.sweepVolumes(ctx, mine))...)
}

// list returns the containers with a label, running or not.
func (e *engine) list(ctx context.Context, label string) ([]container.Summary, error) {
	all, err := e.api.ContainerList(ctx, container.ListOptions{
		All:     true,
		Filters: filters.NewArgs(filters.Arg("label", label)),
	})
	return slices.DeleteFunc(all, func(c container.Summary) bool { return e.ghost(ctx, c) }), err
}

// ghost reports whether a container that is listed is not there. Docker 20.10
// goes on listing, as one that is being removed, a container that ended while it
// was removed.
func (e *engine) ghost(ctx context.Context, c container.Summary) bool {
	if c.State != container.StateRemoving {
		return false
	}
	_, err := e.api.ContainerInspect(ctx, c.ID)
	return cerrdefs.IsNotFound(err)
}
