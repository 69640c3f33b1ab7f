package egress

import (
	"net/netip"
	"slices"
)

// A network is a range of addresses that are not public.
type network struct {
	prefix netip.Prefix
	kind   string // for people, to follow "is"
	never  bool   // not even where the operator allows it
}

const (
	private   = "in a private network"
	loopback  = "this machine's own"
	linkLocal = "link-local, as those of metadata services are"
	multicast = "a multicast address"
	special   = "reserved"
	example   = "for documentation only"
	metadata  = "a metadata service's"
)

// networks lists the IPv4 addresses that are not public, by IANA's registry of
// special-purpose addresses, and those that clouds use like link-local ones. The first
// network that contains an address counts.
var networks = []network{
	{netip.MustParsePrefix("0.0.0.0/8"), special, true},
	{netip.MustParsePrefix("10.0.0.0/8"), private, false},
	{netip.MustParsePrefix("100.100.100.200/32"), metadata, true}, // Alibaba Cloud
	{netip.MustParsePrefix("100.64.0.0/10"), private, false},
	{netip.MustParsePrefix("127.0.0.0/8"), loopback, false},
	{netip.MustParsePrefix("168.63.129.16/32"), metadata, true}, // Azure
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocal, true},
	{netip.MustParsePrefix("172.16.0.0/12"), private, false},
	{netip.MustParsePrefix("192.0.0.0/24"), special, true},
	{netip.MustParsePrefix("192.0.2.0/24"), example, false},
	{netip.MustParsePrefix("192.88.99.0/24"), special, true},
	{netip.MustParsePrefix("192.168.0.0/16"), private, false},
	{netip.MustParsePrefix("198.18.0.0/15"), special, false},
	{netip.MustParsePrefix("198.51.100.0/24"), example, false},
	{netip.MustParsePrefix("203.0.113.0/24"), example, false},
	{netip.MustParsePrefix("224.0.0.0/4"), multicast, true},
	{netip.MustParsePrefix("240.0.0.0/4"), special, true},
}

// networks6 lists the same for IPv6: those within [public6], and those outside of it that
// have a better name than "reserved".
var networks6 = []network{
	{netip.MustParsePrefix("::1/128"), loopback, false},
	{netip.MustParsePrefix("fd00:ec2::/32"), metadata, true},    // AWS: metadata, pod identities and others
	{netip.MustParsePrefix("fd20:ce::254/128"), metadata, true}, // Google Cloud
	{netip.MustParsePrefix("fd00:42::42/128"), metadata, true},  // Scaleway
	{netip.MustParsePrefix("fc00::/7"), private, false},
	{netip.MustParsePrefix("fe80::/10"), linkLocal, true},
	{netip.MustParsePrefix("ff00::/8"), multicast, true},
	{netip.MustParsePrefix("2001::/23"), special, true}, // Teredo and others
	{netip.MustParsePrefix("2001:db8::/32"), example, false},
	{netip.MustParsePrefix("2002::/16"), special, true}, // 6to4: an IPv4 address in disguise
	{netip.MustParsePrefix("3fff::/20"), example, false},
}

var (
	// public6 contains all IPv6 addresses that are allocated for public use.
	public6 = netip.MustParsePrefix("2000::/3")
	// nat64 contains IPv4 addresses translated for IPv6-only networks.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// Public reports whether an address is of the public internet.
func Public(addr netip.Addr) bool { return refusal(addr, nil) == "" }

// refusal returns why an address is not connected to, or "" if it may be. allowed lists
// networks that may be reached although they are not public.
func refusal(addr netip.Addr, allowed []netip.Prefix) string {
	if !addr.IsValid() || addr.Zone() != "" {
		return special
	}
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		return refusal(netip.AddrFrom4([4]byte(b[12:])), nil)
	}
	kind, never := classify(addr)
	if kind != "" && !never && contains(allowed, addr) {
		return ""
	}
	return kind
}

// contains reports whether one of prefixes contains addr.
func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// classify returns the kind of an address that is not public, or "", and whether it is
// never reached.
func classify(addr netip.Addr) (kind string, never bool) {
	table := networks
	if addr.Is6() {
		table = networks6
	}
	for _, n := range table {
		if n.prefix.Contains(addr) {
			return n.kind, n.never
		}
	}
	if addr.Is6() && !public6.Contains(addr) {
		return special, true
	}
	return "", false
}
