package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	gorilla "github.com/gorilla/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/websocket"

	"github.com/skillsmcp/skills-mcp/sandbox/shellproto"
)

const (
	// beat is the time between two pings, so that no proxy takes a connection of a Pod
	// that waits for an idle one, and silence the time without a reply after which the
	// connection is given up.
	beat    = 20 * time.Second
	silence = 3 * beat
	// writeTimeout bounds one write.
	writeTimeout = time.Minute
	// maxMessage bounds one message: API servers lose the rest of one that is much larger.
	maxMessage = 32 << 10
	// readyPause is the time after which an empty line is sent again: what a shell says
	// before a connection is complete is lost.
	readyPause = 250 * time.Millisecond
	readyTries = 40
)

// A conn connects to the standard streams of a process in a Pod, by version 5 of the
// protocol of kubectl's own: each message begins with the number of its stream. client-go's
// executor copies the streams in goroutines of their own, does not tell whether a write
// has failed, and leaks them where it is stopped early. It is a [shellproto.Conn].
type conn struct {
	ws       *gorilla.Conn
	stop     chan struct{} // closed by Close
	close    func()
	answered chan struct{} // closed at the first answer to an empty line
	writing  sync.Mutex    // held by a write
}

// dial connects to the process at an address of the API server.
func dial(ctx context.Context, config *rest.Config, address string) (*conn, error) {
	transport, holder, err := websocket.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	ws, err := websocket.Negotiate(transport, holder, request, remotecommand.StreamProtocolV5Name)
	if err != nil {
		return nil, err
	}
	c := &conn{ws: ws, stop: make(chan struct{}), answered: make(chan struct{})}
	c.close = sync.OnceFunc(func() {
		close(c.stop)
		_ = ws.Close()
	})
	return c, nil
}

// Copy implements [shellproto.Conn]. It returns an [*exitError] where the process ended with
// a code other than 0.
func (c *conn) Copy(stdout, stderr io.Writer) error {
	extend := func(string) error { return c.ws.SetReadDeadline(time.Now().Add(silence)) }
	c.ws.SetPongHandler(extend)
	_ = extend("") // it fails where the connection is closed, as the read does
	var beating sync.WaitGroup
	beating.Go(c.beat)
	defer beating.Wait()
	defer c.close()
	var status *metav1.Status // of the process's end
	early := true
	for {
		_, message, err := c.ws.ReadMessage()
		switch {
		case err != nil && status != nil:
			return exitOf(status)
		case err != nil:
			return err
		case len(message) == 0:
			continue
		}
		stream, data := message[0], message[1:]
		switch stream {
		case remotecommand.StreamStdOut:
			if early {
				data, early = c.trim(data)
			}
			if len(data) > 0 {
				_, err = stdout.Write(data)
			}
		case remotecommand.StreamStdErr:
			_, err = stderr.Write(data)
		case remotecommand.StreamErr:
			if status = new(metav1.Status); json.Unmarshal(data, status) != nil {
				status.Message = string(data)
			}
		}
		if err != nil {
			return err
		}
	}
}

// trim returns data without the answers to empty lines, and whether there was nothing else.
func (c *conn) trim(data []byte) (rest []byte, early bool) {
	rest = bytes.TrimLeft(data, string(shellproto.Ready))
	if len(rest) < len(data) {
		select {
		case <-c.answered:
		default:
			close(c.answered)
		}
	}
	return rest, len(rest) == 0
}

// beat sends pings until the connection is closed.
func (c *conn) beat() {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = c.ws.WriteControl(gorilla.PingMessage, nil, time.Now().Add(writeTimeout))
		case <-c.stop:
			return
		}
	}
}

// Write implements [shellproto.Conn].
func (c *conn) Write(p []byte) (n int, err error) {
	for part := range slices.Chunk(p, maxMessage) {
		if err := c.send(append([]byte{remotecommand.StreamStdIn}, part...)); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

func (c *conn) send(message []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	return c.ws.WriteMessage(gorilla.BinaryMessage, message)
}

// Input implements [shellproto.Conn].
func (c *conn) Input() io.WriteCloser { return input{c} }

// An input writes the standard input of a process.
type input struct{ c *conn }

func (i input) Write(p []byte) (int, error) { return i.c.Write(p) }

// Close ends the input, not the connection.
func (i input) Close() error {
	return i.c.send([]byte{remotecommand.StreamClose, remotecommand.StreamStdIn})
}

// Close implements [shellproto.Conn].
func (c *conn) Close() error {
	c.close()
	return nil
}

// ready waits until the shell has answered an empty line, so that both directions of the
// connection work.
func (c *conn) ready(ctx context.Context) error {
	defer context.AfterFunc(ctx, c.close)()
	tick := time.NewTicker(readyPause)
	defer tick.Stop()
	for range readyTries {
		if _, err := io.WriteString(c, "\n"); err != nil {
			return err
		}
		select {
		case <-c.answered:
			return nil
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("its shell does not answer within %v", readyTries*readyPause)
}

// An exitError is the end of a process with a code other than 0, or without one.
type exitError struct {
	code    int // -1 for none
	message string
}

func (e *exitError) Error() string { return e.message }

// exitOf returns the error of a process's end, and nil where it ended well.
func exitOf(status *metav1.Status) error {
	if status.Status == metav1.StatusSuccess {
		return nil
	}
	e := &exitError{-1, status.Message}
	if status.Details == nil || status.Reason != remotecommand.NonZeroExitCodeReason {
		return e
	}
	for _, cause := range status.Details.Causes {
		if code, err := strconv.Atoi(cause.Message); err == nil && cause.Type == remotecommand.ExitCodeCauseType {
			e.code = code
		}
	}
	return e
}
