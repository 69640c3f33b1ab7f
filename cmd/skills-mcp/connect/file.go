package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// maxFile bounds an edited file, in bytes. That of Claude Code holds a history.
const maxFile = 32 << 20

// errMeanwhile is returned for a file that was modified after it was read.
var errMeanwhile = errors.New("the file was changed meanwhile; try again")

// A file is the state of a file when it was read.
type file struct {
	path   string // without links
	data   []byte
	mode   fs.FileMode
	exists bool
}

// open reads a file; a missing one is empty. It follows links, so that they stay.
func open(target Target) (*file, error) {
	real, err := resolve(target.File)
	if err == nil {
		err = target.contains(real)
	}
	if err != nil {
		return nil, err
	}
	data, info, err := read(real)
	if errors.Is(err, fs.ErrNotExist) {
		if target.Folder == "" {
			return &file{path: real, mode: 0o644}, nil
		}
		return &file{path: real, mode: 0o600}, nil // of one person, who may add secrets
	}
	if err != nil {
		return nil, err
	}
	return &file{real, data, info.Mode().Perm(), true}, nil
}

// resolve follows the links of a path. A dangling link is an error.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a link to a file that is not there; make that file, or remove the link", path)
	}
	return path, nil
}

// contains returns an error for a file outside of the project, behind a link.
func (t Target) contains(file string) error {
	if t.Within == "" {
		return nil
	}
	within, err := filepath.EvalSymlinks(t.Within)
	if err != nil {
		return err
	}
	// For a missing file the nearest existing folder counts.
	for dir := file; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return err
		}
		if !skillfs.Inside(within, real) {
			return fmt.Errorf("%s leads out of the project by a link, to %s; remove the link, or leave --project out", t.File, real)
		}
		return nil
	}
}

func read(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait
		return nil, nil, fmt.Errorf("%s is not a file", path)
	}
	from, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer from.Close()
	data, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	}
	return data, info, err
}

// prepare creates the folder of a missing file. A client without its own folder is
// probably not installed, and a new folder might prevent its first setup.
func (c Client) prepare(target Target, force bool) error {
	if _, err := os.Lstat(target.File); err == nil {
		return nil
	}
	if err := target.contains(target.File); err != nil {
		return err
	}
	if target.Folder != "" && !force {
		if info, err := os.Stat(target.Folder); err != nil || !info.IsDir() {
			return fmt.Errorf("%s seems not to be installed: there is no folder %s; start it once, or make the folder with --force", c.Title, target.Folder)
		}
	}
	return os.MkdirAll(filepath.Dir(target.File), 0o755)
}

// replace replaces the file, with a backup beside it. A file that its owner made read-only
// stays: its replacement would not be.
func (f *file) replace(data []byte) (backup string, err error) {
	if f.exists && f.mode&0o200 == 0 {
		return "", fmt.Errorf("%s is read-only; make it writable, or edit it by hand", f.path)
	}
	if err := f.unchanged(); err != nil {
		return "", err
	}
	if f.exists {
		backup = f.path + ".bak-" + time.Now().Format("20060102-150405.000")
		if err := write(backup, f.data, f.mode); err != nil {
			return "", fmt.Errorf("keep a backup: %w", err)
		}
	}
	return backup, write(f.path, data, f.mode)
}

// write replaces a file whole, with a mode.
func write(name string, data []byte, mode fs.FileMode) error {
	return atomicfile.Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return errors.Join(err, w.(*os.File).Chmod(mode), w.(*os.File).Sync())
	})
}

// unchanged returns errMeanwhile if the file was modified after it was read.
func (f *file) unchanged() error {
	now, _, err := read(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !f.exists:
		return nil
	case errors.Is(err, fs.ErrNotExist), err == nil && (!f.exists || !bytes.Equal(now, f.data)):
		return errMeanwhile
	}
	return err
}
