package httpd

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Headers by which proxies tell for whom they send a request (RFC 7239, and the customary ones).
const (
	headerForwarded = "Forwarded"
	headerFor       = "X-Forwarded-For"
	headerProto     = "X-Forwarded-Proto"
	headerHost      = "X-Forwarded-Host"
	headerRequest   = "X-Request-Id"
)

var (
	errTwoClients = errors.New("the headers Forwarded and X-Forwarded-For name different clients: the proxy passes on the one that it does not set")
	errTwoHosts   = errors.New("the server is not called by the name in X-Forwarded-Host (--allow-host lets it)")
)

// proxies are the networks of trusted proxies.
type proxies []netip.Prefix

// resolve makes a request that a trusted proxy has passed on the client's: its address, host
// and scheme. All others get the scheme of their connection, and keep the headers, which
// count for nothing but that somebody has forwarded them. knows reports whether the request's
// host is a name of the server.
func (p proxies) resolve(r *http.Request, knows func(*http.Request) bool) error {
	r.URL.Scheme = "http" // a client may have sent one
	if r.TLS != nil {
		r.URL.Scheme = "https"
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.contain(from.Addr()) {
		r.Header.Del(headerRequest) // logs would have the ids that a stranger makes up
		return nil
	}
	custom, standard := strings.Split(strings.Join(r.Header.Values(headerFor), ","), ","), parseForwarded(r.Header.Values(headerForwarded))
	client, found := p.client(custom)
	other, also := p.client(standard["for"])
	switch {
	case found && also && client != other:
		return errTwoClients
	case !found && !also:
		return nil
	case !found:
		client = other
	}
	_, port, _ := net.SplitHostPort(r.RemoteAddr)
	r.RemoteAddr = net.JoinHostPort(client.String(), port)
	r.Header.Del(headerFor)
	r.Header.Del(headerForwarded)
	if proto := lastOf(r.Header.Values(headerProto), standard["proto"]); proto == "http" || proto == "https" {
		r.URL.Scheme = proto
	}
	if host := lastOf(r.Header.Values(headerHost), standard["host"]); host != "" {
		if !knows(r) { // a page can send the header, but not choose Host
			return errTwoHosts
		}
		r.Host = host
	}
	return nil
}

func (p proxies) contain(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address.Unmap()) })
}

// client returns the last address of a chain that is no trusted proxy's, else the first. found
// is false where there is none, and where somebody is not named by an address.
func (p proxies) client(chain []string) (client netip.Addr, found bool) {
	for _, hop := range slices.Backward(chain) {
		hop = strings.TrimSpace(hop)
		address, err := netip.ParseAddr(strings.Trim(hop, "[]"))
		if with, err2 := netip.ParseAddrPort(hop); err2 == nil {
			address, err = with.Addr(), nil
		}
		if err != nil {
			return client, false
		}
		client, found = address.Unmap().WithZone(""), true
		if !p.contain(client) {
			break
		}
	}
	return client, found
}

// lastOf returns the last value of a list of headers, or else of another one: the nearest
// proxy's.
func lastOf(headers, others []string) string {
	for _, values := range [][]string{headers, others} {
		if len(values) > 0 {
			list := strings.Split(values[len(values)-1], ",")
			return strings.ToLower(strings.TrimSpace(list[len(list)-1]))
		}
	}
	return ""
}

// parseForwarded returns the values of each parameter of Forwarded, in order (RFC 7239,
// section 4). Of a quoted value it takes no escapes: no address has one.
func parseForwarded(values []string) map[string][]string {
	all := map[string][]string{}
	for element := range strings.SplitSeq(strings.Join(values, ","), ",") {
		for pair := range strings.SplitSeq(element, ";") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				name = strings.ToLower(strings.TrimSpace(name))
				all[name] = append(all[name], strings.Trim(strings.TrimSpace(value), `"`))
			}
		}
	}
	return all
}
