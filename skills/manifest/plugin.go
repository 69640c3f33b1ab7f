package manifest

import (
	"cmp"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// A Plugin is the content of a plugin.json, or of an entry of a marketplace.
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
	// Settings are the keys of its configuration (config_schema), as Conduit's plugins have.
	Settings skills.Flags
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
	var settings skills.Flags
	if keys := f.get("config_schema"); keys != nil && keys.Kind == yaml.MappingNode {
		settings = paramsOfMap(f, keys)
	}
	return &Plugin{
		Settings: settings,
		Plugin:   plugin, ID: id,
		Skills: f.words("skills", one), Commands: places(f, "commands"), Agents: places(f, "agents"),
		Servers: partOf(f, "mcpServers", parseServers), Hooks: partOf(f, "hooks", parseHooks),
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

// Supplement adds the fields of a marketplace's entry.
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

// places returns the paths that replace a default folder; an empty list replaces
// it by none.
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
