package download

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

const (
	maxRedirects = 10
	maxHeader    = 256 << 10 // bytes of a response header
	dialTimeout  = 20 * time.Second
)

// transport returns a copy of a transport that connects only to the addresses that allow
// has no error for; nil allows all.
func transport(base *http.Transport, allow func(netip.Addr) error) *http.Transport {
	t := base.Clone()
	dialer := &net.Dialer{Timeout: dialTimeout}
	if allow != nil {
		// The address that is connected to is checked, not one that the name had before.
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return allow(to.Addr().Unmap())
		}
	}
	t.DialContext = dialer.DialContext
	t.DialTLSContext = nil
	//lint:ignore SA1019 a caller's would pass by the check
	t.DialTLS = nil
	t.DisableCompression = true
	t.MaxResponseHeaderBytes = maxHeader
	return t
}

func publicOnly(public func(netip.Addr) bool) func(netip.Addr) error {
	return func(addr netip.Addr) error {
		if public == nil || public(addr) {
			return nil
		}
		return &source.RefusedError{
			Reason: fmt.Sprintf("a server names the address %s, which is not of the public internet", addr),
			Remedy: "install from that address itself if you trust it",
		}
	}
}

func loopbackOnly(addr netip.Addr) error {
	if addr.IsLoopback() {
		return nil
	}
	return errPlain
}

var errPlain = &source.RefusedError{
	Reason: "plain http can be read and changed on the way",
	Remedy: "use https; http is only for a server of this machine",
}

// RoundTripper returns a transport with the client's rules for addresses and schemes,
// for libraries that make their own requests. named is the host that the person wrote,
// without a port; "" is none. Redirects are the library's own.
func (c *Client) RoundTripper(named string) http.RoundTripper { return &guard{c, named} }

// A guard chooses the transport of each request.
type guard struct {
	client *Client
	named  string
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	t, err := g.choose(r)
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	return t.RoundTrip(r)
}

func (g *guard) choose(r *http.Request) (*http.Transport, error) {
	named := g.named != "" && strings.EqualFold(r.URL.Hostname(), g.named)
	switch {
	case r.URL.Scheme == "http" && named:
		return g.client.plain, nil
	case r.URL.Scheme == "http":
		return nil, errPlain
	case r.URL.Scheme != "https":
		return nil, &source.RefusedError{Reason: fmt.Sprintf("a URL has the scheme %q", r.URL.Scheme), Remedy: "use https"}
	case named:
		return g.client.open, nil
	case g.client.proxied(r):
		if addr, err := netip.ParseAddr(r.URL.Hostname()); err == nil {
			return g.client.open, publicOnly(g.client.options.Public)(addr.Unmap())
		}
		return g.client.open, nil
	}
	return g.client.public, nil
}

// proxied reports whether a request goes through a proxy, which resolves the name.
func (c *Client) proxied(r *http.Request) bool {
	if c.open.Proxy == nil {
		return false
	}
	proxy, err := c.open.Proxy(r)
	return err == nil && proxy != nil
}

// httpClient returns a client for the requests of one download.
func (c *Client) httpClient(get *Get, first *url.URL) *http.Client {
	g := &guard{client: c}
	if get.Named {
		g.named = first.Hostname()
	}
	return &http.Client{Transport: &origin{g, first, get.Header}, CheckRedirect: checkRedirect}
}

func checkRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return &source.RefusedError{Reason: fmt.Sprintf("%s redirects more than %d times", via[0].URL.Redacted(), maxRedirects)}
	case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme == "http":
		return &source.RefusedError{Reason: fmt.Sprintf("%s redirects from https to http", via[len(via)-1].URL.Redacted())}
	}
	return nil
}

// An origin adds headers to the requests to one origin, and removes the Referer, which
// may hold a secret, from all.
type origin struct {
	next   http.RoundTripper
	url    *url.URL
	header http.Header
}

// RoundTrip implements [http.RoundTripper].
func (o *origin) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Referer")
	if r.URL.Scheme == o.url.Scheme && strings.EqualFold(r.URL.Host, o.url.Host) {
		for name, values := range o.header {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return o.next.RoundTrip(r)
}
