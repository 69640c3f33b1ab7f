package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
)

// makeTimeout bounds the making of a container, which is not given up with its caller: another call may use it, or it would be one that nobody knows of.
const makeTimeout = 2 * time.Minute

// An instance is a container that was made for one command, which it waits for.
type instance struct {
	owner    *owner
	engine   *engine
	id       string
	shell    *shellproto.Shell
	piped    bool         // the shell is at pipes
	way      net.Listener // of connections to the hosts that are granted; nil without any
	answered bool         // the command has ended, with all that it started, or was not there
	ended    bool         // the command has ended and is reported
}

// close ends the talk with b.
func (b *instance) close() {
	b.shell.Close()
	if b.way != nil {
		_ = b.way.Close()
	}
}

// launch makes, starts and connects to a container of spec. Whoever gets it
// discards it; ended is called when nothing more can come from it.
func (o *owner) launch(ctx context.Context, e *engine, spec *spec, ended func(*instance)) (*instance, error) {
	if !e.piped() {
		return o.launchOn(ctx, e, spec, nil, ended)
	}
	b, err := o.launchPiped(ctx, e, spec, ended)
	if err == nil || ctx.Err() != nil || errors.Is(err, errLost) {
		return b, err
	}
	b, instead := o.launchOn(ctx, e, spec, nil, ended)
	if instead == nil {
		o.log.Debug("containers are reached through the Docker engine alone: calls take about a millisecond longer", "reason", err)
		e.unpiped.Store(true)
	}
	return b, instead
}

// launchPiped launches a container with pipes.
func (o *owner) launchPiped(ctx context.Context, e *engine, spec *spec, ended func(*instance)) (*instance, error) {
	p, err := newPipes(e.pipes, o.instance)
	if err != nil {
		return nil, err
	}
	b, err := o.launchOn(ctx, e, spec.through(p), p, ended)
	if err != nil {
		_ = p.Close()
	}
	return b, err
}

// launchOn launches a container that is reached at p, or where p is nil through the
// engine.
func (o *owner) launchOn(ctx context.Context, e *engine, spec *spec, p *pipes, ended func(*instance)) (*instance, error) {
	b, err := o.create(ctx, e, spec)
	if err != nil {
		return nil, err
	}
	if err := o.start(ctx, b, spec, p, ended); err != nil {
		o.remove(e, b.id)
		return nil, err
	}
	return b, nil
}

// create creates a container, and does not start it. It heeds ctx only after the engine
// has answered.
func (o *owner) create(ctx context.Context, e *engine, spec *spec) (*instance, error) {
	sure, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeTimeout)
	defer cancel()
	name, spec := "skills-mcp-"+strings.ToLower(rand.Text()[:12]), spec.claimed(o.labels())
	made, err := e.api.ContainerCreate(sure, spec.config, spec.host, nil, nil, name)
	if err != nil {
		// The answer may have been lost, rather than the request.
		if gone(err) {
			o.remove(e, name)
		}
		return nil, e.failed("create the sandbox", err)
	}
	for _, warning := range made.Warnings {
		o.log.Warn("the Docker engine has a reservation about a sandbox", "warning", warning)
	}
	if ctx.Err() != nil {
		o.remove(e, made.ID)
		return nil, context.Cause(ctx)
	}
	return &instance{owner: o, engine: e, id: made.ID}, nil
}

// start starts b and connects to its shell.
func (o *owner) start(ctx context.Context, b *instance, spec *spec, p *pipes, ended func(*instance)) error {
	conn, err := b.begin(ctx, p)
	if err != nil {
		return err
	}
	b.shell, b.piped = shellproto.NewShell(conn, func() { ended(b) }), p != nil
	if at(spec.host.Mounts, forwarder) == nil {
		return nil
	}
	if b.way, err = b.openWay(ctx); err != nil {
		b.shell.Close()
	}
	return err
}

