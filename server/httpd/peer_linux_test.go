package httpd

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

// A row counts that is of this connection, whole, established and has an owner still.
func TestFindUID(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the rows are of a little-endian machine")
	}
	const (
		header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
		other  = "   0: 0100007F:9C41 0100007F:2382 01 00000000:00000000 00:00000000 00000000     0        0 700 1 0 20 4 30 10 -1\n"
		server = "   1: 0100007F:2382 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 701 1 0 20 4 30 10 -1\n"
		client = "   2: 0100007F:9C40 0100007F:2382 01 00000000:00000000 00:00000000 00000000  1000        0 702 1 0 20 4 30 10 -1\n"
		left   = "   2: 0100007F:9C40 0100007F:2382 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1\n"
		orphan = "   2: 0100007F:9C40 0100007F:2382 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1\n"
		mapped = "   3: 0000000000000000FFFF00000100007F:9C40 0000000000000000FFFF00000100007F:2382 01 00000000:00000000 00:00000000 00000000  1001        0 703 1 0 20 4 30 10 -1\n"
		ipv6   = "   4: 00000000000000000000000001000000:9C40 00000000000000000000000001000000:2382 01 00000000:00000000 00:00000000 00000000  1002        0 704 1 0 20 4 30 10 -1\n"
	)
	loopback, six := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
	for name, test := range map[string]struct {
		tables string
		ip     netip.Addr
		uid    int // -1 is an error
	}{
		"IPv4":                     {header + other + server + client, loopback, 1000},
		"mapped":                   {header + other + header + mapped + ipv6, loopback, 1001},
		"mapped on both sides":     {mapped, netip.MustParseAddr("::ffff:127.0.0.1"), 1001},
		"IPv6":                     {header + client + mapped + ipv6, six, 1002},
		"the server's own row":     {header + other + server, loopback, -1},
		"left by its owner":        {header + left, loopback, -1},
		"without an inode":         {header + orphan, loopback, -1},
		"of another family":        {header + client + mapped, six, -1},
		"cut":                      {client[:60], loopback, -1},
		"nothing":                  {"", loopback, -1},
		"a row that is no address": {"   0: \n: \n", loopback, -1},
	} {
		uid, err := findUID(test.tables, netip.AddrPortFrom(test.ip, 0x9C40), netip.AddrPortFrom(test.ip, 0x2382))
		if (err != nil) != (test.uid < 0) || err == nil && uid != test.uid {
			t.Errorf("%s: %d, %v", name, uid, err)
		}
	}
}
