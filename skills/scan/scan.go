// Package scan finds the skills that a person has and reads them into one catalog.
//
// Start with [Scan], which reads a list of [Root] folders into an immutable
// catalog, and with [NewScanner] to keep one fresh. A skill that cannot be read
// costs a problem, never the scan.
package scan

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Root is a folder that is scanned.
type Root struct {
	Source skills.Source
	// Dir is the absolute host folder; "" for a file system that is none. It may
	// also be a file that one skill is packed in.
	Dir string
	// Within is a host folder above Dir, which others may write to: no link in
	// it makes Dir a folder outside of it. "" trusts the way to Dir.
	Within string
	// FS is what is read; nil is the folder Dir.
	FS fs.FS
	// Label names the root where it has no Dir.
	Label string
	// Plugins says that the root holds plugins, not skills. Either kind may
	// also be one itself.
	Plugins bool
	// Commands and Agents say that the root holds Markdown files of that kind, as
	// Claude Code has them outside of plugins.
	Commands, Agents bool
	// Named says that a person has named the root of plugins, so that it is a
	// fault where it has none.
	Named bool
	// Ongrid says that each skill.json in the root is meant to be a skill of
	// ongrid's: one that cannot be used is a fault.
	Ongrid bool
}

// String names the root for people.
func (r Root) String() string { return cmp.Or(r.Dir, r.Label) }

// Options configure [Scan]. The zero value is usable.
type Options struct {
	// Depth is how many folders below a root are entered; 0 is [DefaultDepth].
	Depth int
	// Manifests bounds the skills, commands and plugins read below one root; 0 is
	// [DefaultManifests].
	Manifests int
	// Folders bounds the folders read below one root, not counting those inside of
	// skills; 0 is [DefaultFolders].
	Folders int
	// ImageRole reports whether an image is configured for a role; nil accepts
	// every role. It is called concurrently.
	ImageRole func(role string) bool
	// Disabled says why a skill in a host folder may not be used, by the names that
	// it has where it is configured; nil and "" allow all. It is called
	// concurrently.
	Disabled func(dir string, names ...string) (why string)
	// Host says what is wrong with a host of a skill's sandbox.network, and what
	// to write; nil accepts all. It is called concurrently.
	Host func(host string) error
	// Problems are added to those of each catalog.
	Problems []skills.Problem
	// Cache opens what is asked before anything is read, for each scan of all
	// roots; nil reads everything.
	Cache func() Cache

	// readings get each file that a skill is read from; nil where nobody asks.
	readings *readings
}

// Skip reports whether folders of this name are never entered.
func Skip(name string) bool {
	switch name {
	case ".git", "node_modules", ".venv", "__pycache__":
		return true
	}
	return false
}

// Scan reads the roots, which come in order of priority, into a new catalog.
// A root that does not exist is fine. Options may be nil. A scan that ctx ends
// early returns the cause.
func Scan(ctx context.Context, roots []Root, options *Options) (*skills.Catalog, error) {
	return NewScanner(roots, options).Scan(ctx)
}

// scanner reads one root.
type scanner struct {
	ctx         context.Context
	options     Options
	root        Root
	builder     *builder
	seen        map[string]bool // folders of this root, without links, that were entered
	bounds      bounds
	foundPlugin bool            // or a marketplace
	inPlugin    *skills.Plugin  // whose skills are read; nil outside of plugins
	skip        map[string]bool // plugins that a marketplace has loaded

	before *memory             // what is known already, or nil
	memory *memory             // what is learnt
	files  fs.FS               // the root's; Root.FS takes down what is looked at
	held   *skillfs.Dir        // the root's folder, open; nil where it has none
	ahead  map[string]*listing // folders that were read before their turn
}

func (s *scanner) scan() {
	if s.root.FS == nil {
		if err := s.open(); err != nil {
			s.reject(s.root.String(), err)
			return
		}
	}
	if s.packedRoot() {
		return
	}
	s.hold()
	defer s.reportBounds()
	_, err := fs.Stat(s.root.FS, ".")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		s.reject(s.root.String(), err)
	case s.root.Plugins:
		s.walk(".", 0, s.visitPlugin)
		if s.root.Named && !s.foundPlugin {
			s.problem(skills.Problem{Severity: skills.Error, Path: s.root.String(), Message: "there is no plugin in it", Remedy: "name a folder with .claude-plugin/plugin.json, or folders of such; folders of skills are named with --skills"})
		}
	case s.root.Commands:
		s.markdownIn(".", ".", "", 0, s.command)
	case s.root.Agents:
		s.markdownIn(".", ".", "", 0, s.agent)
	default:
		s.skills(".")
	}
}

