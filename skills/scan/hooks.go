package scan

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"path"
)

// maxShown is how many servers, and how many hooks, of a plugin are kept.
const maxShown = 100

// hooks reads the hooks of a plugin.
func (s *scanner) hooks(dir string, m *manifest, report reportFunc) {
	s.inPlugin.Hooks = readPart(s, dir, "hooks/hooks.json", m.hooks, report, ParseHookFile)
	if len(s.inPlugin.Hooks) > 0 {
		report(skills.Note, position{}, "", "its hooks are not run")
	}
}

// servers reads the MCP servers of a plugin.
func (s *scanner) servers(dir string, m *manifest, report reportFunc) {
	s.inPlugin.Servers = readPart(s, dir, ".mcp.json", m.servers, report, ParseServerFile)
	if len(s.inPlugin.Servers) == 0 {
		return
	}
	var names []string
	for _, server := range s.inPlugin.Servers {
		names = append(names, server.Name)
	}
	report(skills.Note, position{}, "", "its MCP servers are not started: %s", skills.Enumerate(firstFew(names, 5), "and"))
}

// readPart returns one part of a plugin: from the manifest, or from the files
// that it names, or else from the standard file. A file that is refused is a
// problem of that file alone.
func readPart[T any](s *scanner, dir, standard string, p part[T], report reportFunc, parse func([]byte) ([]T, error)) []T {
	var files []string
	switch at := path.Join(dir, standard); {
	case !p.given && s.isFile(at):
		files = []string{at}
	case p.given:
		for _, name := range p.paths {
			if at, ok := s.inside(dir, p.key, name, report); ok {
				files = append(files, at)
			}
		}
	}
	all := p.content
	for _, file := range files {
		data, err := readFile(s.root.FS, file, maxManifest)
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
