//go:build amd64 || arm64

package native

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A socket is one end of a socket pair between the server and a zygote or an
// init. A command's data is sent over it, and never appears in the arguments or
// environment of the other process, which everybody on the host can see.
type socket struct {
	file *os.File
	raw  syscall.RawConn
}

// newSocketPair returns the server's end, which does not block threads, and the
// other end, which does.
func newSocketPair() (*socket, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "server")
	file, raw, err := pollable(pair[0], "init")
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return &socket{file, raw}, theirs, nil
}

// pollable returns a descriptor as a file whose readiness can be awaited. It
// owns the descriptor from then on.
func pollable(fd int, name string) (*os.File, syscall.RawConn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, nil, fmt.Errorf("make a descriptor non-blocking: %w", err)
	}
	file := os.NewFile(uintptr(fd), name)
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, raw, nil
}

func (s *socket) close() { _ = s.file.Close() }

// send sends bytes, at least one, and descriptors with the first of them.
func (s *socket) send(packed []byte, fds []int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	var sent error
	err := s.raw.Write(func(fd uintptr) bool {
		for len(packed) > 0 {
			var n int
			n, sent = unix.SendmsgN(int(fd), packed, rights, nil, unix.MSG_NOSIGNAL)
			if sent == unix.EINTR {
				continue
			}
			if sent != nil {
				return sent != unix.EAGAIN
			}
			packed, rights = packed[n:], nil
		}
		return true
	})
	if err != nil {
		return err
	}
	return sent
}

// receive fills p, and returns the descriptors that came with it.
func (s *socket) receive(p []byte) (fds []int, err error) {
	var failed error
	err = s.raw.Read(func(fd uintptr) bool {
		for len(p) > 0 {
			n, got, err := receiveRights(int(fd), p, 0)
			fds = append(fds, got...)
			if err == unix.EINTR {
				continue
			}
			if failed = err; err != nil {
				return err != unix.EAGAIN
			}
			p = p[n:]
		}
		return true
	})
	err = cmp.Or(err, failed)
	if err != nil {
		closeAll(fds)
		return nil, err
	}
	return fds, nil
}

const (
	maxRights   = 253 // descriptors that the kernel takes in a message
	rightsBytes = unix.SizeofCmsghdr + 4*maxRights + 4
)

// receiveRights receives some bytes, and the descriptors with them. The end of
// the stream is [io.EOF].
func receiveRights(socket int, p []byte, flags int) (n int, fds []int, err error) {
	var space [rightsBytes]byte
	n, size, _, _, err := unix.Recvmsg(socket, p, space[:], unix.MSG_CMSG_CLOEXEC|flags)
	if err != nil {
		return 0, nil, err
	}
	if n == 0 {
		return 0, nil, io.EOF
	}
	if size == 0 {
		return n, nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(space[:size])
	if err != nil || len(messages) == 0 {
		return n, nil, err
	}
	fds, err = unix.ParseUnixRights(&messages[0])
	return n, fds, err
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// Read is for messages' bodies, with which no descriptors come.
func (s *socket) Read(p []byte) (int, error) {
	fds, err := s.receive(p)
	closeAll(fds)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// maxMessage bounds the bytes of a message. It is far above the size of real
// ones.
const maxMessage = 16 << 20

// headSize is the number of bytes of the length before a message.
const headSize = 4

// A messenger sends and receives messages: one stream of gob in each direction,
// which describes a type once, cut into messages by their lengths. Gob's strings
// are any bytes, as paths are.
type messenger struct {
	*socket
	out, in bytes.Buffer
	encoder *gob.Encoder // to out
	decoder *gob.Decoder // of in
}

func newMessenger(s *socket) *messenger {
	m := &messenger{socket: s}
	m.encoder, m.decoder = gob.NewEncoder(&m.out), gob.NewDecoder(&m.in)
	return m
}

// send sends a message with descriptors.
func (m *messenger) send(message any, fds []int) error {
	m.out.Reset()
	m.out.Write(make([]byte, headSize))
	if err := m.encoder.Encode(message); err != nil {
		return err
	}
	length := m.out.Len() - headSize
	if length > maxMessage {
		return fmt.Errorf("message of %d bytes is too long", length)
	}
	binary.LittleEndian.PutUint32(m.out.Bytes(), uint32(length))
	return m.socket.send(m.out.Bytes(), fds)
}

// receive receives a message, and returns the descriptors that came with it.
func (m *messenger) receive(message any) (fds []int, err error) {
	var head [headSize]byte
	if fds, err = m.socket.receive(head[:]); err != nil {
		return nil, err
	}
	if err := m.receiveBody(head, message); err != nil {
		closeAll(fds)
		return nil, err
	}
	return fds, nil
}

func (m *messenger) receiveBody(head [headSize]byte, message any) error {
	length := binary.LittleEndian.Uint32(head[:])
	if length > maxMessage {
		return fmt.Errorf("message of %d bytes is too long", length)
	}
	if _, err := io.CopyN(&m.in, m.socket, int64(length)); err != nil {
		return err
	}
	return m.decoder.Decode(message)
}
