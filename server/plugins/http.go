package plugins

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/skills"
)

// dial returns the transport to a server over HTTP, through the proxy that a sandbox with
// the command's grant would have: it checks the host, and puts the secrets in. hangUp ends
// it.
func dial(skill *skills.Skill, cmd *sandbox.Command, options *egress.Options) (wire transport.BidirectionalInterface, hangUp func(), err error) {
	server := &skill.Entry.Server.Server
	e := newExpander(cmd)
	address, headers := e.expand(server.Address), map[string]string{}
	for _, line := range e.all(server.Headers, ": ") {
		name, value, _ := strings.Cut(line, ": ")
		headers[name] = value
	}
	if err := e.err(skill); err != nil {
		return nil, nil, err
	}
	host := hostOf(address)
	if host != hostOf(server.Address) {
		return nil, nil, &sandbox.UnavailableError{Reason: "a variable in the URL of the MCP server leads to another host", Remedy: "its maintainer has to write the host as it is"}
	}
	if !grants(cmd.Grant.Hosts, host) {
		return nil, nil, &sandbox.UnavailableError{Reason: "the MCP server is at " + host + ", which it is not granted", Remedy: fmt.Sprintf("a person can grant it with: skills-mcp grant %s --network %s", skill.QualifiedName(), host)}
	}
	proxy, err := egress.New(cmd.Grant, options)
	if err != nil {
		return nil, nil, err
	}
	if cmd.Proxied != nil {
		cmd.Proxied(proxy.Connections)
	}
	client, err := throughProxy(proxy, cmd.Grant.Secrets)
	if err == nil {
		wire, err = transport.NewStreamableHTTP(address, transport.WithHTTPBasicClient(client), transport.WithHTTPHeaders(headers), transport.WithHTTPLogger(slog.New(slog.DiscardHandler)))
	}
	if err != nil {
		_ = proxy.Close()
		return nil, nil, err
	}
	return wire, func() {
		_ = wire.Close() // it tells the server, by the proxy
		client.CloseIdleConnections()
		_ = proxy.Close()
	}, nil
}

// grants reports whether one of the hosts of a grant covers a host.
func grants(hosts []string, host string) bool {
	wanted, err := egress.ParseRule(host)
	return err == nil && slices.ContainsFunc(hosts, func(granted string) bool {
		rule, err := egress.ParseRule(granted)
		return err == nil && rule.Covers(wanted)
	})
}

// throughProxy returns a client whose connections go through a proxy, and that trusts the
// authority of its secrets.
func throughProxy(proxy *egress.Proxy, secrets *sandbox.Secrets) (*http.Client, error) {
	listener := &pipeListener{conns: make(chan net.Conn)}
	listener.ctx, listener.close = context.WithCancel(context.Background())
	go func() { _ = proxy.Serve(listener) }() // until the proxy is closed
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: egress.Address})
	t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return listener.dial(ctx) }
	if secrets != nil {
		roots, err := x509.SystemCertPool()
		if err != nil {
			return nil, err
		}
		authority, err := x509.ParseCertificate(secrets.Authority.Certificate[0])
		if err != nil {
			return nil, err
		}
		roots.AddCert(authority)
		t.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	refuse := func(r *http.Request, _ []*http.Request) error {
		return fmt.Errorf("it redirects to %s, which is not followed", r.URL.Redacted())
	}
	return &http.Client{Transport: &boundedTransport{t}, CheckRedirect: refuse}, nil
}

// A boundedTransport bounds the bodies of replies.
type boundedTransport struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (t *boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := t.Transport.RoundTrip(r)
	if err == nil {
		reply.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(reply.Body, maxQueue), reply.Body}
	}
	return reply, err
}

// A pipeListener accepts connections of this program.
type pipeListener struct {
	conns chan net.Conn
	ctx   context.Context // done when it is closed
	close context.CancelFunc
}

func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.ctx.Done():
		return nil, errors.New("the proxy is closed")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// hostOf returns the host and port of an address; "" is none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return u.Hostname() + ":" + cmp.Or(u.Port(), map[string]string{"http": "80"}[u.Scheme], "443")
}
