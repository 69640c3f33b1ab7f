package postgres

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A TCP connection ends when its data is not acknowledged, and a Unix socket works.
func TestDialer(t *testing.T) {
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		conn, err := dialer().DialContext(t.Context(), network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			continue
		}
		raw, err := tcp.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Control(func(fd uintptr) {
			for option, want := range map[int]int{unix.TCP_USER_TIMEOUT: 10_000, unix.TCP_KEEPIDLE: 5, unix.TCP_KEEPINTVL: 5, unix.TCP_KEEPCNT: 2} {
				if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option); got != want || err != nil {
					t.Errorf("option %d is %d, want %d, %v", option, got, want, err)
				}
			}
		}); err != nil {
			t.Error(err)
		}
	}
}
