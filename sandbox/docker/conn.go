package docker

import (
	"context"
	"io"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"
)

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

// Input implements [shellproto.Conn]. The command reads the bytes after the line.
func (c *conn) Input() io.WriteCloser { return input{c.HijackedResponse} }

// An input writes the standard input of a process in a container.
type input struct{ types.HijackedResponse }

func (i input) Write(p []byte) (int, error) { return i.Conn.Write(p) }

// Close ends the input, not the connection.
func (i input) Close() error { return i.CloseWrite() }

// Close implements [shellproto.Conn].
func (c *conn) Close() error { return c.Conn.Close() }

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
