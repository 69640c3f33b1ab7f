package cache

import (
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Instructions are most of the cache, and a server reads few of them. So the long
// ones stay in the file until somebody asks; those of a first scan move there when it
// is written. An open file keeps its content: a newer one replaces its name only.

// longText is the length from which instructions stay in the file, in bytes: their
// location takes as much memory as a shorter text.
const longText = 512

// lazy is false on systems where an open file cannot be replaced: there all instructions
// are in memory.
const lazy = runtime.GOOS != "windows"

// checksums returns the table of the checksums, which is made once.
func checksums() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func checksum(part string) uint32 { return crc32.Checksum([]byte(part), checksums()) }

// A source is the file with the texts.
type source interface {
	io.ReaderAt
	Name() string
}

// A location is a part of a file; n is 0 for none.
type location struct {
	at  uint64 // offset
	n   uint64 // length, in bytes
	sum uint32 // checksum
}

// A text is a part of a file, or is still to be written to one.
type text struct {
	mu      sync.Mutex
	pending string // if file is nil

	file source
	location
}

// read returns the text. The error is of a file that was damaged since it was
// opened.
func (t *text) read() (string, error) {
	t.mu.Lock()
	pending, file, at := t.pending, t.file, t.location
	t.mu.Unlock()
	if file == nil {
		return pending, nil
	}
	read, err := readPart(file, at)
	if err != nil {
		return "", fmt.Errorf("read instructions in %s, whose files may be removed before the next start: %w", filepath.Dir(file.Name()), err)
	}
	return read, nil
}

// moveTo makes a pending text be read from a file that has it.
func (t *text) moveTo(file source, at location) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		t.pending, t.file, t.location = "", file, at
	}
}

// readPart returns a part of a file. Its length is one that the file may have.
func readPart(file io.ReaderAt, at location) (string, error) {
	var b strings.Builder
	b.Grow(int(at.n))
	sum := crc32.New(checksums())
	if _, err := io.Copy(io.MultiWriter(&b, sum), io.NewSectionReader(file, int64(at.at), int64(at.n))); err != nil {
		return "", err
	}
	if uint64(b.Len()) != at.n || sum.Sum32() != at.sum {
		return "", errCorrupt
	}
	return b.String(), nil
}
