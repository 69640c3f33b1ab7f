package manifest

import (
	"cmp"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// reportFunc reports a problem of one file.
type Report func(severity skills.Severity, at Position, remedy, format string, args ...any)

// A manifest is the content of a plugin.json, or of an entry of a marketplace.
type Plugin struct {
	Plugin *skills.Plugin
	// id is the plugin's id, which those of Conduit and OpenClaw have.
	ID string
	// skills are folders of more skills, beside skills/; where complete is set,
	// they are all.
	Skills   []string
	Complete bool
	// commands and agents are files and folders; nil is the default folder.
	Commands, Agents []string
	Servers          Part[skills.MCPServer]
	Hooks            Part[skills.Hook]
	// named says that the manifest names skills, commands or agents.
	Named bool
}

// A part is what a manifest says of one part of a plugin.
type Part[T any] struct {
	Key     string
	Given   bool     // false counts the default file
	Paths   []string // of files that have the content
	Content []T      // in the manifest itself
}

// ParsePlugin reads a plugin.json. plugin comes with its location; folder is the
// name of its folder. A key of a wrong type is a problem of that key, not of the
// plugin.
func ParsePlugin(data []byte, plugin *skills.Plugin, folder string, report Report) (*Plugin, error) {
	node, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if node.Kind != yaml.MappingNode {
		return nil, Errorf(Position{Line: 1}, `write an object with a "name"`, "it is not a JSON object")
	}
	f := newFields(node, report)
	m, err := readManifest(f, plugin, folder)
	if err == nil {
		otherParts(f)
	}
	return m, err
}

func readManifest(f fields, plugin *skills.Plugin, folder string) (*Plugin, error) {
	id := f.text("id")
	plugin.Name = CleanName(cmp.Or(f.text("name"), id))
	if plugin.Name == "" {
		plugin.Name = CleanName(folder)
		f.report(skills.Warning, Position{}, `add "name"`, "the plugin has no name; its folder's is used: %q", plugin.Name)
	}
	if plugin.Name == "" {
		return nil, Errorf(Position{}, `add "name"`, "the plugin has no name")
	}
	plugin.Version = f.text("version")
	shown := newFields(f.get("interface"), discard) // as Codex has it
	plugin.Description = cmp.Or(f.text("description"), shown.text("shortDescription"), shown.text("longDescription"))
	plugin.Author = author(f)
	return &Plugin{
		Plugin: plugin, ID: id,
		Skills: f.words("skills", one), Commands: places(f, "commands"), Agents: places(f, "agents"),
		Servers: partOf(f, "mcpServers", parseServers), Hooks: partOf(f, "hooks", parseHooks),
		Named: slices.ContainsFunc([]string{"skills", "commands", "agents", "SKILL.md"}, func(key string) bool { return f.get(key) != nil }),
	}, nil
}

// otherParts notes the parts of a plugin that only Codex and Gemini CLI use.
func otherParts(f fields) {
	for _, part := range []struct{ key, what string }{
		{"apps", "its apps are not connected"},
		{"contextFileName", "its context file is not read; skills are"},
	} {
		if f.get(part.key) != nil {
			f.report(skills.Note, f.pos(part.key), "", "%q: %s", part.key, part.what)
		}
	}
}

// supplement adds what a marketplace says of the plugin.
func (m *Plugin) Supplement(entry *Plugin) {
	own, other := m.Plugin, entry.Plugin
	own.Marketplace = other.Marketplace
	own.Version = cmp.Or(own.Version, other.Version)
	own.Description = cmp.Or(own.Description, other.Description)
	own.Author = cmp.Or(own.Author, other.Author)
	m.Skills = append(m.Skills, entry.Skills...)
	if m.Commands == nil {
		m.Commands = entry.Commands
	}
	if m.Agents == nil {
		m.Agents = entry.Agents
	}
	if !m.Servers.Given {
		m.Servers = entry.Servers
	}
	if !m.Hooks.Given {
		m.Hooks = entry.Hooks
	}
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

// places are the paths that replace a default folder; a list of none leaves it
// without another.
func places(f fields, key string) []string {
	paths := f.words(key, one)
	if node := f.get(key); paths == nil && node != nil && node.Kind == yaml.SequenceNode {
		return []string{}
	}
	return paths
}

// author reads a name, or a map with a name.
func author(f fields) string {
	if n := f.get("author"); n != nil && n.Kind == yaml.MappingNode {
		return newFields(n, f.report).text("name")
	}
	return f.text("author")
}
