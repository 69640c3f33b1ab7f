package skills

import (
	"path"

	"gopkg.in/yaml.v3"
)

// maxShown is how many servers, and how many hooks, of a plugin are kept.
const maxShown = 100

// servers reads which MCP servers a plugin has.
func (s *scanner) servers(dir string, m *manifest, report reportFunc) {
	s.shown(dir, ".mcp.json", m.servers, report, func(node *yaml.Node) bool {
		servers, ok := parseServers(node)
		s.inPlugin.Servers = capped(append(s.inPlugin.Servers, servers...))
		return ok
	})
	if n := len(s.inPlugin.Servers); n > 0 {
		report(Note, position{}, "", "its MCP servers are not started: %s", list(firstFew(serverNames(s.inPlugin.Servers), 5), "and"))
	}
}

func serverNames(servers []MCPServer) []string {
	var names []string
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}

func capped[T any](all []T) []T { return all[:min(len(all), maxShown)] }

// shown reads what a manifest says under key: the paths of files, or their
// content; else the file with the default name. What parse refuses is a problem
// of that file alone.
func (s *scanner) shown(dir, standard string, named field, report reportFunc, parse func(*yaml.Node) bool) {
	key, node := named.key, named.node
	if node != nil && (!isWords(node) || node.Kind == yaml.ScalarNode && node.Tag != "!!str") {
		if !parse(node) {
			report(Warning, named.at, "correct it", "%q is not of a known shape and is ignored", key)
		}
		return
	}
	if node == nil {
		if at := path.Join(dir, standard); s.isFile(at) {
			s.shownFile(at, parse)
		}
		return
	}
	paths := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		paths = node.Content
	}
	for _, p := range paths {
		if at, ok := s.inside(dir, key, deref(p).Value, report); ok {
			s.shownFile(at, parse)
		}
	}
}

func (s *scanner) shownFile(at string, parse func(*yaml.Node) bool) {
	data, err := readFile(s.root.FS, at, maxManifest)
	if err != nil {
		s.reject(s.display(at), err)
		return
	}
	node, err := parseJSON(data)
	if err != nil {
		s.reject(s.display(at), err)
	} else if !parse(node) {
		s.problem(Problem{Warning, s.display(at), 1, 0, "it is not of a known shape and is ignored", "correct it"})
	}
}
