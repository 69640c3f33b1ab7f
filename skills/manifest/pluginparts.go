package manifest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// A Part is the declaration of one part of a plugin in its manifest.
type Part[T any] struct {
	Key     string
	Given   bool     // false counts the default file
	Paths   []string // of files that have the content
	Content []T      // in the manifest itself
}

// partOf reads the part under key: the paths of files, or their content.
func partOf[T any](f fields, key string, parse func(*yaml.Node) ([]T, bool)) Part[T] {
	p, node := Part[T]{Key: key}, f.get(key)
	if node == nil {
		return p
	}
	p.Given = true
	if isWords(node) && (node.Kind != yaml.ScalarNode || node.Tag == "!!str") {
		p.Paths = f.words(key, one)
		return p
	}
	var ok bool
	if p.Content, ok = parse(node); !ok {
		f.report(skills.Warning, f.pos(key), "correct it", "%q is not of a known shape and is ignored", key)
	}
	return p
}

// parsePart reads a file with one part of a plugin.
func parsePart[T any](data []byte, parse func(*yaml.Node) ([]T, bool)) ([]T, error) {
	node, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	content, ok := parse(node)
	if !ok {
		err = &Error{at: Position{Line: 1}, severity: skills.Warning, message: "it is not of a known shape and is ignored", remedy: "correct it"}
	}
	return content, err
}

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
	address := cmp.Or(f.text("url"), f.text("httpUrl"))
	shown, _, _ := strings.Cut(address, "?")
	command := f.words("command", one)
	if f.get("args") == nil && len(command) == 1 {
		command = strings.Fields(command[0])
	}
	argv := slices.Concat(command, f.words("args", one))
	server := skills.MCPServer{
		Name: name, Transport: cmp.Or(f.text("type"), f.text("transport")), URL: withoutUser(shown), Command: strings.Join(argv, " "),
		Argv: argv, Env: texts(f.get("env")), Dir: f.text("cwd"), Address: address, Headers: texts(f.get("headers")),
	}
	if server.Transport == "" {
		server.Transport = "stdio"
		if server.URL != "" {
			server.Transport = "http"
		}
	}
	return server
}

// texts returns the scalars of a map; nil where there are none.
func texts(node *yaml.Node) (all map[string]string) {
	for _, f := range newFields(node, discard).list {
		if f.node.Kind == yaml.ScalarNode && !isNull(f.node) {
			if all == nil {
				all = map[string]string{}
			}
			all[f.key] = f.node.Value
		}
	}
	return all
}

// withoutUser returns a URL without name and password.
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

// ParseHookFile reads a hooks.json.
func ParseHookFile(data []byte) ([]skills.Hook, error) { return parsePart(data, parseHooks) }

// parseHooks reads the content of a hooks.json: a map of events, each with a list
// of hooks or of groups of hooks; or a list of hooks with events. Either is bare
// or under "hooks".
func parseHooks(node *yaml.Node) (hooks []skills.Hook, ok bool) {
	if inner := newFields(node, discard).get("hooks"); inner != nil {
		node = inner
	}
	switch node.Kind {
	case yaml.SequenceNode:
		hooks = hooksOf(skills.Hook{}, node, 0)
	case yaml.MappingNode:
		for _, f := range newFields(node, discard).list {
			hooks = append(hooks, hooksOf(skills.Hook{Event: f.key}, f.node, 0)...)
		}
	default:
		return nil, false
	}
	return hooks, len(hooks) > 0 || len(node.Content) == 0
}

// hooksOf reads the hooks in a node: a list, a group, or a hook. outer has the
// event and the matcher of the group around it.
func hooksOf(outer skills.Hook, node *yaml.Node, depth int) (hooks []skills.Hook) {
	const deepest = 4 // lists and groups in one another
	if depth > deepest {
		return nil
	}
	node = deref(node)
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			hooks = append(hooks, hooksOf(outer, item, depth+1)...)
		}
	case yaml.MappingNode:
		f := newFields(node, discard)
		outer.Event = cmp.Or(f.text("event"), outer.Event)
		outer.Matcher = cmp.Or(f.text("matcher"), outer.Matcher)
		if group := f.get("hooks"); group != nil {
			return hooksOf(outer, group, depth+1)
		}
		if handler(&outer, f); outer.Event != "" && outer.Runs != "" {
			outer.Identify()
			return []skills.Hook{outer}
		}
	}
	return hooks
}

// handler reads what a hook runs, and how. Source of the keys: Claude Code's hooks have
// command, prompt, url or tool; Copilot's have bash and powershell, and timeoutSec.
func handler(hook *skills.Hook, f fields) {
	hook.Type, hook.If, hook.Shell = cmp.Or(f.text("type"), "command"), f.text("if"), f.text("shell")
	hook.Async = f.boolean("async", false)
	hook.Timeout, _ = strconv.ParseFloat(cmp.Or(f.text("timeout"), f.text("timeoutSec")), 64)
	if !(hook.Timeout > 0 && hook.Timeout < maxTimeout) { // also not a number
		hook.Timeout = 0
	}
	for _, key := range []string{"command", "bash", "powershell", "prompt", "url", "tool"} {
		words := append(f.words(key, one), f.words("args", one)...)
		if len(f.words(key, one)) == 0 || words[0] == "" {
			continue
		}
		hook.Runs = words[0]
		if len(words) > 1 {
			hook.Args = words[1:]
		}
		if key == "powershell" {
			hook.Shell = key
		}
		return
	}
}

// maxTimeout is the longest time limit of a hook that counts, in seconds.
const maxTimeout = 24 * 60 * 60
