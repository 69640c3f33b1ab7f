package egress

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"time"
)

// Options configure a [Proxy]. The zero value is usable.
type Options struct {
	// Private lists networks that are not public, and that a rule may reach by
	// naming an address in them. Link-local, multicast and metadata addresses are
	// never reached.
	Private []netip.Prefix
	// IdleTimeout ends an idle connection; 0 is 5 minutes.
	IdleTimeout time.Duration
	// MaxConnections bounds the concurrent requests and tunnels; 0 is 64. Twice as
	// many connections may be open.
	MaxConnections int
	// Resolver looks up names; nil is the system's.
	Resolver Resolver
	// Roots are the authorities whose word is taken for the hosts of secrets; nil is the
	// system's.
	Roots *x509.CertPool
	// Dial connects to an IP address and port; nil is the system's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Resolver looks up the addresses of a name, as [*net.Resolver] does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// withDefaults returns a copy of o with the defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 5*time.Minute)
	c.MaxConnections = cmp.Or(c.MaxConnections, 64)
	c.Resolver = cmp.Or[Resolver](c.Resolver, net.DefaultResolver)
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	return c
}
