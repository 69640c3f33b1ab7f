package docker

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/gofrs/flock"
)

const (
	// expiry is how long a container is left alone by those who cannot tell
	// whether its driver lives.
	expiry = 24 * time.Hour
	// reapPause is the time between looks for containers without a driver.
	reapPause = time.Minute
)

// A lease proves that a driver's process lives: a locked file, which the kernel unlocks
// when the process ends in any way. Drivers with the same folder can so tell each
// other's containers from orphans; those of other drivers expire.
type lease struct {
	home  string // the folder's own name; "" when there is no folder
	dir   string
	pipes string // a folder for the pipes of containers that start; "" when there is no folder
	lock  *flock.Flock
}

// newLease acquires the lease of an instance in dir.
func newLease(dir, instance string) (*lease, error) {
	l := &lease{dir: filepath.Join(dir, "instances"), pipes: filepath.Join(dir, "pipes")}
	if err := errors.Join(os.MkdirAll(l.dir, 0o700), os.MkdirAll(l.pipes, 0o700)); err != nil {
		return nil, err
	}
	home, err := readOrMake(filepath.Join(dir, "home"), strings.ToLower(rand.Text()[:16]), 0o600)
	if err != nil {
		return nil, err
	}
	l.home = home
	l.lock, err = hold(filepath.Join(l.dir, instance))
	return l, err
}

// hold makes a file and locks it. Between the two, somebody who cleans up can
// lock it for a moment, and remove it.
func hold(file string) (*flock.Flock, error) {
	for range 10 {
		lock := flock.New(file)
		if err := lock.Lock(); err != nil {
			return nil, err
		}
		if same(lock, file) {
			return lock, nil
		}
		_ = lock.Close()
	}
	return nil, fmt.Errorf("lock %s: it is removed again and again", file)
}

// same reports whether the file that is locked is the one of that name.
func same(lock *flock.Flock, file string) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file)
	return err == nil && os.SameFile(locked, named)
}

// end releases the lease.
func (l *lease) end() error {
	if l == nil || l.lock == nil {
		return nil
	}
	// The file goes first, so that nobody takes an unlocked one for an orphan's.
	err := os.Remove(l.lock.Path())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it was ended before
	}
	return errors.Join(err, l.lock.Close())
}

// readOrMake returns the content of a small file. Of several processes that
// find it missing, one's content counts.
func readOrMake(file, content string, mode fs.FileMode) (string, error) {
	data, err := os.ReadFile(file)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return string(data), err
	}
	aside, err := os.CreateTemp(filepath.Dir(file), ".aside-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(aside.Name())
	_, err = aside.WriteString(content)
	if err := errors.Join(err, aside.Chmod(mode), aside.Close()); err != nil {
		return "", err
	}
	if err := os.Link(aside.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	data, err = os.ReadFile(file)
	return string(data), err
}

// free reports whether an instance that shares the folder has ended, and
// removes the file of one that has, if told to.
func (l *lease) free(instance string, remove bool) bool {
	if instance != filepath.Base(instance) {
		return false // it is no name of ours
	}
	lock := flock.New(filepath.Join(l.dir, instance), flock.SetFlag(os.O_RDWR))
	locked, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	defer lock.Close()
	if remove && err == nil && locked { // while nobody else can lock it
		_ = os.Remove(lock.Path())
	}
	return err == nil && locked
}

// abandoned reports whether an instance with files in dir was killed.
func abandoned(dir string) bool {
	l := &lease{dir: filepath.Join(dir, "instances")}
	entries, err := os.ReadDir(l.dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return l.free(e.Name(), false) })
}

// cleanPipes removes the pipes of instances that ended while a container started.
func (l *lease) cleanPipes() {
	entries, err := os.ReadDir(l.pipes)
	if err != nil {
		return
	}
	for _, entry := range entries {
		instance, _, _ := strings.Cut(entry.Name(), "-")
		if l.free(instance, false) {
			_ = os.RemoveAll(filepath.Join(l.pipes, entry.Name()))
		}
	}
}

// clean removes the files of instances that have ended and have no containers.
func (l *lease) clean(all []container.Summary) {
	if l.dir == "" {
		return
	}
	l.cleanPipes()
	has := map[string]bool{}
	for _, c := range all {
		has[c.Labels[labelInstance]] = true
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !has[entry.Name()] {
			l.free(entry.Name(), true)
		}
	}
}

// keepFile returns a file of dir with text, which its name tells from others.
func keepFile(dir, name, text string) (string, error) {
	file := filepath.Join(dir, digestOf(text)[:12]+"-"+name)
	found, err := readOrMake(file, text, 0o644)
	if err == nil && found != text {
		err = fmt.Errorf("keep %s: it holds something else", file)
	}
	return file, err
}
