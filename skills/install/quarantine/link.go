package quarantine

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// A link is a symbolic link that Seal makes.
type link struct {
	given  string // its name as the source has it
	name   string // clean
	target string // slash-separated, relative to the folder of name
}

const (
	maxTarget = 1024 // bytes of the target of a link
	maxChain  = 8    // links on the way to a file
)

// Link notes a symbolic link, whose target is relative to its folder. Links are made
// by Seal, so that no file is written through one.
func (f *Folder) Link(name, target string) error {
	switch {
	case target == "" || len(target) > maxTarget || strings.ContainsRune(target, 0):
		return &Error{name, fmt.Sprintf("the target of the link is empty or longer than %d bytes", maxTarget), "put the file in its place"}
	case path.IsAbs(target) || strings.Contains(target, `\`) || filepath.VolumeName(target) != "":
		return &Error{name, "the link leads to an absolute path", "put the file in its place"}
	}
	clean, err := f.add(name, false)
	if err == nil {
		f.links = append(f.links, link{name, clean, target})
	}
	return err
}

// Seal makes the links, and returns an [*Error] if one leads out of the quarantine, to
// nothing, or in a circle. Nothing is written after it.
func (f *Folder) Seal() error {
	if f.sealed {
		return errSealed
	}
	f.sealed = true
	r := resolver{f.names, map[string]string{}}
	for _, l := range f.links {
		r.targets[l.name] = l.target
	}
	for _, l := range f.links {
		to, message := r.resolve(l.name)
		if message == "" && strings.HasPrefix(l.name+"/", strings.TrimPrefix(to+"/", "./")) {
			message = "leads to a folder that it lies in"
		}
		if message != "" {
			return &Error{l.given, fmt.Sprintf("the link to %q %s", l.target, message), "put the file in its place"}
		}
	}
	for _, l := range f.links {
		if err := f.root.Symlink(filepath.FromSlash(l.target), filepath.FromSlash(l.name)); err != nil {
			return fmt.Errorf("make link: %w", err)
		}
	}
	return nil
}

// A resolver follows links that are not made yet.
type resolver struct {
	names   names
	targets map[string]string // of the links, by clean path
}

// resolve returns the path without links that a link leads to, or the rest of a
// sentence about it.
func (r *resolver) resolve(name string) (to, message string) {
	done, todo := ".", strings.Split(name, "/")
	for links := 0; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		switch next {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", "leads out of the folder"
			}
			done = path.Dir(done)
			continue
		}
		at := path.Join(done, next)
		target, isLink := r.targets[at]
		known, exists := r.names.get(at)
		switch {
		case isLink:
			if links++; links > maxChain {
				return "", fmt.Sprintf("leads in a circle, or over more than %d others", maxChain-1)
			}
			todo = append(strings.Split(target, "/"), todo...)
			continue
		case !exists, !known.folder && len(todo) > 0:
			return "", "leads to nothing"
		}
		done = at
	}
	return done, ""
}
