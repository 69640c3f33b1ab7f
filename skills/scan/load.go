package scan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

func (c *candidate) load(o Options, cache Cache) {
	defer c.reading(o.readings)()
	if c.packed != nil {
		c.loadPacked(o, cache)
	} else if cache == nil || c.skill.Dir == "" {
		c.err = c.parse(o)
	} else if key := c.key(o); !cache.Skill(key, c.skill) {
		files, release := c.hold()
		defer release()
		looks := &looks{files: files, dir: c.skill.Dir}
		done := readFrom(c.skill, looks.view())
		c.err = c.parse(o)
		done()
		if c.err == nil && !looks.links && c.outside == "" {
			cache.KeepSkill(key, c.skill, looks.list)
		}
	}
	if c.err != nil {
		return
	}
	infer.Bind(c.skill)
	if c.outside != "" {
		c.skill.Files = &skillfs.View{FS: c.skill.Files, Added: &skillfs.Added{Name: c.skill.Entry.Script, From: c.rootFiles, Path: c.outside}}
	}
	checkRole(c.skill, o)
	for _, tool := range c.skill.Tools {
		checkRole(tool, o)
	}
	c.checkDisabled(o)
}

// hold returns the skill's files by way of the root that is held, until release
// is called, or else as they are.
func (c *candidate) hold() (files fs.FS, release func()) {
	if c.held != nil {
		if held, err := c.held.HoldSub(c.dir); err == nil {
			return held, func() { held.Close() }
		}
	}
	return c.skill.Files, func() {}
}

// open returns the candidate's files for reading many of them, until release is called.
func (c *candidate) open() (files fs.FS, release func(), err error) {
	if _, ok := c.skill.Files.(skillfs.Dir); !ok { // packed, or with a file from elsewhere
		return skillfs.Hold(c.skill.Files)
	}
	files, release = c.hold()
	return files, release, nil
}

// readFrom makes the skill's files be read from others that show the same, until
// done is called. The type of these must be comparable.
func readFrom(s *skills.Skill, files fs.FS) (done func()) {
	kept := s.Files
	s.Files = files
	return func() {
		if s.Files == files {
			s.Files = kept
		}
		for _, tool := range s.Tools {
			if tool.Files == files {
				tool.Files = kept
			}
		}
	}
}

// parse reads the candidate. Its program may lie outside of its folder: then
// outside is a path of its root.
func (c *candidate) parse(o Options) error {
	data, err := manifest.ReadFile(c.skill.Files, c.file, manifest.MaxSize)
	c.sum = sum(data)
	read := manifest.Options{Strict: o.Strict, ImageRole: o.ImageRole, Host: o.Host, Plain: c.plain, Sources: &infer.Sources{}}
	switch {
	case err != nil:
	case c.file == manifest.OngridFile:
		read.Ongrid = &manifest.OngridLocation{Root: c.root.Dir, Files: c.rootFiles, Dir: c.dir, Meant: c.root.Ongrid, Nested: c.nested}
		err = manifest.ParseOngrid(data, c.skill, read)
		c.outside = read.Ongrid.Outside
	case c.command:
		err = manifest.ParseCommand(data, c.skill, c.folder, read)
	default:
		read.Tools, read.Agent = c.beside(manifest.ToolsFile, c.noTools), c.beside(manifest.OpenAIFile, c.noAgents)
		err = manifest.ParseSkill(data, c.skill, c.folder, read)
	}
	if err == nil {
		infer.Arguments(c.skill, read.Sources)
	}
	return err
}

// beside reads a file beside the manifest, unless it is known to be absent.
func (c *candidate) beside(name string, absent bool) manifest.File {
	if absent {
		return manifest.File{}
	}
	data, err := manifest.ReadFile(c.skill.Files, name, manifest.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest.File{}
	}
	return manifest.File{Data: data, Err: err}
}

// loadPacked loads a skill from its package. The cache has a skill without a name
// for a file without a skill.
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
	c.err = c.parsePacked(o)
	switch {
	case look.Info == nil || !look.Info.Mode().IsRegular():
	case errors.Is(c.err, errNoSkill):
		cache.KeepSkill(key, &skills.Skill{}, []Look{look})
	case c.err == nil:
		cache.KeepSkill(key, c.skill, []Look{look})
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
	return inner.parse(o)
}

// reading notes the state of the candidate's files before it is read; done stores it.
func (c *candidate) reading(r *readings) (done func()) {
	if r == nil {
		return func() {}
	}
	files := c.manifests()
	looks := make([]reading, len(files))
	for i, file := range files {
		if i == 0 || !c.noTools { // else the walk has seen that there is none
			looks[i] = look(file)
		}
	}
	c.sum = 0
	return func() {
		for i, file := range files {
			if i == 0 {
				looks[i].sum = c.sum
			}
			if looks[i].stamp == (stamp.Stamp{}) {
				r.byFile.Delete(file)
			} else {
				r.byFile.Store(file, looks[i])
			}
		}
	}
}

// looks records the state of each path of a host folder at the first look.
type looks struct {
	files fs.FS
	dir   string
	list  []Look
	links bool // a link was met; its target is not recorded
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

// checkDisabled keeps the skill, and its tools, from being used where somebody's
// configuration says so.
func (c *candidate) checkDisabled(o Options) {
	if o.Disabled == nil || c.skill.Dir == "" {
		return
	}
	why := o.Disabled(c.skill.Dir, c.skill.Key, c.skill.Name)
	if why == "" {
		return
	}
	c.skill.Problems = append(c.skill.Problems, skills.Problem{Severity: skills.Note, Path: c.skill.File, Message: "it cannot be used: " + why})
	for _, skill := range append([]*skills.Skill{c.skill}, c.skill.Tools...) {
		skill.Unavailable, skill.ModelInvocable = why, false
	}
}

func checkRole(skill *skills.Skill, o Options) {
	if skill.Entry == nil || skill.Entry.ImageRole == "" || o.ImageRole == nil || o.ImageRole(skill.Entry.ImageRole) {
		return
	}
	role := skill.Entry.ImageRole
	skill.Unavailable = "no image is configured for role " + role
	skill.Problems = append(skill.Problems, skills.Problem{Severity: skills.Error, Path: skill.File, Message: skill.Unavailable, Remedy: "set images." + role + " in the configuration"})
}
