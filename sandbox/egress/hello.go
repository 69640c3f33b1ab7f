package egress

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// A helloChecked reads what a sandbox sends through a tunnel to a host. If that begins TLS for
// another name, it ends with a fault: a host that serves several names would be reached by
// one that was not granted.
type helloChecked struct {
	from   io.Reader
	target Rule
	held   []byte // read, and not returned
	done   bool   // it may be passed on
}

func (h *helloChecked) Read(p []byte) (int, error) {
	for !h.done {
		n, err := h.from.Read(p)
		h.held = append(h.held, p[:n]...)
		name, whole := helloName(h.held)
		if name != "" && name != h.target.name {
			return 0, &fault{message: fmt.Sprintf("its TLS is for %.100q, and the connection to %s", name, h.target)}
		}
		h.done = whole || err != nil
	}
	if len(h.held) > 0 {
		n := copy(p, h.held)
		h.held = h.held[n:]
		return n, nil
	}
	return h.from.Read(p)
}

// helloName returns the name in the first message of TLS, and whether all of it is there.
// Whole is true also of bytes that are not TLS.
func helloName(sent []byte) (name string, whole bool) {
	if len(sent) == 0 || sent[0] != 0x16 || len(sent) > maxHeader {
		return "", len(sent) > 0
	}
	seen := errors.New("seen")
	err := tls.Server(readOnly{Reader: bytes.NewReader(sent)}, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name = serverName(hello)
		return nil, seen
	}}).Handshake()
	return name, !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// readOnly is a connection that has sent something, and hears nothing.
type readOnly struct {
	io.Reader
	net.Conn
}

func (c readOnly) Read(p []byte) (int, error)     { return c.Reader.Read(p) }
func (readOnly) Write(p []byte) (int, error)      { return len(p), nil }
func (readOnly) Close() error                     { return nil }
func (readOnly) SetDeadline(time.Time) error      { return nil }
func (readOnly) SetReadDeadline(time.Time) error  { return nil }
func (readOnly) SetWriteDeadline(time.Time) error { return nil }

// serverName returns the name that a client wants to reach, "" for none.
func serverName(hello *tls.ClientHelloInfo) string {
	return strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
}
