package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// manifests are where a plugin's manifest may be, in its folder: for Claude Code,
// for Codex, as others have it, and for Gemini CLI. The first one counts.
var manifests = [...]string{".claude-plugin/plugin.json", ".codex-plugin/plugin.json", plainManifest, geminiManifest}

const (
	plainManifest  = "plugin.json"
	geminiManifest = "gemini-extension.json"
)

// findManifest returns the path of the manifest in a folder, or "". The entries of
// the folder may be nil.
func findManifest(fsys fs.FS, dir string, entries []fs.DirEntry) string {
	for _, name := range manifests {
		first, _, _ := strings.Cut(name, "/")
		if entries != nil && !hasFolder(entries, first) {
			continue
		}
		at := path.Join(dir, name)
		if info, err := fs.Stat(fsys, at); err == nil && info.Mode().IsRegular() {
			return at
		}
	}
	return ""
}

// isManifestFolder reports whether a folder holds the manifest of the plugin that
// it is in, for Claude Code or for another agent: .claude-plugin, .cursor-plugin.
func isManifestFolder(dir string) bool {
	name := path.Base(dir)
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, "-plugin")
}

// reporter takes down the problems of a file: as many as of a skill.
func (s *scanner) reporter(file string) manifest.Report {
	told := 0
	return func(severity skills.Severity, at manifest.Position, remedy, format string, args ...any) {
		if told++; told > manifest.MaxProblems && severity != skills.Error {
			return
		}
		s.problem(skills.Problem{Severity: severity, Path: file, Line: at.Line, Col: at.Col, Message: fmt.Sprintf(format, args...), Remedy: remedy})
	}
}

// plugin loads the plugin in the folder dir of a root: its manifest, then what
// it is made of. entry is what a marketplace says of it, or nil.
func (s *scanner) plugin(dir, manifestPath string, entry *manifest.Plugin) {
	file := s.display(manifestPath)
	report := s.reporter(file)
	data, err := manifest.ReadFile(s.root.FS, manifestPath, manifest.MaxSize)
	if err != nil {
		s.reject(file, err)
		return
	}
	plugin := &skills.Plugin{Source: s.root.Source, Workspace: s.root.Within, Dir: s.host(dir), File: file}
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
func (s *scanner) conduit(dir, file string, m *manifest.Plugin, report manifest.Report) bool {
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
func (s *scanner) addPlugin(dir string, m *manifest.Plugin, report manifest.Report) {
	plugin := m.Plugin
	known, rival := s.builder.addPlugin(plugin, s.root)
	if known {
		return
	}
	if rival != nil {
		report(skills.Warning, manifest.Position{}, "rename one of them", "the plugin name %q is also that of %s; the skills of both are loaded", plugin.Name, rival.File)
	}
	outer := s.inPlugin
	s.inPlugin = plugin
	defer func() { s.inPlugin = outer }()
	s.pluginSkills(dir, m, report)
	s.commands(dir, m, report)
	s.agents(dir, m, report)
	s.servers(dir, m, report)
	s.hooks(dir, m, report)
}

func (s *scanner) pluginSkills(dir string, m *manifest.Plugin, report manifest.Report) {
	standard := path.Join(dir, "skills")
	if m.Complete {
		// what the marketplace names, and nothing else
	} else if info, err := fs.Stat(s.root.FS, standard); err == nil && info.IsDir() {
		s.skills(standard)
	} else if file := findSkillFile(s.root.FS, dir); file != "" {
		s.skill(dir, file, nil)
	}
	for _, extra := range m.Skills {
		// A bare name is one below skills/, as Colony has it.
		if !strings.Contains(extra, "/") && !s.there(path.Join(dir, extra)) && s.there(path.Join(standard, extra)) {
			extra = path.Join("skills", extra)
		}
		if real, ok := s.inside(dir, "skills", extra, report); ok {
			s.skills(real)
		}
	}
}

// there reports whether there is something at a path of the root.
func (s *scanner) there(name string) bool {
	_, err := fs.Stat(s.root.FS, name)
	return fs.ValidPath(name) && err == nil
}

// inside returns the path in the root of what a plugin names, with links
// followed. What leads out of the plugin, or cannot be read, is reported.
func (s *scanner) inside(dir, what, name string, report manifest.Report) (real string, ok bool) {
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
