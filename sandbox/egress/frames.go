package egress

import (
	"encoding/binary"
	"errors"
	"io"
)

// errFrame ends a session whose other side sends a frame that no forwarder sends.
var errFrame = errors.New("the sandbox sent a frame that is not allowed")

// A frame of a session has a head of 12 bytes: version, type, flags (2), stream
// (4) and length (4). Data is followed by as many bytes as its length says.
// https://github.com/hashicorp/yamux/blob/master/spec.md
const (
	frameHead   = 12
	frameData   = 0
	frameWindow = 1
)

// A frameFilter is a connection that fails at a frame that no forwarder sends. It is
// against pings: the library starts a goroutine for each, which waits for ten seconds
// where the sandbox does not read the responses.
type frameFilter struct {
	io.ReadWriteCloser
	head []byte // of the next frame; incomplete
	data uint32 // remaining bytes of the frame before
	err  error
}

// Read reads bytes of allowed frames.
func (f *frameFilter) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.ReadWriteCloser.Read(p)
	if f.err = f.scan(p[:n]); f.err != nil {
		return 0, f.err
	}
	return n, err
}

// scan parses the heads of the frames in p, which continues the bytes before.
func (f *frameFilter) scan(p []byte) error {
	for len(p) > 0 {
		if f.data > 0 {
			n := min(int(f.data), len(p))
			f.data -= uint32(n)
			p = p[n:]
			continue
		}
		n := min(frameHead-len(f.head), len(p))
		f.head = append(f.head, p[:n]...)
		p = p[n:]
		if len(f.head) < frameHead {
			return nil
		}
		switch f.head[1] {
		case frameData:
			f.data = binary.BigEndian.Uint32(f.head[8:])
		case frameWindow:
		default:
			return errFrame
		}
		f.head = f.head[:0]
	}
	return nil
}
