package scan

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// A pluginReader reads the plugins of one root: manifests, marketplaces, hooks,
// servers, commands and agents.
type pluginReader struct {
	*rootReader
	finder *finder
	found  bool            // a plugin or a marketplace
	skip   map[string]bool // plugins that a marketplace has loaded
}

// isManifestFolder reports whether a folder holds the manifest of the plugin that
// it is in, for Claude Code or for another agent: .claude-plugin, .cursor-plugin.
func isManifestFolder(dir string) bool {
	name := path.Base(dir)
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, "-plugin")
}

// plugin loads the plugin in the folder dir of a root: its manifest, then its
// parts. entry is the marketplace's entry, or nil.
func (s *pluginReader) plugin(dir, manifestPath string, entry *manifest.Plugin) {
	file := s.display(manifestPath)
	report := s.reporter(file)
	data, err := manifest.ReadFile(s.root.FS, manifestPath, manifest.MaxSize)
	if err != nil {
		s.reject(file, err)
		return
	}
	plugin := &skills.Plugin{Source: s.root.Source, Workspace: s.root.Within, Trusted: s.root.trusted, Installed: s.root.Installed, Dir: s.host(dir), File: file}
	m, err := manifest.ParsePlugin(data, plugin, s.folderName(dir), report)
	if err != nil {
		s.reject(file, err)
		return
	}
	if entry != nil {
		m.Supplement(entry)
	}
	if s.conduit(dir, manifestPath, m, report) {
		return
	}
	s.addPlugin(dir, m, report)
}

// conduit reports whether a manifest is of a plugin of Conduit's that has nothing
// but code: it has an id, and Python beside it.
func (s *pluginReader) conduit(dir, file string, m *manifest.Plugin, report manifest.Report) bool {
	if path.Base(file) != plainManifest || path.Dir(file) != dir || m.ID == "" || !s.isFile(path.Join(dir, "__init__.py")) {
		return false
	}
	if m.Named || slices.ContainsFunc([]string{"skills", "commands", "agents", "SKILL.md"}, func(part string) bool { return s.there(path.Join(dir, part)) }) {
		report(skills.Warning, manifest.Position{}, "", "it is a plugin of Conduit's: its Python code is not run, only its skills, commands and agents are read")
		return false
	}
	report(skills.Warning, manifest.Position{}, "write a SKILL.md for what its code does", "it is a plugin of Conduit's, whose Python code is not run; nothing else is in it, so it is left out")
	return true
}

// addPlugin adds a plugin and reads its parts.
func (s *pluginReader) addPlugin(dir string, m *manifest.Plugin, report manifest.Report) {
	plugin := m.Plugin
	known, rival := s.builder.addPlugin(plugin, s.root)
	if known {
		return
	}
	if rival != nil {
		report(skills.Warning, manifest.Position{}, "rename one of them", "the plugin name %q is also that of %s; the skills of both are loaded", plugin.Name, rival.File)
	}
	outer := s.finder.inPlugin
	s.finder.enter(plugin)
	defer s.finder.enter(outer)
	s.pluginSkills(dir, m, report)
	// As in Claude Code the command of commands/db/migrate.md is db:migrate.
	s.finder.markdown(dir, "commands", m.Commands, report, s.finder.command)
	s.finder.markdown(dir, "agents", m.Agents, report, s.finder.agent)
	plugin.Servers = readPart(s, dir, ".mcp.json", m.Servers, report, manifest.ParseServerFile)
	s.hooks(plugin, dir, m, report)
}

func (s *pluginReader) pluginSkills(dir string, m *manifest.Plugin, report manifest.Report) {
	standard := path.Join(dir, "skills")
	if m.Complete {
		// only the skills that the marketplace names
	} else if info, err := fs.Stat(s.root.FS, standard); err == nil && info.IsDir() {
		s.finder.skills(standard)
	} else if file := findSkillFile(s.root.FS, dir); file != "" {
		s.finder.skill(dir, file, nil)
	}
	for _, extra := range m.Skills {
		// A bare name is one below skills/, as Colony has it.
		if !strings.Contains(extra, "/") && !s.there(path.Join(dir, extra)) && s.there(path.Join(standard, extra)) {
			extra = path.Join("skills", extra)
		}
		if real, ok := s.inside(dir, "skills", extra, report); ok {
			s.finder.skills(real)
		}
	}
}

// maxShown bounds the servers, and the hooks, of a plugin.
const maxShown = 100

// hooks reads the hooks of a plugin.
func (s *pluginReader) hooks(plugin *skills.Plugin, dir string, m *manifest.Plugin, report manifest.Report) {
	plugin.Hooks = readPart(s, dir, "hooks/hooks.json", m.Hooks, report, manifest.ParseHookFile)
	if len(plugin.Hooks) > 0 {
		report(skills.Note, manifest.Position{}, "", "its hooks are not run")
	}
}

// readPart returns one part of a plugin: from the manifest, or from the files
// that it names, or else from the standard file. A file that is refused is a
// problem of that file alone.
func readPart[T any](s *pluginReader, dir, standard string, p manifest.Part[T], report manifest.Report, parse func([]byte) ([]T, error)) []T {
	var files []string
	switch at := path.Join(dir, standard); {
	case !p.Given && s.isFile(at):
		files = []string{at}
	case p.Given:
		for _, name := range p.Paths {
			if at, ok := s.inside(dir, p.Key, name, report); ok {
				files = append(files, at)
			}
		}
	}
	all := p.Content
	for _, file := range files {
		data, err := manifest.ReadFile(s.root.FS, file, manifest.MaxSize)
		if err == nil {
			var content []T
			content, err = parse(data)
			all = append(all, content...)
		}
		if err != nil {
			s.reject(s.display(file), err)
		}
	}
	return all[:min(len(all), maxShown)]
}
