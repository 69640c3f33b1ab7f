package egress

import (
	"encoding/binary"
	"errors"
	"io"
)

// errFrame ends a session whose other side sends what a forwarder does not.
var errFrame = errors.New("the sandbox sent a frame that is not allowed")

// A frame of a session has a head of 12 bytes: version, type, flags (2), stream
// (4) and length (4). Data is followed by as many bytes as its length says.
// https://github.com/hashicorp/yamux/blob/master/spec.md
const (
	frameHead   = 12
	frameData   = 0
	frameWindow = 1
)

// frames is a connection that lets only those frames through that a forwarder
// sends. Pings are what this is for: the library starts a goroutine for each,
// which waits for ten seconds where the sandbox does not read the answers.
type frames struct {
	io.ReadWriteCloser
	head []byte // of the next frame, as far as it has come
	data uint32 // bytes that are still to come of the one before
	err  error
}

// Read reads what has been looked at.
func (f *frames) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.ReadWriteCloser.Read(p)
	if f.err = f.look(p[:n]); f.err != nil {
		return 0, f.err
	}
	return n, err
}

// look follows the frames in what was read.
func (f *frames) look(p []byte) error {
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
