//go:build amd64 || arm64

package native

import (
	"golang.org/x/sys/unix"
)

// proxyPort is the port on the sandbox's own 127.0.0.1 where the server's proxy
// is, for a command that was granted hosts. The init makes the socket, as it is
// in the sandbox's network, and hands it to the server, which is not.
const proxyPort = 3128

func (s *script) listen() {
	at := place{stepSetup, "make the proxy's socket"}
	address := make([]byte, unix.SizeofSockaddrInet4)
	address[0] = unix.AF_INET
	address[2], address[3] = proxyPort>>8, proxyPort&0xff
	copy(address[4:], []byte{127, 0, 0, 1})
	s.add(at, unix.SYS_SOCKET, number(unix.AF_INET), number(unix.SOCK_STREAM|unix.SOCK_CLOEXEC), number(0)).keep = slotResult
	s.add(at, unix.SYS_BIND, slotResult.arg(), s.bytes(address), number(len(address)))
	s.add(at, unix.SYS_LISTEN, slotResult.arg(), number(128))
	s.report(isListening, slotResult)
}
