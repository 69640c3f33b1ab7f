package scan

import (
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Cache keeps what was read for the next start. It may forget anything at any
// time, and must return nothing that a file has outdated. Its methods are called
// concurrently. What it returns is not changed.
type Cache interface {
	// Skill fills in what was kept under a key, but for where the skill is, which
	// it comes with. It reports whether there was anything.
	Skill(key string, skill *skills.Skill) bool
	// KeepSkill keeps a skill as it is now, for as long as what was looked at for
	// it is the same. Nil keeps nothing: then the looks are for Changed.
	KeepSkill(key string, skill *skills.Skill, looks []Look)
	// Folder returns the entries of a host folder, of which names and types count,
	// and whether they are known.
	Folder(dir string) ([]fs.DirEntry, bool)
	// KeepFolder keeps the entries of a folder, which were read after the look.
	KeepFolder(look Look, entries []fs.DirEntry)
	// Close is called when the scan is over, and after it at most Changed, once.
	Close()
	// Changed returns what of all that was looked at is not as it was, or may not
	// be: files, and folders whose entries may be others.
	Changed() (files, folders []string)
}

// A Look is what was found at a host path, with no link followed.
type Look struct {
	Path string
	Info fs.FileInfo // nil where nothing was there
}

// key names the candidate in a cache, with what of the options its reading
// depends on: see [parser.roleOf].
func (c *candidate) key(o Options) string {
	s := c.skill
	return strings.Join([]string{
		c.place(), c.file, c.folder, string(s.Source), s.Plugin, s.PluginDir,
		strconv.FormatBool(c.noTools), strconv.FormatBool(c.noAgents), strconv.FormatBool(c.plain), strconv.FormatBool(c.command),
		strconv.FormatBool(o.ImageRole != nil && o.ImageRole("node")),
	}, "\x00")
}

// looks notes what is looked at in a folder on the host, as it was before.
type looks struct {
	files fs.FS
	dir   string
	list  []Look
	links bool // a link was met: what it leads to is not noted
}

// view returns the folder's files, whose looks are noted.
func (l *looks) view() fs.FS { return &skillfs.View{FS: l.files, Looked: l.looked} }

// looked notes name and the folders above it. Nothing is known of the looks in
// a sub file system, so the skill is not kept.
func (l *looks) looked(op, name string) {
	if op == "sub" {
		l.links = true
		return
	}
	for i, r := range name + "/" {
		if r == '/' && fs.ValidPath(name[:i]) {
			l.note(name[:i])
		}
	}
}

func (l *looks) note(name string) {
	host := filepath.Join(l.dir, filepath.FromSlash(name))
	for _, known := range l.list {
		if known.Path == host {
			return
		}
	}
	info, err := fs.Lstat(l.files, name)
	if err != nil {
		info = nil
	}
	l.links = l.links || info != nil && info.Mode()&fs.ModeSymlink != 0
	l.list = append(l.list, Look{host, info})
}
