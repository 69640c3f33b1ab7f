package skillfs

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
)

// A spool is a temporary ZIP file with the files of a tar.gz file.
type spool struct {
	file  *os.File
	zip   *zip.Writer
	named bool // it has to be removed
}

// A spoolError is an error of the machine, not of the package.
type spoolError struct{ cause error }

func (e *spoolError) Error() string { return fmt.Sprintf("unpack to a temporary file: %v", e.cause) }
func (e *spoolError) Unwrap() error { return e.cause }

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "skills-mcp-package-*")
	if err != nil {
		return nil, &spoolError{err}
	}
	// A file without a name does not outlive the process. Where the system refuses,
	// close removes it.
	s := &spool{file: file, named: os.Remove(file.Name()) != nil}
	s.zip = zip.NewWriter(s)
	return s, nil
}

// Write appends to the file. Its error is a [*spoolError].
func (s *spool) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil {
		err = &spoolError{err}
	}
	return n, err
}

// add appends a file or folder.
func (s *spool) add(name string, e *PackedEntry) error {
	header := &zip.FileHeader{Name: name, Method: zip.Store, Modified: e.Modified}
	if !e.Mode.IsDir() {
		header.SetMode(mode(e.Mode))
	}
	to, err := s.zip.CreateHeader(header)
	if err != nil || e.Mode.IsDir() {
		return err
	}
	content, err := e.Open()
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(content, e.Size)) // which sizes the buffer of a small file
	return err
}

// read returns the list of what was added.
func (s *spool) read() (*zip.Reader, error) {
	if err := s.zip.Close(); err != nil {
		return nil, err
	}
	info, err := s.file.Stat()
	if err != nil {
		return nil, err
	}
	return zip.NewReader(s.file, info.Size())
}

func (s *spool) close() error {
	if s == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
