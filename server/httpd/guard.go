package httpd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
)

// CORS are the lists of the Access-Control headers, as they are written there.
type CORS struct{ Methods, Headers, Exposed string }

// An Access lists names, pages and proxies.
type Access struct {
	// Hosts are further names that clients may call the server by, without port.
	// On a loopback address, localhost and loopback addresses always are; on any
	// other, all names are unless some are given here.
	Hosts []string

	// Origins are web pages that may use the server, such as
	// "https://app.example.com", beside those of its own address, or of its name
	// where that is one of Hosts, and, on a loopback address, those of this
	// machine.
	Origins []string

	// Proxies are the networks of proxies whose Forwarded and X-Forwarded headers tell the
	// client's address, host and scheme.
	Proxies []netip.Prefix
}

// A guard keeps out web pages of strangers: one that a person looks at could otherwise
// use a server on their machine, by a host name that its owner lets lead there (DNS
// rebinding). MCP demands it of every HTTP transport.
type guard struct {
	hosts   []string // lower case
	origins []string // likewise
	proxies proxies
	own     bool // refuses other ports and users of this machine
	cors    CORS
}

func newGuard(a Access, own bool, cors CORS) *guard {
	g := &guard{proxies: a.Proxies, own: own, cors: cors}
	for _, host := range a.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(host))
	}
	for _, origin := range a.Origins {
		g.origins = append(g.origins, strings.TrimSuffix(strings.ToLower(origin), "/"))
	}
	return g
}

// check returns why a request is refused, or "".
func (g guard) check(r *http.Request) string {
	if !g.knows(r) {
		return "the server is not called " + hostname(r.Host) + " (--allow-host lets it)"
	}
	if origin := r.Header.Get("Origin"); origin != "" && !g.trusts(r, origin) {
		return "pages of this origin may not use the server (--allow-origin lets them)"
	}
	if check, _ := r.Context().Value(peerKey{}).(func() error); g.own && onLoopback(r) {
		if err := check(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// peerKey is the key of a context's check of the peer.
type peerKey struct{}

// withPeer returns the context of a connection's requests. Its check returns why the peer is
// not of the server's user; it is made once, at the first request: the peer is there then.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() error {
		uid, err := peerUID(c)
		if err == nil && uid != os.Getuid() {
			err = fmt.Errorf("it is of the user %d", uid)
		}
		if err != nil {
			err = fmt.Errorf("without a token the server answers its own user alone, and this connection is not known to be theirs: %w", err)
		}
		return err
	}))
}

// knows reports whether the request's host is a name of the server.
func (g guard) knows(r *http.Request) bool {
	host := hostname(r.Host)
	if slices.Contains(g.hosts, host) {
		return true
	}
	if onLoopback(r) {
		return isLoopback(host)
	}
	return len(g.hosts) == 0
}

func (g guard) trusts(r *http.Request, origin string) bool {
	if slices.Contains(g.origins, strings.ToLower(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	local := onLoopback(r) && isLoopback(hostname(u.Host))
	if strings.EqualFold(u.Host, r.Host) {
		return local || g.owns(r.Host)
	}
	return local && !g.own
}

// owns reports whether a host can only be the server. A name that is not configured
// may be an attacker's, who lets it lead here: then the attacker's page is of the same
// origin.
func (g guard) owns(host string) bool {
	name := hostname(host)
	_, err := netip.ParseAddr(name)
	return err == nil || slices.Contains(g.hosts, name)
}

// share lets a page of a trusted origin read the answer (CORS). It reports whether the
// request was a preflight, which it answers.
func (g guard) share(w http.ResponseWriter, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	header := w.Header()
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", g.cors.Exposed)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Methods", g.cors.Methods)
	header.Set("Access-Control-Allow-Headers", g.cors.Headers)
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// onLoopback reports whether a request came to a loopback address. One without a
// network, as in a test, did.
func onLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	if tcp, ok := local.(*net.TCPAddr); ok {
		return tcp.IP.IsLoopback()
	}
	address, err := netip.ParseAddrPort(local.String())
	return err != nil || address.Addr().Unmap().IsLoopback()
}

// isRemote reports whether a request is of another machine, or may be: a proxy on this one
// passes on those of others.
func isRemote(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	forwarded := slices.Concat(r.Header.Values(headerForwarded), r.Header.Values(headerFor), r.Header.Values("Via")) // a client may have sent an empty one before the proxy's
	return err == nil && !from.Addr().Unmap().IsLoopback() || strings.Join(forwarded, "") != "" || !isLoopback(hostname(r.Host))
}

// isLoopback reports whether a name of lower case can only mean this machine.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// hostname returns a host without its port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
