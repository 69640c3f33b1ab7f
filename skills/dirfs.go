package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// DirFS is the file system below the host folder dir, like [os.DirFS], but
// nothing in it leads out of the folder, neither ".." nor a symbolic link. It
// holds no descriptor: the folder may go and come back.
func DirFS(dir string) fs.FS { return dirFS{dir, "."} }

// dirFS is the folder sub of a host folder. It is reached by way of that folder
// each time: whoever can write there may put a link in the place of sub, which
// must not lead out.
type dirFS struct {
	dir string
	sub string // slash-separated
}

var (
	_ fs.ReadDirFS  = dirFS{}
	_ fs.StatFS     = dirFS{}
	_ fs.ReadLinkFS = dirFS{}
	_ fs.SubFS      = dirFS{}
)

// Sub implements [fs.SubFS].
func (d dirFS) Sub(dir string) (fs.FS, error) {
	if !fs.ValidPath(dir) {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: fs.ErrInvalid}
	}
	return dirFS{d.dir, path.Join(d.sub, dir)}, nil
}

func (d dirFS) Open(name string) (fs.File, error) {
	return in(d, "open", name, func(r *os.Root, name string) (*os.File, error) {
		// Whoever opens a named pipe to look at it must not wait for a writer.
		return r.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	})
}

func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return in(d, "readdir", name, func(r *os.Root, name string) ([]fs.DirEntry, error) {
		return fs.ReadDir(r.FS(), filepath.ToSlash(name))
	})
}

func (d dirFS) Stat(name string) (fs.FileInfo, error) {
	return in(d, "stat", name, (*os.Root).Stat)
}

func (d dirFS) Lstat(name string) (fs.FileInfo, error) {
	return in(d, "lstat", name, (*os.Root).Lstat)
}

func (d dirFS) ReadLink(name string) (string, error) {
	return in(d, "readlink", name, (*os.Root).Readlink)
}

// in opens the folder for one operation.
func in[T any](d dirFS, op, name string, do func(*os.Root, string) (T, error)) (T, error) {
	var zero T
	if !fs.ValidPath(name) {
		return zero, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	dir, err := os.OpenRoot(d.dir)
	if err != nil {
		return zero, err
	}
	defer dir.Close()
	if d.sub == "." {
		return do(dir, filepath.FromSlash(name))
	}
	root, err := dir.OpenRoot(filepath.FromSlash(d.sub))
	if err != nil {
		return zero, err
	}
	defer root.Close()
	return do(root, filepath.FromSlash(name))
}

// errLeaves is the error of a path that leads out of its folder.
var errLeaves = errors.New("it leads out of its folder")

// maxLinks is how many symbolic links one path may pass, as on Linux.
const maxLinks = 40

// resolve follows the symbolic links in name, a slash-separated path in fsys,
// and returns the path without any. dir is the host folder that fsys shows,
// for absolute links that stay inside of it; "" where there is none.
func resolve(fsys fs.FS, dir, name string) (string, error) {
	if path.IsAbs(name) || filepath.IsAbs(name) {
		return "", errLeaves
	}
	done, todo := ".", strings.Split(name, "/")
	for links := 0; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		switch next {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", errLeaves
			}
			done = path.Dir(done)
			continue
		}
		at := path.Join(done, next)
		target, err := linkTarget(fsys, at)
		if err != nil {
			return "", err
		}
		if target == "" {
			done = at
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many symbolic links", name)
		}
		if path.IsAbs(target) || filepath.IsAbs(target) {
			inside, ok := strings.CutPrefix(target+"/", strings.TrimSuffix(filepath.ToSlash(dir), "/")+"/")
			if dir == "" || !ok {
				return "", errLeaves
			}
			done, target = ".", inside
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return done, nil
}

// linkTarget returns where the symbolic link at name points, or "" where name
// is something else.
func linkTarget(fsys fs.FS, name string) (string, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	target, err := fs.ReadLink(fsys, name)
	return filepath.ToSlash(target), err
}

// ErrTooLarge is the error of a file that is larger than what is read of its
// kind.
var ErrTooLarge = errors.New("it is too large; shorten it")

// ReadRegular reads a file that is a regular one, of at most limit bytes. The
// error is [ErrTooLarge] where it has more.
func ReadRegular(fsys fs.FS, name string, limit int64) ([]byte, error) {
	file, err := OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, ErrTooLarge
	}
	return data, nil
}

// readFile reads a manifest.
func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	data, err := ReadRegular(fsys, name, limit)
	if errors.Is(err, ErrTooLarge) {
		return nil, reject(0, "move what is long into files beside it", "%s is larger than %d KiB", path.Base(name), limit>>10)
	}
	return data, err
}

// readHead returns the first 4 KiB of a regular file.
func readHead(fsys fs.FS, name string) ([]byte, error) {
	file, err := OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 4<<10))
}

// OpenRegular opens a file that is a regular one. Anything else, such as a named
// pipe that would never end, is an error.
func OpenRegular(fsys fs.FS, name string) (fs.File, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = reject(0, "put a file there", "%s is not a regular file", path.Base(name))
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
