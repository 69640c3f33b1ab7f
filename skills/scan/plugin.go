package scan

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"path"
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
	s.code(dir, manifestPath, m)
	s.addPlugin(dir, m, report)
}

// code adds a server to a plugin of Conduit's, which has an id, and a Python package or an ES
// module beside its manifest: the server runs that.
func (s *pluginReader) code(dir, file string, m *manifest.Plugin) {
	if path.Base(file) != plainManifest || path.Dir(file) != dir || m.ID == "" {
		return
	}
	code := &skills.PluginCode{ID: m.ID, Version: m.Plugin.Version, Settings: m.Settings}
	program, entry := "python3", "__init__.py"
	if !s.isFile(path.Join(dir, entry)) {
		code.Node, program = true, "node"
		if entry = s.module(dir); entry == "" {
			return
		}
	}
	m.Plugin.Name = cmp.Or(manifest.CleanName(m.ID), m.Plugin.Name)
	m.Servers.Content = append(m.Servers.Content, skills.MCPServer{
		Name: "tools", Transport: "stdio", Command: program + " " + entry, Argv: []string{program, "${CLAUDE_PLUGIN_ROOT}/" + entry}, Code: code,
	})
}

// module returns the ES module in a folder: index.mjs, or the main of a package.json that
// says that it is one; "" is none.
func (s *pluginReader) module(dir string) string {
	const index = "index.mjs"
	if s.isFile(path.Join(dir, index)) {
		return index
	}
	var p struct{ Type, Main string }
	data, err := manifest.ReadFile(s.root.FS, path.Join(dir, "package.json"), manifest.MaxSize)
	if err != nil || json.Unmarshal(data, &p) != nil || p.Type != "module" && path.Ext(p.Main) != ".mjs" {
		return ""
	}
	main := path.Clean(cmp.Or(p.Main, "index.js"))
	if !fs.ValidPath(main) || !s.isFile(path.Join(dir, main)) {
		return ""
	}
	return main
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
	plugin.Hooks = readPart(s, dir, "hooks/hooks.json", m.Hooks, report, manifest.ParseHookFile)
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
