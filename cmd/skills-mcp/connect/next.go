package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A next is the file that is to take the place of another. Because nobody can
// make it a second time, it also says that one of us is at work.
type next struct {
	path string
	done bool // it has taken the place
}

// hold makes the next of a file, empty. While there is one of somebody else's it
// waits, at most for as long as patience is.
func hold(path string, patience time.Duration) (*next, error) {
	n := &next{path: path + ".skills-mcp-new"}
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		to, err := os.OpenFile(n.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return n, to.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if time.Since(start) >= patience {
			return nil, fmt.Errorf("%s is there: skills-mcp is writing %s elsewhere, or was stopped at it; if it does not run, remove the first and try again", n.path, path)
		}
	}
}

// write sets what is in it.
func (n *next) write(data []byte, mode fs.FileMode) error {
	to, err := os.OpenFile(n.path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return finish(to, data, mode)
}

// become takes the place of a file.
func (n *next) become(path string) error {
	err := os.Rename(n.path, path)
	n.done = err == nil
	return err
}

// close removes it where it was not needed. After it has taken the place, a file
// of its name is somebody else's.
func (n *next) close() {
	if !n.done {
		os.Remove(n.path)
	}
}
