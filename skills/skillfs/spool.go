package skillfs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A spool is a temporary file that holds the contents of files, one behind the
// other.
type spool struct {
	file  *os.File
	named bool // there is something to remove
	size  int64
}

// A spoolError is one of the machine that the package is not to blame for.
type spoolError struct{ cause error }

func (e *spoolError) Error() string { return fmt.Sprintf("unpack to a temporary file: %v", e.cause) }
func (e *spoolError) Unwrap() error { return e.cause }

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "skills-mcp-package-*")
	if err != nil {
		return nil, &spoolError{err}
	}
	// Without a name it is gone with the process, however that ends. Where the
	// system refuses, close removes it.
	return &spool{file: file, named: os.Remove(file.Name()) != nil}, nil
}

// add appends size bytes of content.
func (s *spool) add(content io.Reader, size int64) error {
	n, err := io.Copy(writer{s.file}, io.LimitReader(content, size))
	s.size += n
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// writer tells the machine's errors from those of what is read.
type writer struct{ file *os.File }

func (w writer) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		err = &spoolError{err}
	}
	return n, err
}

// open reads size bytes from a place on.
func (s *spool) open(at, size int64) (io.ReadCloser, error) {
	if _, err := s.file.Stat(); err != nil {
		return nil, fs.ErrClosed
	}
	return section{io.NewSectionReader(s.file, at, size)}, nil
}

// section is a part of a file that has nothing to close.
type section struct{ *io.SectionReader }

func (section) Close() error { return nil }

func (s *spool) close() error {
	err := s.file.Close()
	if s.named {
		os.Remove(s.file.Name())
	}
	return err
}
