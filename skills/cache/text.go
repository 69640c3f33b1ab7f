package cache

import (
	"fmt"
	"hash/crc32"
	"io"
	"runtime"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Instructions are most of the cache, and a server reads few of them. So the long
// ones stay in the file until somebody asks. An open file keeps its content: a newer
// one replaces its name only.

// longText is the length from which instructions stay in the file, in bytes: their
// location takes as much memory as a shorter text.
const longText = 512

// lazy is false on systems where an open file cannot be replaced.
const lazy = runtime.GOOS != "windows"

// checksums returns the table of the checksums, which is made once.
func checksums() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// A source is the file with the texts.
type source interface {
	io.ReaderAt
	Name() string
}

// A text is a part of a file, or is still to be written to one.
type text struct {
	new string // if file is nil

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
	if err == nil && crc32.Checksum(b, checksums()) != t.sum {
		err = errCorrupt
	}
	if err != nil {
		return "", fmt.Errorf("read instructions in %s, which may be removed before the next start: %w", t.file.Name(), err)
	}
	return string(b), nil
}

// fill makes a skill read the text when somebody asks for it, or sets it now. It
// reports whether the text is readable.
func (t *text) fill(s *skills.Skill) bool {
	if lazy {
		s.Stored = t.read
		return true
	}
	var err error
	s.Instructions, err = t.read()
	return err == nil
}

// text writes or reads the location of a text in a file, before the offset end. Nil,
// and a text of no length, is none.
func (c *codec) text(t *text, file source, end uint64) *text {
	if t == nil {
		t = &text{}
	}
	n := c.uint(t.n)
	if n == 0 {
		return nil
	}
	t = &text{file: file, n: n, at: c.uint(t.at), sum: uint32(c.uint(uint64(t.sum)))}
	if t.at > end || t.n > end-t.at {
		c.fail(errCorrupt)
	}
	return t
}
