//go:build amd64 || arm64

package native

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
)

// maxMessage bounds the bytes of a message. It is far above what workspaces take.
const maxMessage = 16 << 20

// headSize is how many bytes the length before a message takes.
const headSize = 4

// A messenger sends and receives messages: one stream of gob in each direction,
// which describes a type once, cut into messages by their lengths. Gob's strings
// are any bytes, as paths are.
type messenger struct {
	*line
	out, in bytes.Buffer
	encoder *gob.Encoder // to out
	decoder *gob.Decoder // of in
}

func newMessenger(l *line) *messenger {
	m := &messenger{line: l}
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
	return m.line.send(m.out.Bytes(), fds)
}

// receive receives a message, and returns the descriptors that came with it.
func (m *messenger) receive(message any) (fds []int, err error) {
	var head [headSize]byte
	if fds, err = m.line.receive(head[:]); err != nil {
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
	if _, err := io.CopyN(&m.in, m.line, int64(length)); err != nil {
		return err
	}
	return m.decoder.Decode(message)
}
