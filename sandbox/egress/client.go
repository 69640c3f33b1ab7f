package egress

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// A door is where connections of the sandbox come in. It lets in no more at
// once than there may be; the others wait outside, where they cost nothing.
type door struct {
	net.Listener
	proxy *Proxy
}

// Accept returns the next connection, as a [*client].
func (d *door) Accept() (net.Conn, error) {
	p := d.proxy
	select {
	case p.open <- struct{}{}:
	case <-p.life.Context().Done():
		return nil, net.ErrClosed
	}
	conn, err := d.Listener.Accept()
	if err != nil {
		<-p.open
		return nil, err
	}
	_, leave, err := p.life.Join(context.Background())
	if err != nil {
		_ = conn.Close()
		<-p.open
		return nil, net.ErrClosed
	}
	return newClient(p, conn, leave), nil
}

// A client is a connection of the sandbox to the proxy. Everything that the
// sandbox sends and gets goes through it; so it is the one that watches for
// idleness. It ends with the proxy.
type client struct {
	net.Conn
	idle    *time.Timer // closes Conn
	timeout time.Duration
	leave   func() // tells the proxy that the server is done with it
	close   func() error
}

func newClient(p *Proxy, conn net.Conn, leave func()) *client {
	c := &client{Conn: conn, timeout: p.options.IdleTimeout, leave: leave}
	c.idle = time.AfterFunc(c.timeout, func() { _ = conn.Close() })
	stop := context.AfterFunc(p.life.Context(), func() { _ = conn.Close() })
	c.close = sync.OnceValue(func() error {
		c.idle.Stop()
		stop()
		<-p.open
		return conn.Close()
	})
	return c
}

// left is told by the HTTP server what becomes of a client.
func left(conn net.Conn, state http.ConnState) {
	if c, ok := conn.(*client); ok && (state == http.StateClosed || state == http.StateHijacked) {
		c.leave()
	}
}

func (c *client) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.idle.Reset(c.timeout)
	}
	return n, err
}

func (c *client) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.idle.Reset(c.timeout)
	}
	return n, err
}

func (c *client) Close() error { return c.close() }

func (c *client) CloseWrite() error { return closeWrite(c.Conn) }
