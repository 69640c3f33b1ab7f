package egress

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
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
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/redact"
)

// A terminator ends the TLS of a sandbox's connections to the hosts of secrets, puts the
// secrets into the requests, and sends them on over TLS of its own.
type terminator struct {
	connector *connector
	secrets   []*secret
	masked    *redact.Replacer // of each value by its sentinel, in what comes back
	leaves    leaves
	conns     chan net.Conn // whose TLS is begun
	closed    chan struct{}
	server    *http.Server
	transport *http.Transport
	forward   http.Handler
}

// newTerminator returns nil where there are no secrets.
func newTerminator(c *connector, secrets *sandbox.Secrets, silent *log.Logger) (*terminator, error) {
	if secrets == nil {
		return nil, nil
	}
	t := &terminator{connector: c, leaves: leaves{authority: secrets.Authority}, conns: make(chan net.Conn), closed: make(chan struct{})}
	masks := map[string]string{}
	for _, s := range secrets.List {
		parsed, err := parseSecret(s)
		if err != nil {
			return nil, err
		}
		t.secrets = append(t.secrets, parsed)
		masks[s.Value] = s.Sentinel
	}
	t.masked = redact.New(masks)
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
	}
	forward := newReverseProxy(silent)
	forward.Rewrite = func(r *httputil.ProxyRequest) {
		r.Out.URL.RawQuery = r.In.URL.RawQuery
		r.Out.Header.Del("Accept-Encoding") // what comes back has to be read
		r.Out.Header.Del("Sec-Websocket-Extensions")
	}
	forward.Transport = finalOnly{t.transport}
	forward.ModifyResponse = t.mask
	t.forward = forward
	t.server = &http.Server{
		Handler:           http.HandlerFunc(t.serve),
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       c.options.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
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
		if s.Header == "" && s.stands(r) {
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

// serverName returns the name that a client wants to reach, "" for none.
func serverName(hello *tls.ClientHelloInfo) string {
	return strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
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
		return "the program speaks no TLS, and a secret is sent over TLS alone"
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
	if f := t.prepare(r, target); f != nil {
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

// mask puts the sentinels in place of the secrets in a response.
func (t *terminator) mask(r *http.Response) error {
	t.maskFields(r.Header)
	r.Status = t.masked.String(r.Status)
	if r.StatusCode == http.StatusSwitchingProtocols {
		if both, ok := r.Body.(io.ReadWriteCloser); ok {
			r.Body = struct {
				io.Reader
				io.Writer
				io.Closer
			}{t.masked.Reader(both), both, both}
		}
		return nil
	}
	if r.Request.Method == http.MethodHead || r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	plain, err := decompress(r)
	if err != nil {
		return err
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{&trailed{t.masked.Reader(plain), r, t}, r.Body}
	return nil
}

// maskFields masks header fields or trailers.
func (t *terminator) maskFields(fields http.Header) {
	for name, values := range fields {
		for i, value := range values {
			values[i] = t.masked.String(value)
		}
		if masked := t.masked.String(name); masked != name {
			delete(fields, name)
		}
	}
}

// trailed is a body; when it has ended, its trailers are masked too.
type trailed struct {
	io.Reader
	response   *http.Response
	terminator *terminator
}

func (b *trailed) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		b.terminator.maskFields(b.response.Trailer)
	}
	return n, err
}

// decompress returns the body of a response as it was before a host compressed it, though
// it was not asked to, and takes the word of that out of its head.
func decompress(r *http.Response) (io.Reader, error) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ",")))
	var plain io.Reader
	switch {
	case encoding == "" || encoding == "identity":
		return r.Body, nil
	case r.StatusCode == http.StatusPartialContent:
	case encoding == "gzip" || encoding == "x-gzip":
		plain = &lazy{from: r.Body, open: func(from io.Reader) (io.Reader, error) { return gzip.NewReader(from) }}
	case encoding == "deflate":
		plain = &lazy{from: r.Body, open: inflate}
	}
	if plain == nil {
		return nil, &fault{status: http.StatusBadGateway, message: fmt.Sprintf("%s answers with %.40q, in which a secret could not be seen", r.Request.URL.Host, encoding)}
	}
	r.Header.Del("Content-Encoding")
	r.Header.Del("Content-Length")
	r.ContentLength = -1
	return plain, nil
}

// inflate reads what HTTP names deflate: a zlib stream, or, of some hosts, one without its
// head.
func inflate(from io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(from)
	head, err := buffered.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(buffered)
	}
	return flate.NewReader(buffered), nil
}

// lazy opens a reader when it is first read, so that a response's head does not wait for
// its body.
type lazy struct {
	from   io.Reader
	open   func(io.Reader) (io.Reader, error)
	opened io.Reader
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.opened == nil {
		var err error
		if l.opened, err = l.open(l.from); err != nil {
			return 0, err
		}
	}
	return l.opened.Read(p)
}

// finalOnly keeps responses of the 100s to itself: their fields are passed on unmasked.
type finalOnly struct{ http.RoundTripper }

func (f finalOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	return f.RoundTripper.RoundTrip(r.WithContext(untraced{r.Context()}))
}

// untraced is a context without values, and so without what listens to responses of the
// 100s.
type untraced struct{ context.Context }

func (untraced) Value(any) any { return nil }

// helloChecked is what a sandbox sends through a tunnel to a host. If it begins TLS for
// another name, it ends with a fault: a host that serves several names would be reached by
// one that was not granted.
type helloChecked struct {
	from   io.Reader
	target Rule
	held   []byte // read, and not returned
	done   bool   // it may be passed on
}

func (h *helloChecked) Read(p []byte) (int, error) {
	for !h.done {
		n, err := h.from.Read(p)
		h.held = append(h.held, p[:n]...)
		name, whole := helloName(h.held)
		if name != "" && name != h.target.name {
			return 0, &fault{message: fmt.Sprintf("its TLS is for %.100q, and the connection to %s", name, h.target)}
		}
		h.done = whole || err != nil
	}
	if len(h.held) > 0 {
		n := copy(p, h.held)
		h.held = h.held[n:]
		return n, nil
	}
	return h.from.Read(p)
}

// helloName returns the name in the first message of TLS, and whether all of it is there.
// Whole is true also of bytes that are not TLS.
func helloName(sent []byte) (name string, whole bool) {
	if len(sent) == 0 || sent[0] != 0x16 || len(sent) > maxHeader {
		return "", len(sent) > 0
	}
	seen := errors.New("seen")
	err := tls.Server(readOnly{Reader: bytes.NewReader(sent)}, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name = serverName(hello)
		return nil, seen
	}}).Handshake()
	return name, !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// readOnly is a connection that has sent something, and hears nothing.
type readOnly struct {
	io.Reader
	net.Conn
}

func (c readOnly) Read(p []byte) (int, error)     { return c.Reader.Read(p) }
func (readOnly) Write(p []byte) (int, error)      { return len(p), nil }
func (readOnly) Close() error                     { return nil }
func (readOnly) SetDeadline(time.Time) error      { return nil }
func (readOnly) SetReadDeadline(time.Time) error  { return nil }
func (readOnly) SetWriteDeadline(time.Time) error { return nil }
