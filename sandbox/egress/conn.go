package egress

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A limitedListener accepts the connections of a sandbox, at most cap(open) at once. The
// others wait in the kernel's queue, where they cost nothing.
type limitedListener struct {
	net.Listener
	open chan struct{} // holds a token for each open connection
	life *sandbox.Lifetime
	idle time.Duration // timeout of idle connections
}

// Accept returns the next connection, as a [*clientConn].
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.open <- struct{}{}:
	case <-l.life.Context().Done():
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.open
		return nil, err
	}
	_, leave, err := l.life.Join(context.Background())
	if err != nil {
		_ = conn.Close()
		<-l.open
		return nil, net.ErrClosed
	}
	return l.newConn(conn, leave), nil
}

// A clientConn is a connection of the sandbox to the proxy. All bytes of the sandbox pass
// through it; so it closes idle ones. It ends with the proxy.
type clientConn struct {
	net.Conn
	idle    *time.Timer // closes Conn
	timeout time.Duration
	leave   func() // ends its part in the proxy's life; called when the HTTP server is done with it
	close   func() error
}

// newConn returns conn as a client's. Its Close frees its token.
func (l *limitedListener) newConn(conn net.Conn, leave func()) *clientConn {
	c := &clientConn{Conn: conn, timeout: l.idle, leave: leave}
	c.idle = time.AfterFunc(c.timeout, func() { _ = conn.Close() })
	stop := context.AfterFunc(l.life.Context(), func() { _ = conn.Close() })
	c.close = sync.OnceValue(func() error {
		c.idle.Stop()
		stop()
		<-l.open
		return conn.Close()
	})
	return c
}

// connState is the HTTP server's callback for the states of a connection.
func connState(conn net.Conn, state http.ConnState) {
	if c, ok := conn.(*clientConn); ok && (state == http.StateClosed || state == http.StateHijacked) {
		c.leave()
	}
}

func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.idle.Reset(c.timeout)
	}
	return n, err
}

func (c *clientConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.idle.Reset(c.timeout)
	}
	return n, err
}

func (c *clientConn) Close() error { return c.close() }

func (c *clientConn) CloseWrite() error { return closeWrite(c.Conn) }

// An upstreamConn is a connection to a host. It counts its bytes and ends with the
// proxy.
type upstreamConn struct {
	net.Conn
	entry *entry
	close func() error
}

// newUpstream returns conn as an upstream's. Its Close records the end in entry.
func newUpstream(life context.Context, conn net.Conn, entry *entry, leave func()) *upstreamConn {
	stop := context.AfterFunc(life, func() { _ = conn.Close() })
	return &upstreamConn{conn, entry, sync.OnceValue(func() error {
		defer leave()
		stop()
		entry.end("")
		return conn.Close()
	})}
}

func (u *upstreamConn) Read(p []byte) (int, error) {
	n, err := u.Conn.Read(p)
	u.entry.got.Add(int64(n))
	return n, err
}

func (u *upstreamConn) Write(p []byte) (int, error) {
	n, err := u.Conn.Write(p)
	u.entry.sent.Add(int64(n))
	return n, err
}

func (u *upstreamConn) Close() error { return u.close() }

func (u *upstreamConn) CloseWrite() error { return closeWrite(u.Conn) }

// closeWrite ends one direction of a connection, or both where it cannot end one.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}
