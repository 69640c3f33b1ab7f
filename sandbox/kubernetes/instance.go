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
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

const (
	// loadScript is the loader's: it unpacks an archive that follows a line, and writes
	// that line when it has.
	loadScript = `IFS= read -r line && tar -xpf - -C ` + sandbox.SkillDir + ` && printf %s "$line"`
	// loadTimeout bounds the load of a folder.
	loadTimeout = time.Minute
	// readyPause is the time after which an empty line is sent again: what a shell says
	// before a connection is complete is lost.
	readyPause = 250 * time.Millisecond
	readyTries = 40
)

// A blank is a Pod whose loader waits for a folder.
type blank struct {
	driver  *Driver
	cluster *cluster
	name    string
	spec    *spec
}

// Ended implements [warmpool.Instance].
func (b *blank) Ended() bool { return !b.cluster.pods.runs(b.name) }

// Discard implements [warmpool.Instance].
func (b *blank) Discard() { b.driver.owner.remove(b.name) }

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
func (i *instance) Discard() {
	i.driver.background.Go(func() {
		i.close()
		i.driver.owner.remove(i.name)
	})
}

func (i *instance) close() { i.shell.Close() }

// start makes a Pod and waits until its containers run. Whoever gets it discards it.
func (d *Driver) start(ctx context.Context, spec *spec, ended func(*blank)) (*blank, error) {
	c := d.cluster
	say := func(message string) { d.waits.say(spec.key(), message) }
	if d.calls.Load() == 0 {
		d.starts.wait(ctx)
	}
	name, err := d.create(ctx, c, spec, say)
	if err != nil {
		return nil, err
	}
	b := &blank{driver: d, cluster: c, name: name, spec: spec}
	err = d.awaitRunning(ctx, b, say)
	if err == nil && !c.pods.onEnd(name, func() { ended(b) }) {
		err = c.unavailable("start the Pod", errGone)
	}
	if err != nil {
		b.Discard()
		return nil, err
	}
	return b, nil
}

// load brings a folder into b and connects to its shell. ended is called when nothing more
// can come from it.
func (b *blank) load(ctx context.Context, folder string, ended func(*instance)) (*instance, error) {
	if err := b.unpack(ctx, folder); err != nil {
		return nil, err
	}
	conn, err := b.cluster.attach(ctx, b.name, runner)
	if err != nil {
		return nil, b.cluster.unavailable("connect to the Pod", err)
	}
	i := &instance{blank: b}
	shelled := make(chan struct{})
	i.shell = shellproto.NewShell(conn, func() {
		<-shelled
		ended(i)
	})
	close(shelled)
	if err := conn.ready(ctx); err != nil {
		i.shell.Close()
		return nil, b.cluster.unavailable("connect to the Pod", err)
	}
	return i, nil
}

// unpack sends a folder to the loader as an archive.
func (b *blank) unpack(ctx context.Context, folder string) error {
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
	var output, messages bytes.Buffer
	err = conn.Copy(&output, limitWriter{&messages})
	read := <-archived
	if output.String() == nonce {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the skill's folder cannot be loaded into a Pod of the image %s of the role %q: %s", b.spec.image, b.spec.role, bytes.TrimSpace(messages.Bytes())),
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

// limitWriter writes the beginning of a text to a buffer.
type limitWriter struct{ *bytes.Buffer }

func (w limitWriter) Write(p []byte) (int, error) {
	const most = 512
	w.Buffer.Write(p[:min(len(p), most-w.Len())])
	return len(p), nil
}
