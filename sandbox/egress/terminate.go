package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/redact"
)

// A terminator ends the TLS of a sandbox's connections to the hosts of secrets, puts the
// secrets into the requests, and sends them on over TLS of its own.
type terminator struct {
	connector *connector
	secrets   []*secret
	leaves    leaves
	conns     chan net.Conn // whose TLS is begun
	closed    chan struct{}
	server    *http.Server
	transport *http.Transport
	forward   http.Handler
	masker    masker
	active    chan struct{} // holds a token for each request under way
}

// newTerminator returns nil where there are no secrets.
func newTerminator(c *connector, secrets *sandbox.Secrets, silent *log.Logger) (*terminator, error) {
	if secrets == nil {
		return nil, nil
	}
	t := &terminator{connector: c, leaves: leaves{authority: secrets.Authority}, conns: make(chan net.Conn), closed: make(chan struct{}), active: make(chan struct{}, c.options.MaxConnections)}
	masks := map[string]string{}
	for _, s := range secrets.List {
		parsed, err := parseSecret(s)
		if err != nil {
			return nil, err
		}
		t.secrets = append(t.secrets, parsed)
		masks[s.Value] = s.Sentinel
	}
	t.transport = &http.Transport{
		DialContext:            c.dialContext,
		TLSClientConfig:        &tls.Config{RootCAs: c.options.Roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxConnsPerHost:        c.options.MaxConnections,
		MaxResponseHeaderBytes: maxHeader,
		ResponseHeaderTimeout:  c.options.IdleTimeout,
		TLSHandshakeTimeout:    connectTimeout,
		IdleConnTimeout:        c.options.IdleTimeout,
		// Of a response that the sandbox does not read.
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 1 << 20},
	}
	t.masker = masker{redact.New(masks)}
	forward := newReverseProxy(silent)
	forward.Rewrite = func(r *httputil.ProxyRequest) {
		r.Out.URL.RawQuery = r.In.URL.RawQuery
		r.Out.Header.Del("Accept-Encoding") // what comes back has to be read
		r.Out.Header.Del("Sec-Websocket-Extensions")
		r.Out.Header.Del("Range") // a part of a secret would not be seen
	}
	forward.Transport = finalOnly{t.transport}
	forward.ModifyResponse = t.masker.response
	t.forward = forward
	t.server = &http.Server{
		Handler:           http.HandlerFunc(t.serve),
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       c.options.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: c.options.MaxConnections},
		ErrorLog:          silent,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, targetKey{}, conn.(*tls.Conn).NetConn().(*terminated).target)
		},

		DisableGeneralOptionsHandler: true,
	}
	return t, nil
}

// targetKey is that of the host of a connection, a [Rule].
type targetKey struct{}

// isFor reports whether a secret is for a host.
func (t *terminator) isFor(host Rule) bool {
	if t == nil {
		return false
	}
	for _, s := range t.secrets {
		if s.isFor(host) {
			return true
		}
	}
	return false
}

// plain returns a fault for a request without TLS that is to have a secret.
func (t *terminator) plain(r *http.Request) *fault {
	if t == nil {
		return nil
	}
	for _, s := range t.secrets {
		if s.Header == "" && len(s.filled(r).parts) > 0 {
			return &fault{status: http.StatusForbidden, message: "the secret " + s.Name + " is sent over TLS alone; ask for https://" + r.URL.Host}
		}
	}
	return nil
}

// A terminated is a connection of the sandbox whose TLS ends here.
type terminated struct {
	net.Conn
	early  io.Reader // what had come before
	target Rule
	close  func() error
}

func (c *terminated) Read(p []byte) (int, error) { return c.early.Read(p) }
func (c *terminated) Close() error               { return c.close() }

// carry serves a connection of the sandbox to a host until it ends.
func (t *terminator) carry(ctx context.Context, conn net.Conn, early io.Reader, target Rule) {
	closed := make(chan struct{})
	inner := &terminated{conn, io.MultiReader(early, conn), target, sync.OnceValue(func() error { defer close(closed); return conn.Close() })}
	defer inner.Close()
	secure := tls.Server(inner, &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if name := serverName(hello); name != "" && name != target.name {
				return nil, fmt.Errorf("its TLS is for %.100q", name)
			}
			return t.leaves.of(target)
		},
	})
	begin, cancel := context.WithTimeout(ctx, headTimeout)
	defer cancel()
	if err := secure.HandshakeContext(begin); err != nil {
		t.connector.journal.begin(target.String()).end(handshakeFault(err))
		return
	}
	select {
	case t.conns <- secure:
		<-closed
	case <-t.closed:
	}
}

// handshakeFault says why a program of the sandbox did not begin TLS.
func handshakeFault(err error) string {
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var remote *net.OpError
	switch {
	case errors.As(err, &alert), errors.As(err, &remote) && remote.Op == "remote error":
		return "the program does not trust the certificate that stands in for the host's (" + err.Error() + "): it has authorities of its own, or knows the host's certificate; such a program needs the secret as plain"
	case errors.As(err, &record):
		return "the program does not begin with TLS, and a secret is sent in requests over TLS alone; a database's protocol needs it as plain"
	case errors.Is(err, io.EOF):
		return "the program ended the connection before TLS had begun"
	}
	return "TLS did not begin: " + err.Error()
}

// Accept, Close and Addr make t the listener of its server.
func (t *terminator) Accept() (net.Conn, error) {
	select {
	case conn := <-t.conns:
		return conn, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]; its server calls it once.
func (t *terminator) Close() error {
	close(t.closed)
	return nil
}

// Addr implements [net.Listener].
func (t *terminator) Addr() net.Addr { return &net.TCPAddr{} }

// serve handles one request inside of TLS.
func (t *terminator) serve(w http.ResponseWriter, r *http.Request) {
	run, leave, err := t.connector.life.Join(r.Context())
	if err != nil {
		return
	}
	defer leave()
	target := r.Context().Value(targetKey{}).(Rule)
	select {
	case t.active <- struct{}{}:
		defer func() { <-t.active }()
	default:
		answer(w, r, &fault{status: http.StatusServiceUnavailable, message: fmt.Sprintf("more than %d requests at once", cap(t.active))})
		return
	}
	if f := t.prepare(r, target); f != nil {
		f.message = t.masker.values.String(f.message) // a secret before may be in the path
		t.connector.journal.begin(target.String()).end(f.message)
		answer(w, r, f)
		return
	}
	t.forward.ServeHTTP(w, r.WithContext(run))
}

// prepare makes r a request to its host, with the host's secrets.
func (t *terminator) prepare(r *http.Request, target Rule) *fault {
	if r.Method == http.MethodConnect {
		return &fault{status: http.StatusMethodNotAllowed, message: "there is no proxy behind " + target.String()}
	}
	named, err := parseTarget(r.Host, target.port)
	if r.URL.Host != "" || err != nil || named != target {
		return &fault{status: http.StatusMisdirectedRequest, message: fmt.Sprintf("a request for %.100q came over a connection to %s", r.Host, target)}
	}
	r.URL.Scheme, r.URL.Host = "https", target.String()
	r.Host = strings.TrimSuffix(target.String(), ":443")
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		r.Header.Del("Upgrade") // to a protocol in which a secret could not be seen, such as h2c
	}
	for _, s := range t.secrets {
		if !s.isFor(target) {
			continue
		}
		if f := s.fill(r); f != nil {
			return f
		}
	}
	return nil
}
