// Package egress is the only way out of a sandbox: an HTTP proxy that connects to the
// hosts that a skill was granted, and to nothing else. Start with [New]; pass it the
// listener that the sandbox reaches with [Proxy.Serve], give the command the variables
// of [Environ], and end it with [Proxy.Close].
//
// The proxy promises:
//
//   - It connects only where a rule names the requested host and port; see [ParseRule].
//     It checks each request of a connection.
//   - It resolves a name itself, once, and connects to the address that it checked. It
//     refuses a name that resolves to an address that is not public: of a private
//     network, of this machine, of a cloud's metadata service. A rule that names an
//     address may name a private one, where [Options.Private] has it.
//   - CONNECT carries any protocol, for HTTPS first of all; requests with an absolute
//     http:// URL are forwarded. A refusal is one line for the script's author, with
//     the host and the reason. A refused CONNECT has it as its reason phrase too: most
//     clients show nothing else.
//   - TLS that a command begins in a tunnel is for the tunnel's host, if it names one.
//   - It ends TLS only for the hosts of secrets: it puts a secret into requests that its
//     grant names, and into no other, and takes it out of the responses. See
//     [sandbox.Secret] and [Equip].
//   - It bounds the number of connections, their time and their idle time. It records
//     hosts and byte counts, and no content: see [Proxy.Connections].
//
// That is enough for a sandbox with a network namespace in which the server can listen.
// Where the server cannot, as in a container of an engine, a second process inside the
// sandbox listens there: [Forward] carries its connections over a single stream, such as
// its standard input and output, and [Listener] is the other end. [Main] is that
// process's program. Where sandboxes reach the server over a network, as those of a cluster
// do, all reach one [Gateway].
package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Address is the host and port of the proxy inside of a sandbox.
const Address = "127.0.0.1:3128"

// A Proxy connects one sandbox to the hosts of its rules. It may be used
// concurrently.
type Proxy struct {
	connector  *connector
	terminator *terminator // nil without secrets
	server     *http.Server
	open       chan struct{} // holds a token for each open connection of the sandbox
}

// New returns a proxy to the hosts of a grant, with its secrets, which [Equip] has given an
// authority. Options may be nil.
func New(grant sandbox.Grant, options *Options) (*Proxy, error) {
	c := &connector{options: options.withDefaults(), life: sandbox.NewLifetime(), own: net.InterfaceAddrs}
	for _, host := range grant.Hosts {
		rule, err := ParseRule(host)
		if err != nil {
			return nil, err
		}
		c.rules = append(c.rules, rule)
	}
	silent := log.New(io.Discard, "", 0)
	t, err := newTerminator(c, grant.Secrets, silent)
	if err != nil {
		return nil, err
	}
	return &Proxy{
		connector:  c,
		terminator: t,
		open:       make(chan struct{}, 2*c.options.MaxConnections),
		server: &http.Server{
			Handler:           newHandler(c, t, silent),
			ReadHeaderTimeout: headTimeout,
			IdleTimeout:       c.options.IdleTimeout,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          silent,
			ConnState:         connState,

			DisableGeneralOptionsHandler: true,
		},
	}, nil
}

// Serve serves the connections to listener until the listener or the proxy is closed,
// then returns nil. The connections last until Close.
func (p *Proxy) Serve(listener net.Listener) error {
	_, leave, err := p.connector.life.Join(context.Background())
	if err != nil {
		_ = listener.Close()
		return nil
	}
	defer leave()
	if p.terminator != nil {
		var inside sync.WaitGroup
		inside.Go(func() { _ = p.terminator.server.Serve(p.terminator) }) // until the proxy is closed
		defer inside.Wait()
	}
	err = p.server.Serve(&limitedListener{listener, p.open, p.connector.life, p.connector.options.IdleTimeout})
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("serve the proxy: %w", err)
}

// Close closes the listeners, ends every connection and waits for their ends. It may be
// called more than once.
func (p *Proxy) Close() error {
	err := p.server.Close()
	if p.terminator != nil {
		_ = p.terminator.server.Close()
	}
	p.connector.life.End()
	if p.terminator != nil {
		p.terminator.transport.CloseIdleConnections()
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Connections returns the connections that were made or refused, in the order of their
// beginning: the first 1000, and then one for all others, with a host such as
// "(12 more)" and the sums of their bytes. After Close it does not change any more.
func (p *Proxy) Connections() []sandbox.Connection { return p.connector.journal.connections() }

// Environ returns the variables, as "KEY=value", by which programs use the proxy at
// address, a host and port, after the user information and @ where [Gateway.Open] returned
// some. Java has no variable for that.
func Environ(address string) []string {
	url, direct := "http://"+address, "localhost,127.0.0.1,::1"
	host, port, _ := net.SplitHostPort(address[strings.LastIndex(address, "@")+1:])
	return []string{
		"HTTP_PROXY=" + url, "http_proxy=" + url,
		"HTTPS_PROXY=" + url, "https_proxy=" + url,
		"ALL_PROXY=" + url, "all_proxy=" + url,
		"NO_PROXY=" + direct, "no_proxy=" + direct,
		"NODE_USE_ENV_PROXY=1", // Node.js heeds the others only with it
		// Java heeds no variable but this, and says so in a line on stderr.
		fmt.Sprintf("JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=%[1]s -Dhttp.proxyPort=%[2]s -Dhttps.proxyHost=%[1]s -Dhttps.proxyPort=%[2]s", host, port),
	}
}
