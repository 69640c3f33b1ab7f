package docker

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// makeTimeout bounds the making of what is not given up with its caller: another call
// may use it, and it would else be a container that nobody knows of.
const makeTimeout = 2 * time.Minute

// A box is a container that was made for one command, which it waits for.
type box struct {
	driver   *Driver
	engine   *engine
	id       string
	shell    *shellproto.Shell
	way      net.Listener // of connections to the hosts that are granted; nil without any
	answered bool         // the command has ended, with all that it started
}

// close ends the talk with b.
func (b *box) close() {
	b.shell.Close()
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
	return &box{driver: d, engine: e, id: made.ID}, nil
}

// startBox connects to b before it starts it, as an engine asks for.
func (d *Driver) startBox(ctx context.Context, b *box, spec *spec, ended func(*box)) error {
	conn, err := b.attach(ctx)
	if err != nil {
		return b.engine.failed("connect to the sandbox", err)
	}
	b.shell = shellproto.NewShell(newConn(conn), func() { ended(b) })
	if err := b.engine.api.ContainerStart(ctx, b.id, container.StartOptions{}); err != nil {
		b.shell.Close()
		return b.engine.failed("start the sandbox", err)
	}
	if !spec.connected() {
		return nil
	}
	if b.way, err = b.openWay(ctx); err != nil {
		b.shell.Close()
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

// A conn connects to the streams of a process in a container, which the engine sends
// as frames of one stream.
type conn struct{ types.HijackedResponse }

func newConn(response types.HijackedResponse) *conn { return &conn{response} }

// Copy implements [shellproto.Conn].
func (c *conn) Copy(stdout, stderr io.Writer) error {
	_, err := stdcopy.StdCopy(stdout, stderr, c.Reader)
	return err
}

// Write implements [shellproto.Conn].
func (c *conn) Write(p []byte) (int, error) { return c.Conn.Write(p) }

// Close implements [shellproto.Conn].
func (c *conn) Close() error { return c.Conn.Close() }

// Ended implements [warmpool.Instance].
func (b *box) Ended() bool { return b.shell.Ended() }

// Memory implements [warmpool.Instance].
func (b *box) Memory() int64 {
	ctx, cancel := context.WithTimeout(b.driver.life.Context(), answerTimeout)
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

// Discard implements [warmpool.Instance].
func (b *box) Discard() { b.driver.discard(b) }
