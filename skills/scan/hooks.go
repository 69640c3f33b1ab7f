package scan

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"path"
)

// maxShown is how many servers, and how many hooks, of a plugin are kept.
const maxShown = 100

// hooks reads the hooks of a plugin.
func (s *scanner) hooks(dir string, m *manifest.Plugin, report manifest.Report) {
	s.inPlugin.Hooks = readPart(s, dir, "hooks/hooks.json", m.Hooks, report, manifest.ParseHookFile)
	if len(s.inPlugin.Hooks) > 0 {
		report(skills.Note, manifest.Position{}, "", "its hooks are not run")
	}
}

// servers reads the MCP servers of a plugin.
func (s *scanner) servers(dir string, m *manifest.Plugin, report manifest.Report) {
	s.inPlugin.Servers = readPart(s, dir, ".mcp.json", m.Servers, report, manifest.ParseServerFile)
	if len(s.inPlugin.Servers) == 0 {
		return
	}
	var names []string
	for _, server := range s.inPlugin.Servers {
		names = append(names, server.Name)
	}
	report(skills.Note, manifest.Position{}, "", "its MCP servers are not started: %s", skills.Enumerate(manifest.FirstFew(names, 5), "and"))
}

// readPart returns one part of a plugin: from the manifest, or from the files
// that it names, or else from the standard file. A file that is refused is a
// problem of that file alone.
func readPart[T any](s *scanner, dir, standard string, p manifest.Part[T], report manifest.Report, parse func([]byte) ([]T, error)) []T {
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
