package skills

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A MCPServer is one that a plugin would have its client connect to. Nothing here
// starts it. Its environment and headers are not kept: they may be secret.
type MCPServer struct {
	Name      string `json:"name"`
	Transport string `json:"transport"`         // stdio, http, sse, …
	Command   string `json:"command,omitempty"` // with its arguments
	URL       string `json:"url,omitempty"`     // without a query
}

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

// parseServers reads the content of a .mcp.json: a map of servers by name, or a
// list of servers with names, either of them bare or under "mcpServers".
func parseServers(node *yaml.Node) (servers []MCPServer, ok bool) {
	if inner := newFields(node, discard).get("mcpServers"); inner != nil {
		node = inner
	}
	switch node.Kind {
	case yaml.MappingNode:
		for _, f := range newFields(node, discard).list {
			if f.node.Kind == yaml.MappingNode {
				servers = append(servers, parseServer(f.key, f.node))
			}
		}
		return servers, len(servers) > 0 || len(node.Content) == 0
	case yaml.SequenceNode:
		for _, item := range node.Content {
			if name := newFields(item, discard).text("name"); name != "" {
				servers = append(servers, parseServer(name, deref(item)))
			}
		}
		return servers, len(servers) > 0 || len(node.Content) == 0
	}
	return nil, false
}

func parseServer(name string, node *yaml.Node) MCPServer {
	f := newFields(node, discard)
	url, _, _ := strings.Cut(f.text("url"), "?")
	command := slices.Concat(f.words("command", one), f.words("args", one))
	server := MCPServer{Name: name, Transport: cmp.Or(f.text("type"), f.text("transport")), URL: withoutUser(url), Command: strings.Join(command, " ")}
	if server.Transport == "" {
		server.Transport = "stdio"
		if server.URL != "" {
			server.Transport = "http"
		}
	}
	return server
}

func one(s string) []string { return []string{s} }

// withoutUser leaves out the name and password of a URL.
func withoutUser(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndex(host, "@"); at >= 0 {
		host = host[at+1:]
	}
	if path != "" {
		path = "/" + path
	}
	return scheme + "://" + host + path
}
