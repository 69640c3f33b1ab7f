package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A rootReader opens one root and names its files for people.
type rootReader struct {
	root    Root
	builder *builder
	memory  *memory                  // records the scan for the next one
	files   fs.FS                    // the root's; Root.FS records each look for memory, and lives as long as the scan
	lasting fs.FS                    // like Root.FS, for skills, which live longer
	held    *skillfs.Dir             // the root's folder, open; nil where it has none
	ahead   func(folder string) bool // of the options; nil where a link leads to the root: a watcher has one watch for both paths
}

// open finds the folder of the root, with links followed.
func (s *rootReader) open() error {
	if s.root.Within == "" {
		if real, err := filepath.EvalSymlinks(s.root.Dir); err == nil {
			s.root.Dir = real
		}
		s.root.FS = skillfs.DirFS(s.root.Dir)
		return nil
	}
	outer := skillfs.DirFS(s.root.Within)
	below, err := filepath.Rel(s.root.Within, s.root.Dir)
	if err != nil {
		return err
	}
	real, err := skillfs.Resolve(outer, s.root.Within, filepath.ToSlash(below))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		real = filepath.ToSlash(below) // which is fine, and seen to by the caller
	case errors.Is(err, skillfs.ErrLeaves):
		return manifest.Errorf(manifest.Position{}, "name the folder with --skills or --plugins, if you trust it", "a link leads out of %s", s.root.Within)
	case err != nil:
		return err
	}
	s.root.Dir = filepath.Join(s.root.Within, filepath.FromSlash(real))
	s.root.FS = skillfs.Sub(outer, real)
	return nil
}

// hold keeps the root's folder open for the scan, and records each look in it.
func (s *rootReader) hold() {
	if d, ok := s.root.FS.(skillfs.Dir); ok {
		if held, err := d.Hold(); err == nil {
			s.held = &held
			s.builder.held = append(s.builder.held, held)
		}
	}
	if s.memory.ahead != nil && skillfs.Resolved(s.root.Dir) == s.root.Dir {
		s.ahead = s.memory.ahead
	}
	s.files = s.root.FS
	s.root.FS, s.lasting = s.memory.probe(s.reader(), s.host), s.memory.probe(s.files, s.host)
}

// reader returns the file system that folders are read from.
func (s *rootReader) reader() fs.FS {
	if s.held != nil {
		return *s.held
	}
	return s.files
}

// host returns the host path of a path of the root, or "".
func (s *rootReader) host(name string) string {
	if s.root.Dir == "" {
		return ""
	}
	return filepath.Join(s.root.Dir, filepath.FromSlash(name))
}

// display names a path of the root for people.
func (s *rootReader) display(name string) string {
	if s.root.Dir == "" {
		return path.Join(s.root.Label, name)
	}
	return s.host(name)
}

// folderName names a folder of the root; the root itself by its host folder.
func (s *rootReader) folderName(dir string) string {
	if dir != "." {
		return path.Base(dir)
	}
	if s.root.Dir == "" {
		return PackageName(s.root.Label)
	}
	return filepath.Base(s.root.Dir)
}

// isFile reports whether there is a file at a path of the root.
func (s *rootReader) isFile(name string) bool {
	info, err := fs.Stat(s.root.FS, name)
	return err == nil && info.Mode().IsRegular()
}

// there reports whether there is something at a path of the root.
func (s *rootReader) there(name string) bool {
	_, err := fs.Stat(s.root.FS, name)
	return fs.ValidPath(name) && err == nil
}

// inside returns the path in the root of a file or folder that a plugin names,
// with links followed. It reports a path that leads out of the plugin or cannot
// be read.
func (s *rootReader) inside(dir, what, name string, report manifest.Report) (real string, ok bool) {
	real, err := skillfs.Resolve(skillfs.Sub(s.root.FS, dir), s.host(dir), path.Clean(name))
	switch {
	case errors.Is(err, skillfs.ErrLeaves):
		report(skills.Error, manifest.Position{}, "put the "+what+" into the plugin's folder", "the %s path %q leads out of the plugin", what, name)
		return "", false
	case err != nil:
		report(skills.Error, manifest.Position{}, "correct the path", "the %s path %q cannot be read: %v", what, name, errors.Unwrap(err))
		return "", false
	}
	return path.Join(dir, real), true
}

// real returns the path of a file of a plugin with links followed, or "" for one
// that is not in the plugin.
func (s *rootReader) real(plugin, file string, entry fs.DirEntry) string {
	if entry.Type().IsRegular() {
		return file
	}
	if entry.Type()&fs.ModeSymlink == 0 {
		return ""
	}
	below := file
	if plugin != "." {
		below = strings.TrimPrefix(file, plugin+"/")
	}
	real, err := skillfs.Resolve(skillfs.Sub(s.root.FS, plugin), s.host(plugin), below)
	if errors.Is(err, skillfs.ErrLeaves) {
		s.problem(skills.Problem{Severity: skills.Warning, Path: s.display(file), Message: "the link leads out of its plugin, or folder, and was not followed", Remedy: "put a file there"})
	}
	if err != nil {
		return ""
	}
	return path.Join(plugin, real)
}

func (s *rootReader) problem(p skills.Problem) { s.builder.problems = append(s.builder.problems, p) }

// reject reports why an item did not load.
func (s *rootReader) reject(file string, err error) { s.problem(manifest.ProblemOf(file, err)) }

// reporter returns a report for a file, with the same limit as for a skill.
func (s *rootReader) reporter(file string) manifest.Report {
	told := 0
	return func(severity skills.Severity, at manifest.Position, remedy, format string, args ...any) {
		if told++; told > manifest.MaxProblems && severity != skills.Error {
			return
		}
		s.problem(skills.Problem{Severity: severity, Path: file, Line: at.Line, Col: at.Col, Message: fmt.Sprintf(format, args...), Remedy: remedy})
	}
}
