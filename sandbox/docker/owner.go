package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/skillsmcp/skills-mcp/sandbox"
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
	// calmPause is the pause after the begin of a command before containers of earlier
	// ones are removed, which takes an engine 50 ms of processor time, and calmTimeout bounds
	// the wait for it. A command can forge the answer that lets it linger.
	calmPause   = 100 * time.Millisecond
	calmTimeout = 500 * time.Millisecond
	// closePause is the longest pause between attempts at removing a container
	// when the driver is being closed.
	closePause = 100 * time.Millisecond
)

// An owner owns a driver's containers on engines, by a label with its instance, and
// removes them.
type owner struct {
	instance string
	lease    *lease // that the instance lives; set before the first engine is used
	log      *slog.Logger
	retries  []time.Duration // the pauses of removals

	last atomic.Int64 // when the last command began, in nanoseconds since 1970

	life       *sandbox.Lifetime  // ended by the driver's Close
	work       context.Context    // of removals, which outlive runs
	giveUp     context.CancelFunc // ends work; called at the end of the driver's Close
	background sync.WaitGroup     // goroutines that outlive a run; started by runs only, or by one of these
}

// newOwner returns the owner of a new instance.
func newOwner(log *slog.Logger) *owner {
	o := &owner{
		instance: strings.ToLower(rand.Text()[:12]),
		log:      log,
		retries:  removalRetries(),
		life:     sandbox.NewLifetime(),
	}
	o.work, o.giveUp = context.WithCancel(context.Background())
	return o
}

// awaitCalm waits until no command has begun for calmPause: the work of an engine would
// slow it down. It waits no longer than calmTimeout, and not for long after Close.
func (o *owner) awaitCalm() {
	for until := time.Now().Add(calmTimeout); o.life.Context().Err() == nil; {
		rest := min(calmPause-time.Since(time.Unix(0, o.last.Load())), time.Until(until))
		if rest <= 0 {
			return
		}
		o.pause(rest)
	}
}

// remove removes a container, by id or name, in the background.
func (o *owner) remove(e *engine, id string) {
	o.background.Go(func() { _ = o.removeNow(e, id) })
}

// removeNow removes a container, and tries again while the engine is away or
// busy with it, in a hurry once the driver is being closed.
func (o *owner) removeNow(e *engine, id string) error {
	err := e.remove(o.work, id)
	for _, pause := range o.retries {
		if err == nil {
			return nil
		}
		if o.work.Err() != nil {
			break
		}
		o.pause(pause)
		err = e.remove(o.work, id)
	}
	if err != nil {
		o.log.Error("a container is left on the Docker engine", "container", id, "error", err)
	}
	return err
}

// pause waits for duration, and not for long after Close.
func (o *owner) pause(duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-o.life.Context().Done():
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

// remove ends a container and whatever runs in it. ctx is not that of a run, whose end
// is when this is needed.
func (e *engine) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	err := e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// sweep removes the instance's containers that are left, such as one whose creation was
// never answered.
func (o *owner) sweep(ctx context.Context, e *engine) error {
	left, err := e.list(ctx, labelInstance+"="+o.instance)
	if err != nil {
		return fmt.Errorf("list what is left on the Docker engine: %w", err)
	}
	var failures []error
	for _, c := range left {
		if err := o.removeNow(e, c.ID); err != nil {
			failures = append(failures, fmt.Errorf("remove container %s: %w", c.ID, err))
		}
	}
	return errors.Join(failures...)
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

// labels returns the labels of a new container.
func (o *owner) labels() map[string]string {
	labels := map[string]string{
		labelInstance: o.instance,
		labelExpires:  strconv.FormatInt(time.Now().Add(expiry).Unix(), 10),
	}
	if o.lease.home != "" {
		labels[labelHome] = o.lease.home
	}
	return labels
}

// reap removes the containers whose driver is gone.
func (o *owner) reap(ctx context.Context, e *engine) {
	all, err := e.list(ctx, labelInstance)
	if err != nil {
		return // it is tried again soon
	}
	orphaned := o.orphaned()
	stays := func(c container.Summary) bool {
		if ctx.Err() != nil || !orphaned(c.Labels) {
			return true
		}
		// In conflict is a removal with another server's.
		if err := e.remove(o.work, c.ID); err != nil && !cerrdefs.IsConflict(err) {
			o.log.Warn("a container that a server left cannot be removed", "container", c.ID, "error", err)
			return true
		}
		o.log.Info("removed a container that a server left", "container", c.ID, "skill", c.Labels[labelSkill])
		return false
	}
	o.lease.clean(slices.DeleteFunc(all, func(c container.Summary) bool { return !stays(c) }))
}

// orphaned returns a function that reports, by its labels, whether the driver of
// a container is gone. It looks for each driver once.
func (o *owner) orphaned() func(labels map[string]string) bool {
	dead := map[string]bool{}
	return func(labels map[string]string) bool {
		instance := labels[labelInstance]
		switch {
		case instance == "" || instance == o.instance:
			return false
		case o.lease.home == "" || labels[labelHome] != o.lease.home:
			return expired(labels) // all that there is to go by
		}
		if _, known := dead[instance]; !known {
			dead[instance] = o.lease.free(instance, false)
		}
		return dead[instance]
	}
}

func expired(labels map[string]string) bool {
	at, err := strconv.ParseInt(labels[labelExpires], 10, 64)
	return err == nil && time.Now().Unix() > at
}
