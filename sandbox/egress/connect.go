package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// maxAddresses is how many addresses of one name are tried.
const maxAddresses = 8

// A fault is a connection that is not made. Its message is for the script's
// author, so it does not tell what only the host's network knows.
type fault struct {
	status  int
	message string
	detail  string // for the operator, after the message; may be ""
}

func (f *fault) Error() string { return f.message }

// connect makes the connection that a request of the sandbox asks for, if a
// rule names it, and notes it either way. The error is a [*fault].
func (p *Proxy) connect(ctx context.Context, to Rule) (net.Conn, error) {
	run, leave, err := p.life.Join(ctx)
	if err != nil {
		return nil, &fault{status: http.StatusServiceUnavailable, message: "the sandbox is ending"}
	}
	entry := p.journal.begin(to.String())
	conn, address, err := p.reach(run, to)
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
	return newUpstream(p.life.Context(), conn, entry, leave), nil
}

// reach checks, looks up and dials a host. address is what it connected to.
func (p *Proxy) reach(ctx context.Context, to Rule) (conn net.Conn, address string, err error) {
	if !p.granted(to) {
		return nil, "", &fault{status: http.StatusForbidden, message: fmt.Sprintf("%s is not among the hosts that this skill was granted: %s", to, p.list())}
	}
	ctx, cancel := context.WithTimeout(ctx, p.options.ConnectTimeout)
	defer cancel()
	addresses, err := p.addresses(ctx, to)
	if err != nil {
		return nil, "", err
	}
	for i, addr := range addresses {
		address = netip.AddrPortFrom(addr, to.port).String()
		if conn, err = p.dial(ctx, address, len(addresses)-i); err == nil {
			return conn, address, nil
		}
	}
	return nil, "", err
}

// dial tries one of several addresses that are left to try.
func (p *Proxy) dial(ctx context.Context, address string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return p.options.Dial(ctx, "tcp", address)
}

func (p *Proxy) granted(to Rule) bool {
	return slices.ContainsFunc(p.rules, func(r Rule) bool { return r.Covers(to) })
}

// list names the rules, for the script's author.
func (p *Proxy) list() string {
	const most = 8
	var names []string
	for _, r := range p.rules[:min(most, len(p.rules))] {
		names = append(names, r.String())
	}
	if len(p.rules) > most {
		names = append(names, "…")
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// addresses returns those of a host that may be connected to, at least one.
func (p *Proxy) addresses(ctx context.Context, to Rule) ([]netip.Addr, error) {
	if to.addr.IsValid() {
		if why := p.refusal(to.addr, p.options.Private); why != "" {
			return nil, &fault{status: http.StatusForbidden, message: fmt.Sprintf("%s is not reached: its address is %s", to, why)}
		}
		return []netip.Addr{to.addr}, nil
	}
	// The dot keeps the system's search domains out.
	found, err := p.options.Resolver.LookupNetIP(ctx, "ip", to.name+".")
	if err != nil {
		return nil, &fault{status: http.StatusBadGateway, message: fmt.Sprintf("%s cannot be looked up: %s", to, reason(err))}
	}
	var good []netip.Addr
	var why, bad string
	for _, addr := range found {
		if kind := p.refusal(addr, nil); kind != "" {
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

// refusal says why an address is not connected to; "" is that it may be. One of
// this machine's own is not, public or not: what serves it may count on a
// firewall that stands before the machine.
func (p *Proxy) refusal(addr netip.Addr, allowed []netip.Prefix) string {
	if why := refusal(addr, allowed); why != "" {
		return why
	}
	addr = addr.Unmap()
	if contains(allowed, addr) {
		return ""
	}
	own, err := p.own()
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

// reason words an error of the network without addresses of the host's own,
// such as its resolver's.
func reason(err error) string {
	var dns *net.DNSError
	var errno syscall.Errno
	var timeout net.Error
	switch {
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

// An upstream is a connection to a host, whose bytes are counted, and which
// ends with the proxy.
type upstream struct {
	net.Conn
	entry *entry
	close func() error
}

func newUpstream(life context.Context, conn net.Conn, entry *entry, leave func()) *upstream {
	stop := context.AfterFunc(life, func() { _ = conn.Close() })
	return &upstream{conn, entry, sync.OnceValue(func() error {
		defer leave()
		stop()
		entry.end("")
		return conn.Close()
	})}
}

func (u *upstream) Read(p []byte) (int, error) {
	n, err := u.Conn.Read(p)
	u.entry.got.Add(int64(n))
	return n, err
}

func (u *upstream) Write(p []byte) (int, error) {
	n, err := u.Conn.Write(p)
	u.entry.sent.Add(int64(n))
	return n, err
}

func (u *upstream) Close() error { return u.close() }

func (u *upstream) CloseWrite() error { return closeWrite(u.Conn) }

// closeWrite ends one direction of a connection, where it can.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}