// hold keeps the root's folder open for the scan, and takes down what is looked
// at in it.
func (s *scanner) hold() {
	if d, ok := s.root.FS.(skillfs.Dir); ok {
		if held, err := d.Hold(); err == nil {
			s.held = &held
			s.builder.held = append(s.builder.held, held)
		}
	}
	s.files = s.root.FS
	s.root.FS = s.memory.probe(s.files, s.host)
}

// open finds the folder of the root, with links followed.
func (s *scanner) open() error {
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

// skills reads the skills at and below the folder dir.
func (s *scanner) skills(dir string) { s.walk(dir, 0, s.visitSkill) }

func (s *scanner) visitSkill(dir string, entries []fs.DirEntry) (enter bool) {
	name, ongrid := skillFile(entries), has(entries, manifest.OngridFile)
	switch {
	case name != "":
		s.skill(dir, name, entries)
		if ongrid {
			s.problem(manifest.ProblemOf(s.display(path.Join(dir, manifest.OngridFile)), &manifest.ForeignError{Reason: "there is a " + name + " beside it"}))
		}
	case ongrid:
		s.skill(dir, manifest.OngridFile, nil)
	default:
		s.misnamed(dir, entries)
	}
	s.packages(dir, entries)
	return true
}

func (s *scanner) visitPlugin(dir string, entries []fs.DirEntry) (enter bool) {
	if s.skip[dir] || isManifestFolder(dir) {
		return false
	}
	if at := findMarketplace(s.root, dir, entries); at != "" {
		s.foundPlugin = true
		if s.marketplace(dir, at) {
			return false
		}
	}
	manifest := findManifest(s.root.FS, dir, entries)
	if manifest == "" {
		return true
	}
	s.foundPlugin = true
	if s.countManifest(dir) {
		s.plugin(dir, manifest, nil)
	}
	return false
}

// seenKey is a folder's key in seen: a plugin's folder is entered once to find it
// and once for its skills.
func (s *scanner) seenKey(dir string) string {
	if s.inPlugin != nil {
		return s.inPlugin.Name + "\x00" + dir
	}
	return dir
}

// walk calls visit for dir and the folders below it, in sorted order, each
// once, whatever links lead there.
func (s *scanner) walk(dir string, depth int, visit func(dir string, entries []fs.DirEntry) (enter bool)) {
	if s.ctx.Err() != nil {
		return
	}
	key := s.seenKey(dir)
	if s.seen[key] || !s.count(dir) {
		return
	}
	s.seen[key] = true
	entries, err := s.list(dir)
	if err != nil {
		s.reject(s.display(dir), err)
		return
	}
	if !visit(dir, entries) {
		return
	}
	if depth > 0 && (skillFile(entries) != "" || has(entries, manifest.OngridFile)) {
		outer := s.bounds.own
		s.bounds.own = new(int)
		defer func() { s.bounds.own = outer }()
	}
	children := s.children(dir, entries)
	if depth < s.options.Depth {
		s.readAhead(children)
	}
	for _, child := range children {
		if depth+1 > s.options.Depth {
			s.bounds.tooDeep = append(s.bounds.tooDeep, s.leave(child))
			continue
		}
		s.walk(child, depth+1, visit)
	}
}

// children returns the folders among a folder's entries, with links followed.
func (s *scanner) children(dir string, entries []fs.DirEntry) []string {
	var children []string
	for _, entry := range entries {
		if child := s.child(dir, entry); child != "" {
			children = append(children, child)
		}
	}
	return children
}

// isFile reports whether there is a file at a path of the root.
func (s *scanner) isFile(name string) bool {
	info, err := fs.Stat(s.root.FS, name)
	return err == nil && info.Mode().IsRegular()
}

// child returns the folder that an entry is, with links followed, or "".
func (s *scanner) child(dir string, entry fs.DirEntry) string {
	name := path.Join(dir, entry.Name())
	switch {
	case Skip(entry.Name()):
		return ""
	case entry.IsDir():
		return name
	case entry.Type()&fs.ModeSymlink == 0:
		return ""
	}
	real, err := skillfs.Resolve(s.root.FS, s.root.Dir, name)
	if errors.Is(err, skillfs.ErrLeaves) {
		s.leaving(name)
	}
	if err != nil {
		return ""
	}
	if info, err := fs.Stat(s.root.FS, real); err != nil || !info.IsDir() {
		return ""
	}
	return real
}

// leaving reports a link out of the root, where it leads to a skill.
func (s *scanner) leaving(name string) {
	if s.root.Dir == "" {
		return
	}
	target, err := filepath.EvalSymlinks(s.host(name))
	if err != nil || findSkillFile(skillfs.DirFS(target), ".") == "" {
		return
	}
	s.problem(skills.Problem{Severity: skills.Warning, Path: s.display(name), Message: "the link leads out of its root to " + target + " and was not followed", Remedy: "add --skills " + target})
}

// misnamed tells of a file that its author may take for a SKILL.md.
func (s *scanner) misnamed(dir string, entries []fs.DirEntry) {
	for _, entry := range entries {
		switch strings.ToLower(entry.Name()) {
		case "skill.txt", "skill.md.txt", "skill.markdown", "skill.mdx", "skill.rst":
			s.problem(skills.Problem{Severity: skills.Warning, Path: s.display(path.Join(dir, entry.Name())), Message: "it is not read: a skill is defined by a file SKILL.md", Remedy: "rename it"})
		}
	}
}

// isSkillFile accepts SKILL.md as people write it.
func isSkillFile(entry fs.DirEntry) bool {
	return strings.EqualFold(entry.Name(), "SKILL.md") && !entry.IsDir()
}

// skillFile returns the name of the SKILL.md among a folder's sorted entries, or
// "". Capitals sort first, so of several SKILL.md itself is preferred.
func skillFile(entries []fs.DirEntry) string {
	if i := slices.IndexFunc(entries, isSkillFile); i >= 0 {
		return entries[i].Name()
	}
	return ""
}

// has reports whether there is a file of this name among a folder's entries.
func has(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && !e.IsDir() })
}