// begin starts b and returns the connection to its shell: p, or where p is nil one
// through the engine, which asks that it is made before the start.
func (b *instance) begin(ctx context.Context, p *pipes) (shellproto.Conn, error) {
	var attached *conn
	if p == nil {
		response, err := b.attach(ctx, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
		if err != nil {
			return nil, b.engine.failed("connect to the sandbox", err)
		}
		attached = newConn(response)
	}
	err := b.engine.api.ContainerStart(ctx, b.id, container.StartOptions{})
	switch {
	case err != nil && p == nil:
		_ = attached.Close()
		fallthrough
	case err != nil:
		return nil, b.engine.failed("start the sandbox", err)
	case p == nil:
		return attached, nil
	}
	p.attach = func(ctx context.Context) (types.HijackedResponse, error) {
		return b.attach(ctx, container.AttachOptions{Stream: true, Stdin: true})
	}
	return p, p.connect(ctx, b.runs)
}

// runs reports whether b runs, as far as its engine can be asked.
func (b *instance) runs(ctx context.Context) bool {
	c, err := b.engine.api.ContainerInspect(ctx, b.id)
	return err == nil && c.State != nil && c.State.Running
}

// attach connects to streams of b.
func (b *instance) attach(ctx context.Context, streams container.AttachOptions) (types.HijackedResponse, error) {
	return hijack(ctx, func() (types.HijackedResponse, error) {
		return b.engine.api.ContainerAttach(ctx, b.id, streams)
	})
}

// Ended implements [warmpool.Instance].
func (b *instance) Ended() bool { return b.shell.Ended() }

// Discard implements [warmpool.Instance].
func (b *instance) Discard() { b.owner.discard(b) }

// openWay starts the forwarder in b, and returns where its connections come
// out. Whoever gets it closes it.
func (b *instance) openWay(ctx context.Context) (net.Listener, error) {
	_, conn, err := b.exec(ctx, []string{forwarder, egress.Command})
	if err != nil {
		return nil, err
	}
	way := newWayStream(conn)
	stop := context.AfterFunc(ctx, func() { way.Close() })
	listener, err := egress.Listener(way)
	if stop() && err == nil {
		return listener, nil
	}
	if err == nil {
		err = listener.Close()
	}
	return nil, &sandbox.UnavailableError{
		Reason: "the command's container has no way to the hosts that it was granted: " + strings.Join(strings.Fields(fmt.Sprint(err, " ", way.said())), " "),
		Remedy: "see what skills-mcp doctor says" + nativeInstead,
		Err:    err,
	}
}

// connect serves the command in b a proxy to its hosts, if it was granted any.
// The returned function ends that, and returns the connections.
func (b *instance) connect(cmd *sandbox.Command, options *egress.Options) (func() []sandbox.Connection, error) {
	if b.way == nil {
		return func() []sandbox.Connection { return nil }, nil
	}
	proxy, err := egress.New(cmd.Grant, options)
	if err != nil {
		return nil, err
	}
	if cmd.Proxied != nil {
		cmd.Proxied(proxy.Connections)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = proxy.Serve(b.way) // it ends with the container
	}()
	return func() []sandbox.Connection {
		_ = proxy.Close()
		<-served
		return proxy.Connections()
	}, nil
}

// exec starts a process in the container of b, and returns its id and streams.
func (b *instance) exec(ctx context.Context, argv []string) (id string, conn types.HijackedResponse, err error) {
	made, err := b.engine.api.ContainerExecCreate(ctx, b.id, container.ExecOptions{
		User:         user(),
		WorkingDir:   sandbox.SkillDir,
		Cmd:          argv,
		AttachStdin:  true,
		AttachStdout: true,
		AttachStderr: true,
	})
	if err != nil {
		return "", conn, b.engine.failed("start a process in the sandbox", err)
	}
	conn, err = hijack(ctx, func() (types.HijackedResponse, error) {
		return b.engine.api.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	})
	if err != nil {
		return "", conn, b.engine.failed("start a process in the sandbox", err)
	}
	return made.ID, conn, nil
}

// wait returns the exit code of a container that ends.
func (b *instance) wait(ctx context.Context) (int, error) {
	ended, failed := b.engine.api.ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
	select { // the client sends to one of them, and waits until it is read
	case end := <-ended:
		if end.Error != nil {
			return 0, b.engine.failed("wait for the command", errors.New(end.Error.Message))
		}
		return int(end.StatusCode), nil
	case err := <-failed:
		return 0, b.engine.failed("wait for the command", err)
	}
}

// discard ends b, with all that runs in it, in the background.
func (o *owner) discard(b *instance) {
	o.background.Go(func() {
		if b.lingers() {
			o.awaitCalm()
		}
		o.dispose(b)
	})
}

// lingers reports whether nothing runs in b but its shell, which waits until b is closed.
func (b *instance) lingers() bool { return b.piped && b.ended }

// dispose ends b and whatever runs in it.
func (o *owner) dispose(b *instance) {
	b.close()
	if b.answered || !b.shell.Used() { // its shell alone, which ends by itself
		b.awaitEnd()
	}
	_ = o.removeNow(b.engine, b.id)
}

// awaitEnd waits until b does not run any more. To remove a container at the
// very moment that it ends is more work for an engine, which sends another
// process to kill it, and Docker 20.10 can list it for ever after.
func (b *instance) awaitEnd() {
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

// warm returns spec for the pool. Containers for a skill that has changed are of no use,
// nor are those of another image or engine.
func (o *owner) warm(e *engine, spec *spec) *warmpool.Spec[*instance] {
	return &warmpool.Spec[*instance]{
		Key:     e.id + spec.key(),
		Group:   spec.config.Labels[labelSkill],
		Version: strings.Join([]string{e.id, spec.config.Image, spec.host.Mounts[0].Source}, "\n"),
		Start: func(ctx context.Context, ended func(*instance)) (*instance, error) {
			return o.launch(ctx, e, spec, ended)
		},
	}
}
