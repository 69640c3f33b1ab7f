//go:build amd64 || arm64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Messages between the server and a zygote are packed by hand, in the order of
// their fields: the first use of a package that does it by reflection costs the
// zygote more than any other of its steps, and strings here are any bytes, which
// JSON would mend.

// A message packs and unpacks itself, with the same code.
type message interface{ pack(c *codec) }

// A codec appends to buf, or takes from it.
type codec struct {
	buf     []byte
	unpacks bool
	err     error // the first, when unpacking
}

var errShort = errors.New("message is shorter than it says")

func (c *codec) take(n uint64) []byte {
	if uint64(len(c.buf)) < n {
		c.err, c.buf = errShort, nil
		return nil
	}
	taken := c.buf[:n]
	c.buf = c.buf[n:]
	return taken
}

func (c *codec) number(v *int64) {
	if !c.unpacks {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, uint64(*v))
		return
	}
	if b := c.take(8); b != nil {
		*v = int64(binary.LittleEndian.Uint64(b))
	}
}

func (c *codec) flag(v *bool) {
	var n int64
	if *v {
		n = 1
	}
	c.number(&n)
	*v = n == 1
}

func (c *codec) text(v *string) {
	n := int64(len(*v))
	c.number(&n)
	if !c.unpacks {
		c.buf = append(c.buf, *v...)
		return
	}
	*v = string(c.take(uint64(n)))
}

// list packs the number of items and then each.
func list[T any](c *codec, v *[]T, each func(*T)) {
	n := int64(len(*v))
	c.number(&n)
	if c.unpacks {
		if n < 0 || n > int64(len(c.buf)) { // an item has at least a byte
			c.err, n = errShort, 0
		}
		*v = make([]T, n)
	}
	for i := range *v {
		each(&(*v)[i])
	}
}

// maxMessage is far above what workspaces take.
const maxMessage = 16 << 20

// headSize is how many bytes the length before a message takes.
const headSize = 4

// encode returns m with its length before it.
func encode(m message) ([]byte, error) {
	c := &codec{buf: make([]byte, headSize)}
	m.pack(c)
	length := len(c.buf) - headSize
	if length > maxMessage {
		return nil, fmt.Errorf("message of %d bytes is too long", length)
	}
	binary.LittleEndian.PutUint32(c.buf, uint32(length))
	return c.buf, nil
}

// decodeBody reads the rest of what encode returned.
func decodeBody(r io.Reader, head [headSize]byte, m message) error {
	length := binary.LittleEndian.Uint32(head[:])
	if length > maxMessage {
		return fmt.Errorf("message of %d bytes is too long", length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	c := &codec{buf: body, unpacks: true}
	m.pack(c)
	return c.err
}