// hasFolder reports whether there may be a folder of this name among a folder's
// entries.
func hasFolder(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

func findSkillFile(fsys fs.FS, dir string) string {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return ""
	}
	return skillFile(entries)
}

// skill takes down that there is a skill in the folder dir, which has entries, or
// others where they are nil.
func (s *scanner) skill(dir, file string, entries []fs.DirEntry) {
	skill := &skills.Skill{Dir: s.host(dir), File: s.display(path.Join(dir, file)), Files: skillfs.Sub(s.files, dir)}
	s.take(skill.Dir, &candidate{
		skill: skill, dir: dir, file: file, folder: s.folderName(dir), held: s.held,
		rootFiles: s.files, nested: s.bounds.own != nil,
		noTools: entries != nil && !has(entries, manifest.ToolsFile), noAgents: entries != nil && !hasFolder(entries, "agents"), plain: entries != nil && plain(entries),
	})
}

// take takes down a skill at a host path, unless that was done already.
func (s *scanner) take(at string, c *candidate) {
	c.root = s.root
	c.skill.Source, c.skill.Workspace = s.root.Source, s.root.Within
	if s.inPlugin != nil {
		c.skill.Plugin, c.skill.PluginDir = s.inPlugin.Name, s.inPlugin.Dir
	}
	counted := c.dir
	if c.command {
		counted = path.Join(c.dir, c.file)
	}
	if s.builder.enter(c.skill.Plugin, at, c) && (c.packed != nil || s.countManifest(counted)) {
		s.builder.candidates = append(s.builder.candidates, c)
	}
}

// A candidate is a skill that was found, and then read.
type candidate struct {
	skill     *skills.Skill
	root      Root
	dir       string       // of the root
	file      string       // of Skill.Files
	folder    string       // the folder's name; of a command, its own
	held      *skillfs.Dir // the files while the scan lasts; nil for Skill.Files
	command   bool         // it is one, not a SKILL.md
	noTools   bool         // it has no tools.yaml
	noAgents  bool         // and no folder agents
	plain     bool         // and nothing else to run
	nested    bool         // it lies inside of another skill
	rootFiles fs.FS        // of its root
	outside   string       // path in the root of a program that is not in its folder; or ""
	packed    *packed      // it is in a package, of which dir, file and folder are not known; or nil
	err       error        // why it did not load
	sum       uint64       // of the manifest's content; 0 where it was not read
	behind    bool         // another one in its root comes before it and has its name
	above     string       // the folder that tells it from others of its name
	copied    bool         // it has the same files as another one of its name
	original  bool         // another one has the same files
}

