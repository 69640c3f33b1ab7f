package quarantine

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

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
		f.names.byKey[key(clean)] = entry{name: clean, link: true}
		f.links = append(f.links, link{name, clean, target})
	}
	return err
}

// Links returns the targets of the links by their clean paths.
func (f *Folder) Links() map[string]string {
	targets := map[string]string{}
	for _, l := range f.links {
		targets[l.name] = l.target
	}
	return targets
}

// Seal makes the links. The error is an [*Error] if one leads out of the quarantine, to
// nothing, or in a circle, also one of links to folders, and if a folder is a bare
// repository of git. Nothing is written after it.
func (f *Folder) Seal() error {
	if f.sealed {
		return errSealed
	}
	f.sealed = true
	if err := cmp.Or(f.names.checkBare(), f.checkLinks()); err != nil {
		return err
	}
	for _, l := range f.links {
		if err := f.root.Symlink(filepath.FromSlash(l.target), filepath.FromSlash(l.name)); err != nil {
			return fmt.Errorf("make link: %w", err)
		}
	}
	return nil
}

func (f *Folder) checkLinks() error {
	if len(f.links) == 0 {
		return nil
	}
	r := resolver{f.names, map[string]string{}}
	for _, l := range f.links {
		r.targets[l.name] = l.target
	}
	w := f.names.walk()
	for i, l := range f.links {
		to, message := r.resolve(l.name)
		if message != "" {
			return l.fault(message)
		}
		if e, _ := f.names.get(to); e.folder {
			dir := path.Dir(l.name)
			w.below[dir] = append(w.below[dir], step{to, &f.links[i]})
		}
	}
	if l := w.circle(".", nil); l != nil {
		return l.fault("leads to a folder that leads back to it")
	}
	return nil
}

func (l *link) fault(message string) error {
	return &Error{l.given, fmt.Sprintf("the link to %q %s", l.target, message), "put the file in its place"}
}

// A walk goes through folders as a program that follows links does.
type walk struct {
	below map[string][]step // by the path of a folder
	state map[string]int    // 1 while it is walked through, 2 after it
}

// A step leads to a folder, by a link or, if that is nil, by its name.
type step struct {
	to   string
	link *link
}

func (n *names) walk() *walk {
	w := &walk{map[string][]step{}, map[string]int{}}
	for _, e := range n.byKey {
		if e.folder {
			w.below[path.Dir(e.name)] = append(w.below[path.Dir(e.name)], step{e.name, nil})
		}
	}
	return w
}

// circle returns a link by which the walk through dir would not end, nil if it ends. by
// is the last link on the way to dir.
func (w *walk) circle(dir string, by *link) *link {
	w.state[dir] = 1
	for _, next := range w.below[dir] {
		last := cmp.Or(next.link, by)
		switch w.state[next.to] {
		case 0:
			if l := w.circle(next.to, last); l != nil {
				return l
			}
		case 1:
			return last
		}
	}
	w.state[dir] = 2
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
