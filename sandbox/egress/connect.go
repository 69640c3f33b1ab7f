package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// maxAddresses bounds the addresses of one name that are tried.
const maxAddresses = 8

// A connector connects to the hosts of its rules, and records each attempt.
type connector struct {
	rules   []Rule
	options Options
	journal journal
	life    *sandbox.Lifetime          // of every connection; ended by Proxy.Close
	own     func() ([]net.Addr, error) // this machine's addresses
}

// connect connects to a host, if a rule names it, and records the attempt. The error is a
// [*fault]. The connection ends with the proxy.
func (c *connector) connect(ctx context.Context, to Rule) (*upstreamConn, error) {
	run, leave, err := c.life.Join(ctx)
	if err != nil {
		return nil, &fault{status: http.StatusServiceUnavailable, message: "the sandbox is ending"}
	}
	entry := c.journal.begin(to.String())
	conn, address, err := c.reach(run, to)
	if err != nil {
		var f *fault
		if !errors.As(err, &f) {
			f = &fault{status: http.StatusBadGateway, message: fmt.Sprintf("cannot connect to %s: %s", to, reason(err))}
		}
		entry.end(f.message + f.detail)
		leave()
		return nil, f
	}
	entry.connected(address)
	return newUpstream(c.life.Context(), conn, entry, leave), nil
}

// connectTimeout bounds the lookup of a name and the connecting together.
const connectTimeout = 10 * time.Second

// dialContext connects to a host and port, for transports of HTTP.
func (c *connector) dialContext(ctx context.Context, _, address string) (net.Conn, error) {
	target, err := parseTarget(address, 80)
	if err != nil {
		return nil, &fault{status: http.StatusBadRequest, message: err.Error()}
	}
	conn, err := c.connect(ctx, target)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// reach checks, resolves and dials a host. It returns the address that it connected to.
func (c *connector) reach(ctx context.Context, to Rule) (conn net.Conn, address string, err error) {
	if !c.granted(to) {
		return nil, "", &fault{status: http.StatusForbidden, message: fmt.Sprintf("%s is not among the hosts that this skill was granted: %s", to, c.list())}
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	addresses, err := c.addresses(ctx, to)
	if err != nil {
		return nil, "", err
	}
	for i, addr := range addresses {
		address = netip.AddrPortFrom(addr, to.port).String()
		if conn, err = c.dial(ctx, address, len(addresses)-i); err == nil {
			return conn, address, nil
		}
	}
	return nil, "", err
}

// dial dials one address, in its share of the time where left addresses are untried.
func (c *connector) dial(ctx context.Context, address string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return c.options.Dial(ctx, "tcp", address)
}

// granted reports whether a rule names the host.
func (c *connector) granted(to Rule) bool {
	return slices.ContainsFunc(c.rules, func(r Rule) bool { return r.Covers(to) })
}

// list returns the rules, for the script's author.
func (c *connector) list() string {
	const most = 8
	var names []string
	for _, r := range c.rules[:min(most, len(c.rules))] {
		names = append(names, r.String())
	}
	if len(c.rules) > most {
		names = append(names, "…")
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// addresses returns the addresses of a host that may be connected to, at least one.
func (c *connector) addresses(ctx context.Context, to Rule) ([]netip.Addr, error) {
	if to.addr.IsValid() {
		if why := c.refusal(to.addr, c.options.Private); why != "" {
			return nil, &fault{status: http.StatusForbidden, message: fmt.Sprintf("%s is not reached: its address is %s", to, why)}
		}
		return []netip.Addr{to.addr}, nil
	}
	// The dot keeps the system's search domains out.
	found, err := c.options.Resolver.LookupNetIP(ctx, "ip", to.name+".")
	if err != nil {
		return nil, &fault{status: http.StatusBadGateway, message: fmt.Sprintf("%s cannot be looked up: %s", to, reason(err))}
	}
	var good []netip.Addr
	var why, bad string
	for _, addr := range found {
		if kind := c.refusal(addr, nil); kind != "" {
			why, bad = kind, addr.String()
			continue
		}
		good = append(good, addr.Unmap())
	}
	switch {
	case len(good) > 0:
		return good[:min(maxAddresses, len(good))], nil
	case why != "":
		return nil, &fault{http.StatusForbidden, fmt.Sprintf("%s is not reached: its address is %s", to, why), " (" + bad + ")"}
	}
	return nil, &fault{status: http.StatusBadGateway, message: fmt.Sprintf("%s cannot be looked up: it has no address", to)}
}

// refusal returns why an address is not connected to, or "" if it may be. This machine's
// own addresses are refused, public or not: a service on one may rely on a firewall in
// front of the machine.
func (c *connector) refusal(addr netip.Addr, allowed []netip.Prefix) string {
	if why := refusal(addr, allowed); why != "" {
		return why
	}
	addr = addr.Unmap()
	if contains(allowed, addr) {
		return ""
	}
	own, err := c.own()
	if err != nil {
		return "not known not to be this machine's own"
	}
	for _, o := range own {
		if prefix, err := netip.ParsePrefix(o.String()); err == nil && prefix.Addr().Unmap() == addr {
			return loopback
		}
	}
	return ""
}

// reason describes an error of the network without addresses of the host's own, such as
// its resolver's.
func reason(err error) string {
	var dns *net.DNSError
	var errno syscall.Errno
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return "its certificate does not hold: " + certificate.Err.Error()
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no such host"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it took too long"
	case errors.Is(err, context.Canceled):
		return "the request was given up"
	case errors.As(err, &errno):
		return errno.Error()
	}
	return "the network failed"
}
