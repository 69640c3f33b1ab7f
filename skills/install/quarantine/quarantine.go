// Package quarantine holds the files of a stranger before anybody has decided about
// them: below one private folder, bounded in number and size, with names and links that
// no file system takes for others.
//
// Start with [New]; write with [Folder.Create], [Folder.Link] and [Folder.Unpack]; end
// with [Folder.Seal].
package quarantine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Folder is a quarantine. Its methods are called by one goroutine at a time.
type Folder struct {
	dir    string
	root   *os.Root // closed by Close
	limits Limits

	names  names
	links  []*link // made by Seal
	bytes  int64   // of all files
	sealed bool
}

// A link is a symbolic link that Seal makes.
type link struct {
	given  string // its name as the source has it
	name   string // clean
	target string // slash-separated, relative to the folder of name
	fault  string // the rest of a sentence about one that Seal does not make
}

// New makes an empty quarantine below parent, an absolute host path, which it creates.
// Only this user may enter it. Nil limits are the defaults.
func New(parent string, limits *Limits) (*Folder, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("make quarantine: %w", err)
	}
	dir, err := os.MkdirTemp(parent, "quarantine-*")
	if err != nil {
		return nil, fmt.Errorf("make quarantine: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		os.Remove(dir)
		return nil, fmt.Errorf("make quarantine: %w", err)
	}
	l := limits.orDefaults()
	return &Folder{dir: dir, root: root, limits: l, names: names{limits: l, byKey: map[string]entry{}}}, nil
}

// Path returns the absolute host path of the folder.
func (f *Folder) Path() string { return f.dir }

// Limits returns the limits that apply, with the defaults filled in.
func (f *Folder) Limits() Limits { return f.limits }

// Notes returns up to ten facts about accepted names, such as that Windows has no such
// file.
func (f *Folder) Notes() []string { return f.names.notes }

var errSealed = errors.New("the quarantine is sealed")

// Create writes a regular file. name is slash-separated and relative. The mode becomes
// 0644, or 0755 if executable. The error is an [*Error] for a name or size that is not
// accepted, and then the file does not exist.
func (f *Folder) Create(name string, executable bool, content io.Reader) error {
	clean, err := f.add(name, false)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	written, err := f.write(clean, mode, content)
	if err != nil {
		f.root.Remove(filepath.FromSlash(clean))
		f.names.remove(clean)
		f.bytes -= written
		if errors.Is(err, errLarge) {
			err = f.tooLarge(name)
		}
	}
	return err
}

// mkdir makes a folder, which may exist.
func (f *Folder) mkdir(name string) error {
	_, err := f.add(name, true)
	return err
}

// add checks a name, reserves it, and makes the folders of its path.
func (f *Folder) add(name string, folder bool) (clean string, err error) {
	if f.sealed {
		return "", errSealed
	}
	clean, made, err := f.names.add(name, folder)
	if err != nil {
		return "", err
	}
	for _, dir := range made {
		if err := f.makeDir(filepath.FromSlash(dir)); err != nil {
			return "", err
		}
	}
	return clean, nil
}

// makeDir makes a folder that every user may read once it has been moved to its place.
func (f *Folder) makeDir(dir string) error {
	if err := f.root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return f.root.Chmod(dir, 0o755) // in spite of the umask
}

// errLarge ends the writing of a file that breaks a limit.
var errLarge = errors.New("the file is too large")

// write returns the bytes that count, also after an error.
func (f *Folder) write(name string, mode fs.FileMode, content io.Reader) (int64, error) {
	file, err := f.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return 0, err
	}
	limit := min(f.limits.File, f.limits.Total-f.bytes)
	n, err := io.Copy(file, io.LimitReader(content, limit+1))
	f.bytes += n
	if err == nil && n > limit {
		err = errLarge
	}
	if err == nil {
		err = file.Chmod(mode) // in spite of the umask
	}
	return n, errors.Join(err, file.Close())
}

func (f *Folder) tooLarge(name string) error {
	if f.limits.Total-f.bytes < f.limits.File {
		return &Error{name, fmt.Sprintf("with it all files are larger than %s", bytesText(f.limits.Total)), "leave out what the skill does not need"}
	}
	return &Error{name, fmt.Sprintf("it is larger than %s", bytesText(f.limits.File)), "leave it out"}
}

// Close removes the quarantine with all that is in it.
func (f *Folder) Close() error {
	f.sealed = true
	if err := os.RemoveAll(f.dir); err != nil {
		f.unlock()
	}
	return errors.Join(f.root.Close(), os.RemoveAll(f.dir))
}

// unlock lets this user write to all folders, so that they can be removed.
func (f *Folder) unlock() {
	var unlock func(dir string)
	unlock = func(dir string) {
		f.root.Chmod(dir, 0o700)
		file, err := f.root.Open(dir)
		if err != nil {
			return
		}
		entries, _ := file.ReadDir(-1)
		file.Close()
		for _, e := range entries {
			if e.IsDir() {
				unlock(filepath.Join(dir, e.Name()))
			}
		}
	}
	unlock(".")
}
