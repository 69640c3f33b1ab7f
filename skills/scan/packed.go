package scan

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// packageEnding returns what of a file's name says that a skill may be packed in
// it, or "". Sources: LinX's packages; the .skill files of Claude.
func packageEnding(name string) string {
	for _, ending := range []string{".zip", ".tar.gz", ".tgz", dotSkill} {
		if at := len(name) - len(ending); at > 0 && strings.EqualFold(name[at:], ending) {
			return name[at:]
		}
	}
	return ""
}

// dotSkill ends the name of a file that is meant to be nothing but a skill.
const dotSkill = ".skill"

// PackageName is the name of the folder that a package is unpacked to: that of
// the file, without what says how it is packed.
func PackageName(file string) string {
	name := path.Base(filepath.ToSlash(file))
	return strings.TrimSuffix(name, packageEnding(name))
}

// packed is where a package is.
type packed struct {
	host  string // its host path; "" where there is none
	file  string // its path for people
	named bool   // a person means it to be a skill
}

func (p *packed) is(other *packed) bool {
	return p == other || p != nil && other != nil && *p == *other
}

// packedRoot takes down a root that is a package, not a folder. It reports
// whether it is.
func (s *scanner) packedRoot() bool {
	files, ok := s.root.FS.(skillfs.Dir)
	if !ok || s.root.Plugins || s.root.Commands || s.root.Agents {
		return false
	}
	if info, err := os.Stat(s.root.Dir); err != nil || !info.Mode().IsRegular() {
		return false
	}
	files, name := files.Split()
	if packageEnding(name) == "" && !isPackage(files, name) {
		return false
	}
	s.memory.listings[s.root.Dir] = newListing(nil, "", nil) // the root is there
	s.pack(files, name, packed{host: s.root.Dir, file: s.root.Dir, named: true})
	return true
}

// isPackage reports whether a file begins as a package does, whatever its name.
func isPackage(files fs.FS, name string) bool {
	file, err := files.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	source, ok := file.(io.ReaderAt)
	return ok && skillfs.IsPackage(source)
}

// packages takes down the packed skills among a folder's entries.
func (s *scanner) packages(dir string, entries []fs.DirEntry) {
	for _, entry := range entries {
		ending := packageEnding(entry.Name())
		if ending == "" || entry.IsDir() {
			continue
		}
		name := s.regular(dir, entry)
		if name == "" {
			continue
		}
		if !s.count(name) {
			return
		}
		s.pack(s.files, name, packed{host: s.host(name), file: s.display(name), named: strings.EqualFold(ending, dotSkill)})
	}
}

// regular returns the file that an entry is, with links followed, or "".
func (s *scanner) regular(dir string, entry fs.DirEntry) string {
	name := path.Join(dir, entry.Name())
	if entry.Type().IsRegular() {
		return name
	}
	if entry.Type()&fs.ModeSymlink == 0 {
		return ""
	}
	real, err := skillfs.Resolve(s.root.FS, s.root.Dir, name)
	if err != nil || !s.isFile(real) {
		return ""
	}
	return real
}

// pack takes down that a skill may be packed in a file.
func (s *scanner) pack(files fs.FS, name string, at packed) {
	s.take(at.host, &candidate{skill: &skills.Skill{File: at.file, Files: skillfs.PackageFS(files, name)}, packed: &at})
}

// place is the host folder, or the package, that the candidate is in; "" where
// it has none.
func (c *candidate) place() string {
	if c.packed != nil {
		return c.packed.host
	}
	return c.skill.Dir
}

// errNoSkill is the error of a file that is no package, and that nobody takes for
// one.
var errNoSkill = errors.New("no skill is packed in it")

// loadPacked loads a skill from its package. What is kept of a file that has
// none is a skill without a name.
func (c *candidate) loadPacked(o Options, cache Cache) {
	c.skill.File = c.packed.file
	if cache == nil || c.packed.host == "" {
		c.err = c.parsePacked(o)
		return
	}
	key := c.key(o)
	if cache.Skill(key, c.skill) {
		if c.skill.Name == "" {
			c.skill.File, c.err = c.packed.file, errNoSkill
		}
		return
	}
	look := Look{Path: c.packed.host}
	if info, err := os.Lstat(look.Path); err == nil {
		look.Info = info
	}
	switch c.err = c.parsePacked(o); {
	case look.Info == nil || !look.Info.Mode().IsRegular():
		cache.KeepSkill(key, nil, []Look{look})
	case c.err == nil:
		cache.KeepSkill(key, c.skill, []Look{look})
	case errors.Is(c.err, errNoSkill):
		cache.KeepSkill(key, &skills.Skill{}, []Look{look})
	default:
		cache.KeepSkill(key, nil, []Look{look})
	}
}

func (c *candidate) parsePacked(o Options) error {
	files, err := c.skill.Files.(skillfs.Package).Hold()
	if err != nil {
		return c.packed.refuse(err)
	}
	defer files.Close()
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	inner := *c
	inner.dir, inner.file, inner.folder = files.Root(), skillFile(entries), files.Root()
	if inner.dir == "." {
		inner.folder = PackageName(c.packed.file)
	}
	inner.noTools, inner.noAgents = !has(entries, manifest.ToolsFile), !hasFolder(entries, "agents")
	c.skill.File = filepath.Join(c.packed.file, filepath.FromSlash(inner.dir), inner.file)
	done := readFrom(c.skill, files)
	defer done()
	if err := inner.parse(o); err != nil {
		return err
	}
	for _, note := range files.Notes() {
		c.skill.Problems = append(c.skill.Problems, skills.Problem{Severity: skills.Note, Path: c.packed.file, Message: note})
	}
	return nil
}

// refuse says what an error of opening the package comes to: [errNoSkill] where
// nobody means it to be a skill.
func (p *packed) refuse(err error) error {
	var fault *skillfs.ArchiveError
	switch {
	case !errors.As(err, &fault):
		return err
	case p.named:
		return &refusal{fault, skills.Error}
	case errors.Is(err, skillfs.ErrNoSkill):
		return errNoSkill
	}
	return &refusal{fault, skills.Note}
}

// refusal is why a package is not taken.
type refusal struct {
	fault    *skillfs.ArchiveError
	severity skills.Severity
}

func (r *refusal) Error() string { return r.fault.Error() }

// Problem returns the refusal as a problem of the package.
func (r *refusal) Problem(file string) skills.Problem {
	if r.fault.Entry != "" {
		file += "/" + r.fault.Entry
	}
	return skills.Problem{Severity: r.severity, Path: file, Message: r.fault.Message, Remedy: r.fault.Remedy}
}
