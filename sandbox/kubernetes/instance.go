package kubernetes

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

// loadTimeout bounds the load of a folder.
const loadTimeout = time.Minute

// An instance is a Pod that has the folder of a skill, and whose shell waits for one
// command.
type instance struct {
	*blank
	shell    *shellproto.Shell
	answered bool // the command has ended, with all that it started, or was not there
}

// Ended implements [warmpool.Instance].
func (i *instance) Ended() bool { return i.shell.Ended() }

// Discard implements [warmpool.Instance].
func (i *instance) Discard() { i.owner.background.Go(i.dispose) }

// dispose ends the connection to i, and removes i in the background.
func (i *instance) dispose() {
	i.shell.Close()
	i.owner.remove(i.name)
}

// killWait bounds the wait of a run for the end of its processes: its caller gets an answer
// within a second.
const killWait = 800 * time.Millisecond

// end ends the processes in i: the kubelet takes seconds for it.
func (i *instance) end() {
	ended := make(chan struct{})
	i.owner.background.Go(func() {
		defer close(ended)
		i.cluster.killAll(i.name)
	})
	select {
	case <-ended:
	case <-time.After(killWait):
	}
}

// launch starts and loads a Pod of spec for one command.
func (d *starter) launch(ctx context.Context, spec *spec) (*instance, error) {
	b, err := d.start(ctx, spec, func(*blank) {})
	if err != nil {
		return nil, err
	}
	return b.load(ctx, spec, func(*instance) {})
}

// load brings the folders of a spec into b and connects to its shell. ended is called when
// nothing more can come from it. With an error b is discarded.
func (b *blank) load(ctx context.Context, spec *spec, ended func(*instance)) (_ *instance, err error) {
	defer func() {
		if err != nil {
			b.Discard()
		}
	}()
	if err := b.unpack(ctx, loader, spec.folder); err != nil {
		return nil, err
	}
	for _, c := range spec.copies {
		if err := b.unpack(ctx, loader+"-"+c.volume, c.folder); err != nil {
			return nil, err
		}
	}
	conn, err := b.cluster.attach(ctx, b.name, runner)
	if err != nil {
		return nil, b.cluster.unavailable("connect to the Pod", err)
	}
	i := &instance{blank: b}
	i.shell = shellproto.NewShell(conn, func() { ended(i) })
	if err := conn.ready(ctx); err != nil {
		i.shell.Close()
		return nil, b.cluster.unavailable("connect to the Pod", err)
	}
	return i, nil
}

// unpack sends a folder to a loader as an archive.
func (b *blank) unpack(ctx context.Context, loader, folder string) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	conn, err := b.cluster.attach(ctx, b.name, loader)
	if err != nil {
		return b.cluster.unavailable("connect to the Pod", err)
	}
	defer context.AfterFunc(ctx, conn.close)()
	defer conn.close()
	nonce := rand.Text()
	archived := make(chan error, 1)
	go func() { archived <- archive(conn.Input(), nonce, folder) }()
	var output bytes.Buffer
	messages := sandbox.Head{Limit: 512}
	err = conn.Copy(&output, &messages)
	read := <-archived
	if output.String() == nonce {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("a folder cannot be loaded into a Pod of the image %s of the role %q: %s", b.spec.image, b.spec.role, strings.TrimSpace(messages.String())),
		Remedy: fmt.Sprintf("set %s to an image that has /bin/sh and tar", setting(b.spec.role)),
		Err:    errors.Join(err, read),
	}
}

// archive writes a line and the archive of a folder.
func archive(w io.WriteCloser, line, folder string) error {
	buffered := bufio.NewWriterSize(w, 32<<10)
	_, err := buffered.WriteString(line + "\n")
	if err != nil {
		return err
	}
	files := tar.NewWriter(buffered)
	return errors.Join(files.AddFS(os.DirFS(folder)), files.Close(), buffered.Flush(), w.Close())
}
