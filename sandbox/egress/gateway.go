package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// The bounds of connections to a [Gateway] whose sandbox is not known yet: a hostile sandbox
// must not keep others from their proxies.
const (
	maxReading     = 1024 // in all
	maxReadingPeer = 32   // of one address
	maxHanded      = 32   // of one sandbox, that its proxy has not accepted
	gatewayTimeout = 5 * time.Second
)

// A Gateway shares one listener, which all sandboxes reach, between their proxies: the first
// request of a connection names its sandbox by a token, the password of its
// Proxy-Authorization. A connection without one is in no journal. It may be used
// concurrently.
type Gateway struct {
	listener net.Listener
	stop     context.CancelFunc // ends accept and admit; called by Close
	serving  sync.WaitGroup     // their goroutines

	mu        sync.Mutex
	sandboxes map[string]*sharedListener // by token
	reading   map[netip.Addr]int         // connections whose first request is read, by address
	total     int                        // of reading
}

// NewGateway returns a gateway that accepts the connections to listener until Close.
func NewGateway(listener net.Listener) *Gateway {
	ctx, cancel := context.WithCancel(context.Background())
	g := &Gateway{listener: listener, stop: cancel, sandboxes: map[string]*sharedListener{}, reading: map[netip.Addr]int{}}
	g.serving.Go(func() { g.accept(ctx) })
	return g
}

// Open returns a listener for the connections of one sandbox, and the user information that
// its programs put before the address in [Environ]. Closing the listener ends the token.
// Where addresses are given, it is worth nothing in a connection from any other.
func (g *Gateway) Open(addresses ...netip.Addr) (listener net.Listener, userinfo string) {
	token := rand.Text()
	l := &sharedListener{gateway: g, token: token, addresses: addresses, conns: make(chan net.Conn, maxHanded)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sandboxes[token] = l
	return l, "run:" + token // Python's urllib takes no empty name
}

// Close closes the listener, and those of all sandboxes. It waits for the connections that
// no proxy has accepted.
func (g *Gateway) Close() error {
	err := g.listener.Close()
	g.stop()
	g.serving.Wait()
	g.mu.Lock()
	all := slices.Collect(maps.Values(g.sandboxes))
	g.mu.Unlock()
	for _, l := range all {
		_ = l.Close()
	}
	return err
}

func (g *Gateway) accept(ctx context.Context) {
	for {
		conn, err := g.listener.Accept()
		switch {
		case err != nil && (errors.Is(err, net.ErrClosed) || ctx.Err() != nil):
			return
		case err != nil: // such as too many open files
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
		from := peer.Addr().Unmap().WithZone("")
		if err != nil || !g.enter(from) {
			_ = conn.Close()
			continue
		}
		g.serving.Go(func() {
			defer g.exit(from)
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer stop()
			g.admit(conn, from)
		})
	}
}

// enter counts a connection of an address, and reports whether it may be read.
func (g *Gateway) enter(from netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.total >= maxReading || g.reading[from] >= maxReadingPeer {
		return false
	}
	g.total++
	g.reading[from]++
	return true
}

func (g *Gateway) exit(from netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	if g.reading[from]--; g.reading[from] == 0 {
		delete(g.reading, from)
	}
}

// admit reads the first request of a connection, and hands both to the proxy of its sandbox,
// which reads it again.
func (g *Gateway) admit(conn net.Conn, from netip.Addr) {
	_ = conn.SetDeadline(time.Now().Add(gatewayTimeout))
	var head bytes.Buffer
	r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(io.LimitReader(conn, maxHeader), &head)))
	if err != nil {
		_ = conn.Close()
		return
	}
	// The same parser as that of requests to servers.
	given := http.Header{"Authorization": r.Header["Proxy-Authorization"]}
	_, token, found := (&http.Request{Header: given}).BasicAuth()
	if !found {
		// Clients of libcurl, such as Git, send theirs when they are asked to.
		refuseShared(conn, http.StatusProxyAuthRequired, "Proxy-Authenticate: Basic realm=\"skills-mcp\"\r\n", "this proxy is for sandboxes that were granted hosts")
		return
	}
	g.mu.Lock()
	l := g.sandboxes[token]
	g.mu.Unlock()
	if l == nil || len(l.addresses) > 0 && !slices.Contains(l.addresses, from) {
		refuseShared(conn, http.StatusForbidden, "", "the sandbox that this token was for has ended, or is another")
		return
	}
	_ = conn.SetDeadline(time.Time{})
	if !l.hand(&handed{conn, io.MultiReader(&head, conn)}) {
		refuseShared(conn, http.StatusServiceUnavailable, "", "too many connections at once; close some first")
	}
}

// refuseShared responds to the first request of a connection, and closes that.
func refuseShared(conn net.Conn, status int, fields, why string) {
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d skills-mcp: %[3]s\r\n%[2]sContent-Type: text/plain; charset=utf-8\r\nContent-Length: %[4]d\r\nConnection: close\r\n\r\nskills-mcp: %[3]s\n",
		status, fields, why, len("skills-mcp: \n")+len(why))
	linger(conn)
}

// A handed connection replays the bytes that were read from it.
type handed struct {
	net.Conn
	whole io.Reader
}

func (h *handed) Read(p []byte) (int, error) { return h.whole.Read(p) }

func (h *handed) CloseWrite() error { return closeWrite(h.Conn) }

// A sharedListener accepts the connections of one sandbox to a gateway.
type sharedListener struct {
	gateway   *Gateway
	token     string
	addresses []netip.Addr
	conns     chan net.Conn // closed when the gateway forgets the token, under its mu
}

// hand lets Accept return a connection, unless too many wait.
func (l *sharedListener) hand(conn net.Conn) bool {
	l.gateway.mu.Lock()
	defer l.gateway.mu.Unlock()
	if l.gateway.sandboxes[l.token] == nil { // it was closed
		return false
	}
	select {
	case l.conns <- conn:
		return true
	default:
		return false
	}
}

// Accept implements [net.Listener].
func (l *sharedListener) Accept() (net.Conn, error) {
	conn, open := <-l.conns
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// Close implements [net.Listener]. It may be called more than once.
func (l *sharedListener) Close() error {
	l.gateway.mu.Lock()
	defer l.gateway.mu.Unlock()
	if l.gateway.sandboxes[l.token] == nil {
		return nil
	}
	delete(l.gateway.sandboxes, l.token)
	close(l.conns)
	for conn := range l.conns {
		_ = conn.Close()
	}
	return nil
}

// Addr implements [net.Listener].
func (l *sharedListener) Addr() net.Addr { return l.gateway.listener.Addr() }
