package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
)

// A handler handles the requests of a sandbox.
type handler struct {
	connector  *connector
	terminator *terminator // nil without secrets
	forward    http.Handler
	active     chan struct{} // holds a token for each request and tunnel under way
}

// newHandler returns a handler that connects by c, and to the hosts of secrets by t.
func newHandler(c *connector, t *terminator, silent *log.Logger) *handler {
	return &handler{c, t, newForwarder(c, silent), make(chan struct{}, c.options.MaxConnections)}
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	run, leave, err := h.connector.life.Join(r.Context())
	if err != nil {
		return
	}
	defer leave()
	target, f := admit(r)
	if f != nil {
		answer(w, r, f)
		return
	}
	select {
	case h.active <- struct{}{}:
		defer func() { <-h.active }()
	default:
		answer(w, r, &fault{status: http.StatusServiceUnavailable, message: fmt.Sprintf("more than %d connections at once; close some first", cap(h.active))})
		return
	}
	if r.Method == http.MethodConnect {
		h.tunnel(run, w, r, target)
		return
	}
	if f := h.terminator.plain(r); f != nil {
		answer(w, r, f)
		return
	}
	r.URL.Host = target.String()
	h.forward.ServeHTTP(w, r.WithContext(run))
}

// admit parses and checks the target of a request.
func admit(r *http.Request) (Rule, *fault) {
	bad := func(format string, args ...any) (Rule, *fault) {
		return Rule{}, &fault{status: http.StatusBadRequest, message: fmt.Sprintf(format, args...)}
	}
	if r.Method == http.MethodConnect {
		target, err := parseTarget(r.RequestURI, 443)
		if err != nil {
			return bad("%v", err)
		}
		return target, nil
	}
	switch {
	case !r.URL.IsAbs():
		return bad("this is a proxy: ask it for a whole URL, such as http://api.example.com/")
	case r.URL.Scheme != "http":
		return bad("the scheme %.20q is not passed on; use CONNECT, as for https", r.URL.Scheme)
	}
	target, err := parseTarget(r.URL.Host, 80)
	if err != nil {
		return bad("%v", err)
	}
	return target, nil
}

// newForwarder returns a reverse proxy for requests that have an absolute URL. Each has a
// connection of its own, so that each is checked where it is dialed.
func newForwarder(c *connector, silent *log.Logger) *httputil.ReverseProxy {
	p := newReverseProxy(silent)
	// The host gets the name of the URL, which was checked, and not that of the Host
	// header. Hop-by-hop header fields are not forwarded.
	p.Rewrite = func(r *httputil.ProxyRequest) {
		r.Out.Host = strings.TrimSuffix(r.Out.URL.Host, ":80")
		r.Out.URL.RawQuery = r.In.URL.RawQuery // as it was, with the parts that Go does not parse
	}
	p.Transport = &http.Transport{
		DialContext:            c.dialContext,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		ResponseHeaderTimeout:  c.options.IdleTimeout,
	}
	return p
}

// tunnel handles a CONNECT: it connects, and then copies both ways until both have
// ended.
func (h *handler) tunnel(ctx context.Context, w http.ResponseWriter, r *http.Request, target Rule) {
	var host *upstreamConn
	ends := h.terminator.isFor(target) && h.connector.granted(target) // TLS, here
	if !ends {
		var err error
		if host, err = h.connector.connect(ctx, target); err != nil {
			var f *fault
			if errors.As(err, &f) {
				answer(w, r, f)
			}
			return
		}
		defer host.Close()
	}
	sandbox, stream, err := hijack(w)
	if err != nil {
		return
	}
	defer sandbox.Close()
	if _, err := io.WriteString(sandbox, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	// The buffer has the bytes that the client sent without waiting for the response.
	early := io.LimitReader(stream.Reader, int64(stream.Reader.Buffered()))
	if ends {
		h.terminator.carry(ctx, sandbox, early, target)
		return
	}
	sent := make(chan struct{}) // closed by the goroutine below
	go func() {
		defer close(sent)
		from := io.MultiReader(early, sandbox)
		if target.name != "" {
			from = &helloChecked{from: from, target: target}
		}
		var f *fault
		if err := relay(host, from, host, sandbox); errors.As(err, &f) {
			host.entry.refuse(f.message)
		}
	}()
	_ = relay(sandbox, host, sandbox, host) // the client sees its end
	<-sent
}

// relay copies one direction of a tunnel up to its end, and ends it at the other side
// too. An error ends both directions.
func relay(to io.Writer, from io.Reader, toConn, fromConn net.Conn) error {
	if _, err := io.Copy(to, from); err != nil {
		_ = toConn.Close()
		_ = fromConn.Close()
		return err
	}
	_ = closeWrite(toConn)
	return nil
}
