package lock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Lock is a lock file that no other process changes. It is for one goroutine.
type Lock struct {
	// File is the content. The holder changes it and calls Write.
	File *File

	root  *os.Root     // closed by Close
	guard *flock.Flock // closed by Close
	state string
}

// pollInterval is the interval in which a process that waits for another one tries again.
const pollInterval = 20 * time.Millisecond

// Open reads the lock file in the host folder dir, and waits until no other process has
// it open. The state folder, slash-separated in dir, has the file that processes wait for;
// Open creates it. No link out of dir is followed. The caller closes the lock.
func Open(ctx context.Context, dir, state string) (*Lock, error) {
	root, err := openRoot(dir, state)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", Name, err)
	}
	l := &Lock{root: root, state: state, guard: flock.New(filepath.Join(dir, filepath.FromSlash(state), "lock"))}
	if _, err := l.guard.TryLockContext(ctx, pollInterval); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("another process changes it: %w", context.Cause(ctx))
		}
		return nil, errors.Join(fmt.Errorf("open %s: %w", filepath.Join(dir, Name), err), l.Close())
	}
	if l.File, err = read(root); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// openRoot opens the folder dir, and makes the state folder with the file to wait for.
// Version control leaves the state out.
func openRoot(dir, state string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	state = filepath.FromSlash(state)
	err = root.MkdirAll(state, 0o755)
	for _, file := range []struct{ name, content string }{{"lock", ""}, {".gitignore", "*\n"}} {
		if err == nil {
			err = create(root, filepath.Join(state, file.name), file.content)
		}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// create makes a file unless it exists. A link there must not lead out of root.
func create(root *os.Root, name, content string) error {
	if info, err := root.Stat(name); err == nil && info.Mode().IsRegular() {
		return nil
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is not a file; remove it", name)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, content)
	return errors.Join(err, file.Close())
}

// Root is the folder with the lock file, until Close.
func (l *Lock) Root() *os.Root { return l.root }

// Write replaces the file, and returns when the disk has it. An error leaves the old one.
func (l *Lock) Write() error {
	data, err := l.File.Encode()
	if err != nil {
		return err
	}
	if err := replace(l.root, Name, filepath.Join(filepath.FromSlash(l.state), Name+".tmp"), data); err != nil {
		return fmt.Errorf("write %s: %w", Name, err)
	}
	return nil
}

// replace writes a file by way of a temporary one on the same file system. Only the
// holder of the lock calls it, so the temporary file is its own, or of a process that ended.
func replace(root *os.Root, name, temporary string, data []byte) error {
	if err := root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return SyncFolder(root, ".")
}

// Close lets other processes open the lock.
func (l *Lock) Close() error { return errors.Join(l.guard.Close(), l.root.Close()) }

// Read returns the content of the lock file in the host folder dir, without waiting for
// others. A folder without the file has no entries.
func Read(dir string) (*File, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return empty(), nil
	} else if err != nil {
		return nil, fmt.Errorf("read %s: %w", Name, err)
	}
	defer root.Close()
	return read(root)
}

func read(root *os.Root) (*File, error) {
	data, err := skillfs.ReadRegular(root.FS(), Name, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return empty(), nil
	case errors.Is(err, skillfs.ErrTooLarge):
		return nil, &Error{Message: fmt.Sprintf("it is larger than %d MiB", maxSize>>20), Remedy: restore}
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", Name, err)
	}
	return Decode(data)
}

func empty() *File { return &File{Version: Version, Entries: map[string]*Entry{}} }
