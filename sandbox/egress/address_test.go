package egress

import (
	"net/netip"
	"testing"
)

func TestRefusal(t *testing.T) {
	for _, public := range []string{
		"1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.0",
		"192.0.1.1", "198.17.255.255", "198.20.0.1", "223.255.255.255", "11.0.0.1", "168.63.129.17",
		"2606:4700:4700::1111", "2a00:1450:4001:80b::200e", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:4860:4860::8888",
	} {
		if why := refusal(netip.MustParseAddr(public), nil); why != "" {
			t.Errorf("%s is refused: %s", public, why)
		}
	}
	for address, want := range map[string]string{
		"0.0.0.0":                  special,
		"0.1.2.3":                  special,
		"10.0.0.1":                 private,
		"10.255.255.255":           private,
		"100.64.0.1":               private,
		"100.100.100.200":          metadata,
		"100.100.100.201":          private,
		"127.0.0.1":                loopback,
		"127.255.255.254":          loopback,
		"168.63.129.16":            metadata,
		"169.254.169.254":          linkLocal,
		"172.16.0.1":               private,
		"172.31.255.255":           private,
		"192.0.0.192":              special,
		"192.0.2.1":                example,
		"192.88.99.1":              special,
		"192.168.1.1":              private,
		"198.18.0.1":               special,
		"198.19.255.255":           special,
		"198.51.100.1":             example,
		"203.0.113.1":              example,
		"224.0.0.1":                multicast,
		"239.255.255.255":          multicast,
		"240.0.0.1":                special,
		"255.255.255.255":          special,
		"::":                       special,
		"::1":                      loopback,
		"::127.0.0.1":              special,
		"::ffff:127.0.0.1":         loopback,
		"::ffff:169.254.169.254":   linkLocal,
		"::ffff:10.0.0.1":          private,
		"64:ff9b::10.0.0.1":        private,
		"64:ff9b::169.254.169.254": linkLocal,
		"64:ff9b:1::10.0.0.1":      special,
		"100::1":                   special,
		"2001::1":                  special,
		"2001:2::1":                special,
		"2001:db8::1":              example,
		"2002:0a00:0001::":         special,
		"2002:7f00:0001::":         special,
		"3fff::1":                  example,
		"5f00::1":                  special,
		"fc00::1":                  private,
		"fd00:ec2::254":            metadata,
		"fd00:ec2::23":             metadata,
		"fd20:ce::254":             metadata,
		"fd00:42::42":              metadata,
		"fd00:ec3::1":              private,
		"64:ff9b::100.100.100.200": metadata,
		"fe80::1":                  linkLocal,
		"fe80::1%eth0":             special,
		"2606:4700::1%eth0":        special,
		"fec0::1":                  special,
		"ff02::1":                  multicast,
	} {
		if why := refusal(netip.MustParseAddr(address), nil); why != want {
			t.Errorf("%s: %q, want %q", address, why, want)
		}
	}
	if refusal(netip.Addr{}, nil) == "" {
		t.Error("no address at all is let through")
	}
}

// The operator can allow private addresses, but none that is never reached.
func TestRefusalAllowed(t *testing.T) {
	everything := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for _, address := range []string{"10.0.0.1", "127.0.0.1", "::ffff:10.0.0.1", "192.168.1.1", "fd00::1", "::1", "100.64.0.1"} {
		if why := refusal(netip.MustParseAddr(address), everything); why != "" {
			t.Errorf("%s is refused: %s", address, why)
		}
	}
	for _, address := range []string{"169.254.169.254", "168.63.129.16", "100.100.100.200", "::ffff:100.100.100.200", "fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "fe80::1", "224.0.0.1", "0.0.0.0", "::", "255.255.255.255", "64:ff9b::10.0.0.1", "2002:0a00:0001::", "::10.0.0.1"} {
		if refusal(netip.MustParseAddr(address), everything) == "" {
			t.Errorf("%s is let through", address)
		}
	}
	if refusal(netip.MustParseAddr("10.2.0.1"), []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}) == "" {
		t.Error("10.2.0.1 is let through where 10.1.0.0/16 is allowed")
	}
}
