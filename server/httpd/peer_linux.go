package httpd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// WithoutToken are the callers that [Options.OwnUser] lets in, for people.
const WithoutToken = "every program of yours on this machine"

// peerUID returns the user of the socket at the other end of a connection of this machine.
func peerUID(c net.Conn) (int, error) {
	local, err1 := netip.ParseAddrPort(c.LocalAddr().String())
	remote, err2 := netip.ParseAddrPort(c.RemoteAddr().String())
	ipv4, err3 := os.ReadFile("/proc/net/tcp")
	ipv6, err4 := os.ReadFile("/proc/net/tcp6")
	if errors.Is(err4, fs.ErrNotExist) {
		err4 = nil // the machine has no IPv6
	}
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return 0, err
	}
	return findUID(string(ipv4)+string(ipv6), remote, local)
}

// findUID returns the user of the socket between two addresses in the tables of proc(5). The
// row of a socket that its owner has left is of the user 0, so only an established one with
// an inode counts.
func findUID(tables string, from, to netip.AddrPort) (int, error) {
	ipv4, ipv6 := procIPv4(from)+" "+procIPv4(to)+" 01 ", procIPv6(from)+" "+procIPv6(to)+" 01 "
	for line := range strings.Lines(tables) {
		_, row, _ := strings.Cut(line, ": ")
		if !strings.HasPrefix(row, ipv4) && !strings.HasPrefix(row, ipv6) {
			continue
		}
		// The addresses, the state, the queues, the timer, retransmits, user, time-outs, inode.
		if f := strings.Fields(row); len(f) > 8 && f[8] != "0" {
			return strconv.Atoi(f[6])
		}
	}
	return 0, errors.New("its socket is not in /proc/net/tcp or tcp6")
}

func procIPv4(a netip.AddrPort) string { return procAddress(a.Addr().Unmap().AsSlice(), a.Port()) }

// procIPv6 returns an address as tcp6 has it, where one of IPv4 is mapped.
func procIPv6(a netip.AddrPort) string {
	ip := a.Addr().As16()
	return procAddress(ip[:], a.Port())
}

// procAddress returns words of 32 bits in the machine's order, and a port.
func procAddress(ip []byte, port uint16) (text string) {
	for ; len(ip) > 0; ip = ip[4:] {
		text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(ip))
	}
	return fmt.Sprintf("%s:%04X", text, port)
}
