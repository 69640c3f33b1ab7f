package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// A lookup is one step of following a path: the lookup of name in dir, which has no
// symbolic links. A change of that entry can change the target of the path, or
// whether there is one.
type lookup struct {
	dir, name string
	plain     bool // name is an ordinary folder
}

// A trail is the result of following a path.
type trail struct {
	lookups []lookup // every step, including a failed one
	real    string   // the path without symbolic links; "" if err is set
	folder  bool     // real is a folder
	err     error    // of the failed step
}

// wholeTrails says whether every folder on a trail is watched. With kqueue that
// would open each file in a home folder and more; there a step is watched only
// if it is a link, is missing, or is no folder.
const wholeTrails = runtime.GOOS == "linux" || runtime.GOOS == "windows"

// maxLinks bounds the links of a path, as in Linux.
const maxLinks = 40

// follow follows path, relative to dir, step by step as the system does. dir
// must have no symbolic links in it.
func follow(dir, path string) trail {
	var t trail
	links := 0
	for steps := split(path); len(steps) > 0; {
		name := steps[0]
		steps = steps[1:]
		if name == ".." {
			dir = filepath.Dir(dir)
			continue
		}
		target, err := t.step(dir, name)
		if err != nil {
			return t.failed(err)
		}
		if target == "" {
			dir = filepath.Join(dir, name)
			continue
		}
		if links++; links > maxLinks {
			return t.failed(fmt.Errorf("follow %s: too many links", path))
		}
		if filepath.IsAbs(target) {
			dir = top(target)
		}
		steps = append(split(target), steps...)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return t.failed(err)
	}
	t.real, t.folder = dir, info.IsDir()
	return t
}

// step looks name up in dir, records the lookup, and returns the target of a
// symbolic link, "" for anything else.
func (t *trail) step(dir, name string) (target string, err error) {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if errors.Is(err, syscall.ENOTDIR) {
		return "", err // dir is a file: the step that led to it is the one to watch
	}
	t.lookups = append(t.lookups, lookup{dir, name, err == nil && info.IsDir()})
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	return os.Readlink(path)
}

func (t *trail) failed(err error) trail {
	return trail{lookups: t.lookups, err: err}
}

// watched returns the steps that are watched on this system.
func (t *trail) watched() []lookup {
	if wholeTrails {
		return t.lookups
	}
	return slices.DeleteFunc(slices.Clone(t.lookups), func(l lookup) bool { return l.plain })
}

// same reports whether two trails have the same steps and the same result.
func (t *trail) same(u *trail) bool {
	return t.real == u.real && t.folder == u.folder && slices.Equal(t.lookups, u.lookups)
}

// split returns the elements of path below its top, without empty ones and ".".
func split(path string) []string {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	elements := strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
	return slices.DeleteFunc(elements, func(e string) bool { return e == "." })
}

// top returns the folder that the absolute path starts from: "/", or a volume.
func top(path string) string { return filepath.VolumeName(path) + string(filepath.Separator) }
