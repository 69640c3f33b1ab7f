package cache

import (
	"fmt"
	"hash/crc32"
	"io"
	"runtime"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Instructions are most of what is kept, and few of them are read while a server
// runs. So the long ones stay in the file until somebody asks. That file stays
// what it was for who has it open: a newer one takes its name, not its place.

// longText is how long instructions are that stay in the file, in bytes: below
// that, they take no more room than to say where they are.
const longText = 512

// lazy is false where a file that is open keeps another from taking its name.
const lazy = runtime.GOOS != "windows"

// A source is the file that texts are in.
type source interface {
	io.ReaderAt
	Name() string
}

// A text is a part of a file, or is still to be written to one.
type text struct {
	new string // where file is nil

	file source
	at   uint64 // offset
	n    uint64 // length, in bytes
	sum  uint32 // checksum
}

// read returns the text. The error is of a file that was damaged since it was
// opened.
func (t *text) read() (string, error) {
	if t.file == nil {
		return t.new, nil
	}
	b := make([]byte, t.n)
	_, err := t.file.ReadAt(b, int64(t.at))
	if err == nil && crc32.Checksum(b, checksums) != t.sum {
		err = errCorrupt
	}
	if err != nil {
		return "", fmt.Errorf("read instructions in %s, which may be removed before the next start: %w", t.file.Name(), err)
	}
	return string(b), nil
}

// fill has a skill read the text when it is asked for, or gives it now. It reports
// whether the text is there.
func (t *text) fill(s *skills.Skill) bool {
	if lazy {
		s.Stored = t.read
		return true
	}
	var err error
	s.Instructions, err = t.read()
	return err == nil
}

// appendText appends where a text is; nil, and one of no length, is none.
func appendText(b []byte, t *text) []byte {
	if t == nil || t.n == 0 {
		return appendUint(b, 0)
	}
	return appendUint(appendUint(appendUint(b, t.n), t.at), uint64(t.sum))
}

// text returns where a text is that ends before an offset of the file, or nil.
func (r *reader) text(file source, before uint64) *text {
	n := r.uint()
	if n == 0 {
		return nil
	}
	t := &text{file: file, n: n, at: r.uint(), sum: uint32(r.uint())}
	if t.at > before || t.n > before-t.at {
		r.fail()
	}
	return t
}