// is reports whether two candidates are read from the same file to the same end.
func (c *candidate) is(other *candidate) bool {
	a, b := c.skill, other.skill
	return c.file == other.file && c.folder == other.folder && c.dir == other.dir && c.root.String() == other.root.String() &&
		a.Source == b.Source && a.Dir == b.Dir && a.Plugin == b.Plugin && a.PluginDir == b.PluginDir && a.Workspace == b.Workspace && c.packed.is(other.packed)
}

// fresh returns the skill with what is known of its place.
func (c *candidate) fresh() *skills.Skill {
	s, files := c.skill, c.skill.Files
	if view, ok := files.(*skillfs.View); ok {
		files = view.FS
	}
	return &skills.Skill{Source: s.Source, Dir: s.Dir, File: s.File, Files: files, Plugin: s.Plugin, PluginDir: s.PluginDir, Workspace: s.Workspace}
}

// load reads the candidates that before does not know, on all processors, and
// then takes them in the order in which they were found.
func (b *builder) load(ctx context.Context, o Options, before *memory) {
	var unknown []*candidate
	for _, c := range b.candidates {
		if !before.recall(c) {
			unknown = append(unknown, c)
		}
	}
	share(len(unknown), func(i int) {
		if ctx.Err() == nil {
			unknown[i].load(o, b.cache)
		}
	})
	b.settleNames()
	for _, behind := range []bool{false, true} {
		for _, c := range b.candidates {
			c.held = nil
			switch {
			case c.behind != behind || c.copied || errors.Is(c.err, errNoSkill):
			case c.err != nil:
				b.problems = append(b.problems, manifest.ProblemOf(c.skill.File, c.err))
			default:
				b.addSkill(c.skill, c.root)
			}
		}
	}
	for _, c := range b.candidates {
		if c.err == nil && !c.copied {
			b.addTools(c.skill, c.root)
		}
	}
}

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
		} else {
			cache.KeepSkill(key, nil, looks.list)
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

// parse reads the candidate. What it runs may lie outside of its folder: then
// outside is a path of its root.
func (c *candidate) parse(o Options) error {
	data, err := manifest.ReadFile(c.skill.Files, c.file, manifest.MaxSize)
	c.sum = sum(data)
	read := manifest.Options{ImageRole: o.ImageRole, Host: o.Host, NoTools: c.noTools, NoAgents: c.noAgents, Plain: c.plain, Sources: &infer.Sources{}}
	switch {
	case err != nil:
	case c.file == manifest.OngridFile:
		read.Ongrid = &manifest.OngridLocation{Root: c.root.Dir, Files: c.rootFiles, Dir: c.dir, Meant: c.root.Ongrid, Nested: c.nested}
		err = manifest.ParseOngrid(data, c.skill, read)
		c.outside = read.Ongrid.Outside
	case c.command:
		err = manifest.ParseCommand(data, c.skill, c.folder, read)
	default:
		err = manifest.ParseSkill(data, c.skill, c.folder, read)
	}
	if err == nil {
		infer.Arguments(c.skill, read.Sources)
	}
	return err
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

func (s *scanner) problem(p skills.Problem) { s.builder.problems = append(s.builder.problems, p) }

// reject reports why an item did not load.
func (s *scanner) reject(file string, err error) { s.problem(manifest.ProblemOf(file, err)) }

// display names a path of the root for people.
func (s *scanner) display(name string) string {
	if s.root.Dir == "" {
		return path.Join(s.root.Label, name)
	}
	return s.host(name)
}

// host returns the host path of a path of the root, or "".
func (s *scanner) host(name string) string {
	if s.root.Dir == "" {
		return ""
	}
	return filepath.Join(s.root.Dir, filepath.FromSlash(name))
}

// folderName names a folder of the root; the root itself by its host folder.
func (s *scanner) folderName(dir string) string {
	if dir != "." {
		return path.Base(dir)
	}
	if s.root.Dir == "" {
		return PackageName(s.root.Label)
	}
	return filepath.Base(s.root.Dir)
}

// plain reports whether a folder holds nothing but text: no folder, and no file
// that could be a script.
func plain(entries []fs.DirEntry) bool {
	for _, entry := range entries {
		switch strings.ToLower(path.Ext(entry.Name())) {
		case ".md", ".txt":
			if !entry.IsDir() {
				continue
			}
		}
		return false
	}
	return true
}
