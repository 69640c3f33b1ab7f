package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

const (
	// makeTimeout bounds the making of a container, which is not given up when
	// its caller is: another call may use it, and it would else leave one that
	// nobody knows of.
	makeTimeout = 2 * time.Minute
	// removeTimeout bounds one attempt at removing a container.
	removeTimeout = 30 * time.Second
	// closeTimeout bounds the wait for an engine that does not answer.
	closeTimeout = 30 * time.Second
	// closePause is the longest pause between attempts at removing a container
	// when the driver is being closed.
	closePause = 100 * time.Millisecond
)

// A box is a container that was made for one command, which it waits for.
type box struct {
	engine  *engine
	id      string
	streams *streams
	way     net.Listener // of connections to the hosts that are granted; nil without any
}

// close ends the talk with b.
func (b *box) close() {
	b.streams.close()
	if b.way != nil {
		_ = b.way.Close()
	}
}

// makeBox makes, starts and connects to a container of spec. Whoever gets it
// discards it; ended is called when nothing more can come from it.
func (d *Driver) makeBox(ctx context.Context, e *engine, spec *spec, ended func(*box)) (*box, error) {
	b, err := d.create(ctx, e, spec)
	if err != nil {
		return nil, err
	}
	if err := d.startBox(ctx, b, spec, ended); err != nil {
		d.remove(e, b.id)
		return nil, err
	}
	return b, nil
}

// create makes a container, which nobody has started. It heeds ctx only when it
// knows what became of it.
func (d *Driver) create(ctx context.Context, e *engine, spec *spec) (*box, error) {
	sure, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeTimeout)
	defer cancel()
	name, spec := newName(), spec.claimed(d.labels())
	made, err := e.api.ContainerCreate(sure, spec.config, spec.host, nil, nil, name)
	if err != nil {
		// The answer may be what was lost, rather than the request.
		if gone(err) {
			d.remove(e, name)
		}
		return nil, e.failed("create the sandbox", err)
	}
	for _, warning := range made.Warnings {
		d.log.Warn("the Docker engine has a reservation about a sandbox", "warning", warning)
	}
	if ctx.Err() != nil {
		d.remove(e, made.ID)
		return nil, context.Cause(ctx)
	}
	return &box{engine: e, id: made.ID}, nil
}

// startBox connects to b before it starts it, as an engine asks for.
func (d *Driver) startBox(ctx context.Context, b *box, spec *spec, ended func(*box)) error {
	conn, err := b.attach(ctx)
	if err != nil {
		return b.engine.failed("connect to the sandbox", err)
	}
	b.streams = openStreams(conn, func() { ended(b) })
	if err := b.engine.api.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		b.streams.close()
		return b.engine.failed("start the sandbox", err)
	}
	if !spec.connected() {
		return nil
	}
	if b.way, err = b.openWay(ctx); err != nil {
		b.streams.close()
	}
	return err
}

// attach connects to the streams of b.
func (b *box) attach(ctx context.Context) (types.HijackedResponse, error) {
	return hijack(ctx, func() (types.HijackedResponse, error) {
		return b.engine.api.ContainerAttach(ctx, b.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	})
}

// hijack is a request that takes the connection over. The client's do not heed
// ctx; this one does.
func hijack(ctx context.Context, request func() (types.HijackedResponse, error)) (types.HijackedResponse, error) {
	type result struct {
		conn types.HijackedResponse
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := request()
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				r.conn.Close()
			}
		}()
		return types.HijackedResponse{}, context.Cause(ctx)
	}
}

// discard ends b and whatever runs in it, in the background.
func (d *Driver) discard(b *box) {
	d.background.Go(func() {
		b.close()
		d.removeNow(b.engine, b.id)
	})
}

// remove removes a container, by id or name, in the background.
func (d *Driver) remove(e *engine, id string) {
	d.background.Go(func() { d.removeNow(e, id) })
}

// removeNow removes a container, and tries again while the engine is away, in a
// hurry once the driver is being closed.
func (d *Driver) removeNow(e *engine, id string) {
	err := e.remove(id)
	for _, pause := range d.retries {
		if err == nil {
			return
		}
		d.pause(pause)
		err = e.remove(id)
	}
	if err != nil {
		d.log.Error("a container is left on the Docker engine", "container", id, "error", err)
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

// remove ends a container and whatever runs in it. It is not cancelled by the
// end of a run, which is when it is needed.
func (e *engine) remove(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
	defer cancel()
	err := e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
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
	left, err := e.list(ctx, labelInstance+"="+d.instance)
	if err != nil {
		return fmt.Errorf("list what is left on the Docker engine: %w", err)
	}
	var failures []error
	for _, c := range left {
		// In conflict is a removal with another that is under way.
		if err := e.remove(c.ID); err != nil && !cerrdefs.IsConflict(err) {
			failures = append(failures, fmt.Errorf("remove container %s: %w", c.ID, err))
		}
	}
	mine := func(labels map[string]string) bool { return labels[labelInstance] == d.instance }
	return errors.Join(append(failures, e.sweepVolumes(ctx, mine))...)
}

// list returns the containers with a label, running or not.
func (e *engine) list(ctx context.Context, label string) ([]container.Summary, error) {
	return e.api.ContainerList(ctx, container.ListOptions{
		All:     true,
		Filters: filters.NewArgs(filters.Arg("label", label)),
	})
}

// weigh returns the bytes of memory that a container holds, and 0 where the
// engine does not say.
func weigh(b *box) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	answer, err := b.engine.api.ContainerStatsOneShot(ctx, b.id)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	var stats container.StatsResponse
	if err := json.NewDecoder(answer.Body).Decode(&stats); err != nil {
		return 0
	}
	return int64(stats.MemoryStats.Usage)
}
