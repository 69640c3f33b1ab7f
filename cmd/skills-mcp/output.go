package main

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

// output is a standard output that is a file. It remembers the first error of a
// write, so that no command loses output and exits with 0.
type output struct {
	file *os.File

	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// failed returns the first error of a write; nil is a nil output's.
func (o *output) failed() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// unread reports whether nobody reads the output any more, which needs no words:
// "head" has seen enough.
func (o *output) unread() bool { return errors.Is(o.failed(), syscall.EPIPE) }

// Fd returns the file descriptor, by which terminals are known.
func (o *output) Fd() uintptr { return o.file.Fd() }

// SetWriteDeadline lets the server interrupt a write that nobody reads.
func (o *output) SetWriteDeadline(t time.Time) error { return o.file.SetWriteDeadline(t) }
