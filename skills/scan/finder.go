package scan

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A finder adds the skills of one root to the builder as candidates: folders,
// packages and commands.
type finder struct {
	*rootReader
	walker   *walker
	inPlugin *skills.Plugin // the plugin whose skills are read; nil outside of plugins
}

// enter makes the next skills those of a plugin, whose folders are walked again: it was
// walked to find the plugin. nil is no plugin.
func (s *finder) enter(plugin *skills.Plugin) {
	s.inPlugin, s.walker.scope = plugin, ""
	if plugin != nil {
		s.walker.scope = plugin.Name
	}
}

// skills reads the skills at and below the folder dir.
func (s *finder) skills(dir string) { s.walker.walk(dir, 0, s.visitSkill) }

func (s *finder) visitSkill(dir string, entries []fs.DirEntry) (enter bool) {
	name, ongrid := skillFile(entries), has(entries, manifest.OngridFile)
	switch {
	case name != "":
		s.skill(dir, name, entries)
		if ongrid {
			s.problem(manifest.ProblemOf(s.display(path.Join(dir, manifest.OngridFile)), manifest.Foreign("there is a "+name+" beside it")))
		}
	case ongrid:
		s.skill(dir, manifest.OngridFile, nil)
	default:
		s.misnamed(dir, entries)
	}
	if s.root.Flat && (name != "" || ongrid) {
		return false
	}
	s.packages(dir, entries)
	return true
}

// misnamed reports a file that its author may mistake for a SKILL.md.
func (s *finder) misnamed(dir string, entries []fs.DirEntry) {
	for _, entry := range entries {
		switch strings.ToLower(entry.Name()) {
		case "skill.txt", "skill.md.txt", "skill.markdown", "skill.mdx", "skill.rst":
			s.problem(skills.Problem{Severity: skills.Warning, Path: s.display(path.Join(dir, entry.Name())), Message: "it is not read: a skill is defined by a file SKILL.md", Remedy: "rename it"})
		}
	}
}

// skill adds the skill in the folder dir. entries are the folder's; nil is
// unknown.
func (s *finder) skill(dir, file string, entries []fs.DirEntry) {
	skill := &skills.Skill{Dir: s.host(dir), File: s.display(path.Join(dir, file)), Files: skillfs.Sub(s.files, dir)}
	s.take(skill.Dir, &candidate{
		skill: skill, dir: dir, file: file, folder: s.folderName(dir), held: s.held,
		rootFiles: s.files, nested: s.walker.bounds.own != nil,
		noTools: entries != nil && !has(entries, manifest.ToolsFile), noAgents: entries != nil && !hasFolder(entries, "agents"), plain: entries != nil && plain(entries),
	})
}

// command adds the command in a file.
func (s *finder) command(file, name string) {
	folder := path.Dir(file)
	skill := &skills.Skill{Dir: s.host(folder), File: s.display(file), Files: skillfs.Sub(s.lasting, folder)}
	s.take(s.host(file), &candidate{skill: skill, dir: folder, held: s.held, file: path.Base(file), folder: manifest.CommandName(name), command: true})
}

// take adds a candidate at a host path, unless it was added before.
func (s *finder) take(at string, c *candidate) {
	c.root = s.root
	c.skill.Source, c.skill.Workspace, c.skill.Trusted = s.root.Source, s.root.Within, s.root.trusted
	c.skill.Installed = s.root.Installed
	if s.inPlugin != nil {
		c.skill.Plugin, c.skill.PluginDir = s.inPlugin.Name, s.inPlugin.Dir
	}
	counted := c.dir
	if c.command {
		counted = path.Join(c.dir, c.file)
	}
	if s.builder.enter(c.skill.Plugin, at, c) && (c.packed != nil || s.walker.countManifest(counted)) {
		s.builder.candidates = append(s.builder.candidates, c)
	}
}

// packedRoot adds the skill of a root that is a file, not a folder. It reports whether
// the root is one.
func (s *finder) packedRoot() bool {
	if s.root.Dir == "" || s.root.Plugins || s.root.Commands || s.root.Agents {
		return false
	}
	if info, err := os.Stat(s.root.Dir); err != nil || !info.Mode().IsRegular() {
		return false
	}
	above := cmp.Or(s.root.Within, filepath.Dir(s.root.Dir))
	name, err := filepath.Rel(above, s.root.Dir)
	if err != nil {
		return false
	}
	s.memory.listings[s.root.Dir] = listing{} // the root is there
	s.pack(skillfs.DirFS(above), filepath.ToSlash(name), packed{host: s.root.Dir, file: s.root.Dir, named: true})
	return true
}

// packages adds the packed skills among a folder's entries.
func (s *finder) packages(dir string, entries []fs.DirEntry) {
	for _, entry := range entries {
		ending := packageEnding(entry.Name())
		if ending == "" || entry.IsDir() {
			continue
		}
		name := s.regular(dir, entry)
		if name == "" {
			continue
		}
		if !s.walker.count(name) {
			return
		}
		s.pack(s.files, name, packed{host: s.host(name), file: s.display(name), named: strings.EqualFold(ending, dotSkill)})
	}
}

// regular returns the file that an entry is, with links followed, or "".
func (s *finder) regular(dir string, entry fs.DirEntry) string {
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

// pack adds a file in which a skill may be packed.
func (s *finder) pack(files fs.FS, name string, at packed) {
	s.take(at.host, &candidate{skill: &skills.Skill{File: at.file, Files: skillfs.PackageFS(files, name)}, packed: &at})
}
