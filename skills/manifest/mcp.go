package manifest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// ParseServerFile reads a .mcp.json.
func ParseServerFile(data []byte) ([]skills.MCPServer, error) { return parsePart(data, parseServers) }

// parseServers reads the content of a .mcp.json: a map of servers by name, or a
// list of servers with names, either of them bare or under "mcpServers".
func parseServers(node *yaml.Node) (servers []skills.MCPServer, ok bool) {
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

func parseServer(name string, node *yaml.Node) skills.MCPServer {
	f := newFields(node, discard)
	url, _, _ := strings.Cut(f.text("url"), "?")
	command := slices.Concat(f.words("command", one), f.words("args", one))
	server := skills.MCPServer{
		Name: name, Transport: cmp.Or(f.text("type"), f.text("transport")), URL: withoutUser(url),
		Command: strings.Join(command, " "), Argv: command, Env: keys(f, "env"), Headers: keys(f, "headers"), Timeout: f.seconds("timeout") / 1000, // Claude Code and Gemini CLI have milliseconds
	}
	if len(command) == 1 && strings.ContainsAny(command[0], " \t") {
		server.Argv = skills.SplitWords(command[0])
	}
	if server.Transport == "" {
		server.Transport = "stdio"
		if server.URL != "" {
			server.Transport = "http"
		}
	}
	return server
}

// keys returns the keys of a map, and none of its values: they may be secret.
func keys(f fields, key string) (names []string) {
	for _, inner := range newFields(f.get(key), discard).list {
		names = append(names, inner.key)
	}
	return names[:min(len(names), maxVariables)]
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
