package skillfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// ErrLeaves is the error of a path that leads out of its folder.
var ErrLeaves = errors.New("it leads out of its folder")

// maxLinks bounds the symbolic links on one path, as on Linux.
const maxLinks = 40

// Resolve follows the symbolic links in name, a slash-separated path in fsys, and
// returns the path without links. dir is the host folder that fsys shows, for
// absolute links that stay inside of it; "" is none. The error is [ErrLeaves] for
// a path that leads out, and [fs.ErrNotExist] for one that leads nowhere.
func Resolve(fsys fs.FS, dir, name string) (string, error) {
	if path.IsAbs(name) || filepath.IsAbs(name) {
		return "", ErrLeaves
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
				return "", ErrLeaves
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
				return "", ErrLeaves
			}
			done, target = ".", inside
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return done, nil
}

// linkTarget returns the target of the symbolic link at name, or "" for anything
// else.
func linkTarget(fsys fs.FS, name string) (string, error) {
	info, err := fs.Lstat(fsys, name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	target, err := fs.ReadLink(fsys, name)
	return filepath.ToSlash(target), err
}

// Sub returns the folder dir of fsys. dir must be a valid path.
func Sub(fsys fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(fsys, dir)
	if err != nil { // dir is valid
		panic(err)
	}
	return sub
}

// Inside reports whether the host path name is the folder dir or below it. It
// compares the cleaned paths and follows no links.
func Inside(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
