package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A next is the future content of a file, which replaces it by a rename. Because it
// is created exclusively, it is also the lock between our processes.
type next struct {
	path string
	done bool // renamed
}

// hold creates the next of a file, empty. While another process has one it waits,
// at most for patience.
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

// write sets its content.
func (n *next) write(data []byte, mode fs.FileMode) error {
	to, err := os.OpenFile(n.path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return finish(to, data, mode)
}

// become replaces a file.
func (n *next) become(path string) error {
	err := os.Rename(n.path, path)
	n.done = err == nil
	return err
}

// close removes it unless it was renamed: a file of its name is then another
// process's.
func (n *next) close() {
	if !n.done {
		os.Remove(n.path)
	}
}

// finish writes and syncs the content of a new file and closes it.
func finish(to *os.File, data []byte, mode fs.FileMode) error {
	_, err := to.Write(data)
	return errors.Join(err, to.Chmod(mode), to.Sync(), to.Close())
}
