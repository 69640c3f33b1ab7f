// Package egress is the only way out of a sandbox: an HTTP proxy that connects
// to the hosts that a skill was granted, and to nothing else. Start with [New];
// pass it the listener that the sandbox reaches with [Proxy.Serve], give the
// command the variables of [Environ], and end it with [Proxy.Close].
//
// What the proxy promises:
//
//   - A connection is made only where a rule names the host and the port that
//     were asked for; see [ParseRule]. Each request of a connection is checked.
//   - A name is resolved here, once, and the address that was checked is the one
//     that is connected to. A name that resolves to an address of a private
//     network, of this machine, of a cloud's metadata service or to any other
//     that is not public is refused. An address that a rule names itself may be
//     private where [Options.Private] has it.
//   - CONNECT carries any protocol, for HTTPS first of all; requests with a whole
//     http:// URL are passed on. Whatever is refused is answered with one line
//     that says what and why, for the script's author. A refused CONNECT has it
//     as its reason phrase too: most clients show nothing else.
//   - Connections, their time and the time they are idle are bounded. Nothing of
//     what passes is kept but who was talked to, and how much: see
//     [Proxy.Connections].
//
// A sandbox with a network namespace of its own that the server can listen in
// needs no more than that. Where it cannot, as in a container of an engine, a
// second process inside the sandbox listens there: [Forward] carries its
// connections over a single stream, such as its standard input and output, and
// [Listener] is the other end. [Main] is that process's program.
package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Address is where the proxy is reached inside of a sandbox.
const Address = "127.0.0.1:3128"

const (
	// maxHeader is how large the head of a request may be, and of a response.
	maxHeader = 64 << 10
	// headTimeout is how long the head of a request may take.
	headTimeout = 15 * time.Second
	// lingerTimeout is how long a client that was refused may take to read why.
	lingerTimeout = time.Second
)

// Options configure a [Proxy]. The zero value is usable.
type Options struct {
	// Private are networks that are not public, but that rules which name an
	// address may reach. Link-local, multicast and metadata addresses are never
	// reached.
	Private []netip.Prefix
	// ConnectTimeout bounds the look-up of a name and the connecting; 0 is 10
	// seconds.
	ConnectTimeout time.Duration
	// IdleTimeout ends a connection over which nothing passes; 0 is 5 minutes.
	IdleTimeout time.Duration
	// MaxConnections is how many requests and tunnels may be under way at once;
	// 0 is 64. Twice as many connections may be open.
	MaxConnections int
	// Resolver looks up names; nil is the system's.
	Resolver Resolver
	// Dial connects to an IP address and port; nil is the system's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Resolver looks up the addresses of a name, as [*net.Resolver] does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// withDefaults returns a copy of o with nothing left out.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	if c.IdleTimeout <= 0 {
		c.IdleTimeout = 5 * time.Minute
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = 64
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	return c
}

// A Proxy connects one sandbox to the hosts of its rules. It may be used
// concurrently.
type Proxy struct {
	rules   []Rule
	options Options
	server  *http.Server
	journal journal
	life    *sandbox.Lifetime // of every connection
	active  chan struct{}     // has an element for each request and tunnel under way
	open    chan struct{}     // has an element for each connection that a sandbox opened
	own     func() ([]net.Addr, error)
}

// New returns a proxy to hosts, each as [ParseRule] reads it. Options may be
// nil.
func New(hosts []string, options *Options) (*Proxy, error) {
	p := &Proxy{options: options.withDefaults(), life: sandbox.NewLifetime(), own: net.InterfaceAddrs}
	for _, host := range hosts {
		rule, err := ParseRule(host)
		if err != nil {
			return nil, err
		}
		p.rules = append(p.rules, rule)
	}
	p.active = make(chan struct{}, p.options.MaxConnections)
	p.open = make(chan struct{}, 2*p.options.MaxConnections)
	silent := log.New(io.Discard, "", 0)
	p.server = &http.Server{
		Handler:           p.handler(silent),
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       p.options.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          silent,
		ConnState:         left,

		DisableGeneralOptionsHandler: true,
	}
	return p, nil
}

// Serve serves what connects to listener until that is closed, or the proxy is,
// then returns nil. The connections live on, until Close.
func (p *Proxy) Serve(listener net.Listener) error {
	_, leave, err := p.life.Join(context.Background())
	if err != nil {
		_ = listener.Close()
		return nil
	}
	defer leave()
	err = p.server.Serve(&door{listener, p})
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("serve the proxy: %w", err)
}

// Close closes the listeners, ends every connection and waits until all is
// over. It may be called more than once.
func (p *Proxy) Close() error {
	err := p.server.Close()
	p.life.End()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Environ returns the variables, as "KEY=value", that tell programs to use the
// proxy at address, a host and port.
func Environ(address string) []string {
	url, direct := "http://"+address, "localhost,127.0.0.1,::1"
	return []string{
		"HTTP_PROXY=" + url, "http_proxy=" + url,
		"HTTPS_PROXY=" + url, "https_proxy=" + url,
		"ALL_PROXY=" + url, "all_proxy=" + url,
		"NO_PROXY=" + direct, "no_proxy=" + direct,
		"NODE_USE_ENV_PROXY=1", // Node.js heeds the others only with it
	}
}
