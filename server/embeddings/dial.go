package embeddings

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// dialer returns a function that connects to a host. Where the host is a name, an answer
// of DNS must not lead into a private network: only an address that a person has
// written does.
func dialer(host string) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	if _, err := netip.ParseAddr(host); err == nil {
		return d.DialContext
	}
	d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		addr := to.Addr().Unmap()
		if host == "localhost" && addr.IsLoopback() || host != "localhost" && egress.Public(addr) {
			return nil
		}
		return fmt.Errorf("%s resolves to %s, which is not public; write the address itself into the URL", host, addr)
	}
	return d.DialContext
}
