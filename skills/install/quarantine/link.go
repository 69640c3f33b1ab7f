package quarantine

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	maxTarget = 1024 // bytes of the target of a link
	maxChain  = 8    // links on the way to a file
)

// Link notes a symbolic link, whose target is relative to its folder. Links are made
// by Seal, so that no file is written through one.
func (f *Folder) Link(name, target string) error {
	clean, err := f.add(name, false)
	if err != nil {
		return err
	}
	f.names.byKey[key(clean)] = entry{name: clean, link: true}
	l := &link{given: name, name: clean, target: target}
	switch {
	case target == "" || len(target) > maxTarget || strings.ContainsRune(target, 0):
		l.target, l.fault = "", fmt.Sprintf("has a target that is empty or longer than %d bytes", maxTarget)
	case path.IsAbs(target) || strings.Contains(target, `\`) || filepath.VolumeName(target) != "":
		l.fault = "leads to an absolute path"
	}
	f.links = append(f.links, l)
	return nil
}

// Links returns the targets of the links by their clean paths.
func (f *Folder) Links() map[string]string {
	targets := map[string]string{}
	for _, l := range f.links {
		targets[l.name] = l.target
	}
	return targets
}

// Seal makes the links, but for those that lead out of the quarantine, to nothing, or in a
// circle, also one of links to folders: see [Folder.LeftOut]. The error is an [*Error] if
// a folder is a bare repository of git. Nothing is written after it.
func (f *Folder) Seal() error {
	if f.sealed {
		return errSealed
	}
	f.sealed = true
	if err := f.names.checkBare(); err != nil {
		return err
	}
	f.checkLinks()
	for _, l := range f.links {
		if l.fault != "" {
			continue
		}
		if err := f.root.Symlink(filepath.FromSlash(l.target), filepath.FromSlash(l.name)); err != nil {
			return fmt.Errorf("make link: %w", err)
		}
	}
	return nil
}

// LeftOut returns the errors of the links that Seal did not make, by their clean paths.
func (f *Folder) LeftOut() map[string]error {
	faults := map[string]error{}
	for _, l := range f.links {
		if l.fault != "" {
			faults[l.name] = &Error{l.given, fmt.Sprintf("the link to %q %s", truncate.String(l.target, maxShown), l.fault), "put the file in its place"}
		}
	}
	return faults
}

// checkLinks finds the faults of links; a link over a faulty one has its fault.
func (f *Folder) checkLinks() {
	if len(f.links) == 0 {
		return
	}
	r := resolver{f.names, map[string]*link{}}
	for _, l := range f.links {
		r.links[l.name] = l
	}
	w := f.names.walk()
	for _, l := range f.links {
		var to string
		to, l.fault = r.resolve(l.name)
		if e, _ := f.names.get(to); l.fault == "" && e.folder {
			dir := path.Dir(l.name)
			w.below[dir] = append(w.below[dir], step{to, l})
		}
	}
	w.circles(".", nil)
	for _, l := range f.links {
		_, l.fault = r.resolve(l.name)
	}
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

// circles marks the links by which the walk through dir would not end. by is the last link
// on the way to dir.
func (w *walk) circles(dir string, by *link) {
	w.state[dir] = 1
	steps := w.below[dir]
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.to, b.to) })
	for _, next := range steps {
		last := cmp.Or(next.link, by)
		switch w.state[next.to] {
		case 0:
			w.circles(next.to, last)
		case 1:
			last.fault = "leads to a folder that leads back to it"
		}
	}
	w.state[dir] = 2
}

// A resolver follows links that are not made yet.
type resolver struct {
	names names
	links map[string]*link // by clean path
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
		l := r.links[at]
		known, exists := r.names.get(at)
		switch {
		case l != nil && l.fault != "":
			return "", l.fault
		case l != nil:
			if links++; links > maxChain {
				return "", fmt.Sprintf("leads in a circle, or over more than %d others", maxChain-1)
			}
			todo = append(strings.Split(l.target, "/"), todo...)
			continue
		case !exists, !known.folder && len(todo) > 0:
			return "", "leads to nothing"
		}
		done = at
	}
	return done, ""
}
