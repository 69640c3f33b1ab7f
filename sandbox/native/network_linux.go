//go:build amd64 || arm64

package native

import (
	"net"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// A gateway is the proxy of one sandbox that was granted hosts. Its socket is in
// the sandbox's network, where only the init can make it, and is served by the
// server, which is in the host's.
type gateway struct {
	proxy   *egress.Proxy
	serving sync.WaitGroup // close waits for it
}

// newGateway returns nil where no hosts are granted.
func newGateway(grant sandbox.Grant, options *egress.Options) (*gateway, error) {
	if len(grant.Hosts) == 0 {
		return nil, nil
	}
	proxy, err := egress.New(grant.Hosts, options)
	if err != nil {
		return nil, err
	}
	return &gateway{proxy: proxy}, nil
}

// environ returns what tells the command's programs of the proxy.
func (g *gateway) environ() []string {
	if g == nil {
		return nil
	}
	return egress.Environ(egress.Address)
}

// serve serves a listening socket, which it takes over.
func (g *gateway) serve(socket int) error {
	file := os.NewFile(uintptr(socket), "proxy")
	listener, err := net.FileListener(file)
	_ = file.Close()
	if err != nil {
		return err
	}
	g.serving.Go(func() { _ = g.proxy.Serve(listener) }) // ends with the proxy
	return nil
}

// close ends the proxy and all that goes over it.
func (g *gateway) close() {
	if g != nil {
		_ = g.proxy.Close() // of connections that nobody needs any more
		g.serving.Wait()
	}
}

// connections returns those from the first on.
func (g *gateway) connections(first int) []sandbox.Connection {
	if g == nil {
		return nil
	}
	all := g.proxy.Connections()
	return all[min(first, len(all)):]
}

// listen makes the proxy's socket and hands it to the server.
func (s *script) listen() {
	at := place{stepSetup, "make the proxy's socket"}
	to := netip.MustParseAddrPort(egress.Address)
	address := unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: to.Addr().As4()}
	address.Port = to.Port()<<8 | to.Port()>>8 // in network order
	s.add(at, unix.SYS_SOCKET, number(unix.AF_INET), number(unix.SOCK_STREAM|unix.SOCK_CLOEXEC), number(0)).keep = slotResult
	s.add(at, unix.SYS_BIND, slotResult.arg(), s.bytes(asBytes(&address)), number(unix.SizeofSockaddrInet4))
	s.add(at, unix.SYS_LISTEN, slotResult.arg(), number(unix.SOMAXCONN))
	s.report(isListening, slotResult)
}
