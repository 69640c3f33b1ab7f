package download

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

const (
	maxRedirects  = 10
	maxHeader     = 256 << 10 // bytes of a response header
	headerTimeout = 30 * time.Second
	dialTimeout   = 20 * time.Second
)

// transports make the connections of a client.
type transports struct {
	allow  func(netip.Addr) error // the rule for hosts that the person did not name
	open   *http.Transport        // to a host that the person named, or through a proxy
	public *http.Transport        // to addresses that allow has no error for
	plain  *http.Transport        // plain HTTP to this machine
}

func newTransports(base *http.Transport, allow func(netip.Addr) error) *transports {
	t := &transports{allow, transport(base, nil), transport(base, allow), transport(base, loopbackOnly)}
	t.public.Proxy, t.plain.Proxy = nil, nil
	return t
}

// close closes the connections that no download uses.
func (t *transports) close() {
	for _, one := range []*http.Transport{t.open, t.public, t.plain} {
		one.CloseIdleConnections()
	}
}

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
	t.ResponseHeaderTimeout = cmp.Or(base.ResponseHeaderTimeout, headerTimeout)
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

// A guard chooses the transport of each request.
type guard struct {
	transports *transports
	named      string // the host that the person wrote, without a port; "" is none
	peers      bool   // other hosts of https may have any address
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
		return g.transports.plain, nil
	case r.URL.Scheme == "http":
		return nil, errPlain
	case r.URL.Scheme != "https":
		return nil, &source.RefusedError{Reason: fmt.Sprintf("a URL has the scheme %q", r.URL.Scheme), Remedy: "use https"}
	case named, g.peers:
		return g.transports.open, nil
	case g.transports.proxied(r):
		if addr, err := netip.ParseAddr(r.URL.Hostname()); err == nil {
			return g.transports.open, g.transports.allow(addr.Unmap())
		}
		return g.transports.open, nil
	}
	return g.transports.public, nil
}

// proxied reports whether a request goes through a proxy, which resolves the name.
func (t *transports) proxied(r *http.Request) bool {
	if t.open.Proxy == nil {
		return false
	}
	proxy, err := t.open.Proxy(r)
	return err == nil && proxy != nil
}

// checkRedirect bounds the redirects, and removes the Referer, which may hold a secret.
func checkRedirect(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	switch {
	case len(via) > maxRedirects:
		return &source.RefusedError{Reason: fmt.Sprintf("%s redirects more than %d times", via[0].URL.Redacted(), maxRedirects)}
	case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme == "http":
		return &source.RefusedError{Reason: fmt.Sprintf("%s redirects from https to http", via[len(via)-1].URL.Redacted())}
	}
	return nil
}
