package skills

import (
	"cmp"

	"gopkg.in/yaml.v3"
)

// reportFunc takes down a problem of one file.
type reportFunc func(severity Severity, at position, remedy, format string, args ...any)

// A manifest is what plugin.json says, or an entry of a marketplace.
type manifest struct {
	plugin *Plugin
	// node is the whole of it.
	node *yaml.Node
	// skills are folders of more skills, beside skills/; where complete is set,
	// they are all.
	skills   []string
	complete bool
	// commands and agents are files and folders; nil is the default folder.
	commands, agents []string
	// servers and hooks are paths, or what such a file says; nil is the default
	// file.
	servers, hooks field
}

// parseManifest reads a plugin.json. plugin comes with what is known of its
// place. A key of a wrong type is a problem of that key, not of the plugin.
func parseManifest(data []byte, plugin *Plugin, folder string, report reportFunc) (*manifest, error) {
	node, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if node.Kind != yaml.MappingNode {
		return nil, reject(position{line: 1}, `write an object with a "name"`, "it is not a JSON object")
	}
	m, err := readManifest(newFields(node, report), plugin, folder)
	if err == nil {
		m.node = node
	}
	return m, err
}

func readManifest(f fields, plugin *Plugin, folder string) (*manifest, error) {
	plugin.Name = cleanName(cmp.Or(f.text("name"), f.text("id"))) // Conduit and OpenClaw have an id
	if plugin.Name == "" {
		plugin.Name = cleanName(folder)
		f.report(Warning, position{}, `add "name"`, "the plugin has no name; its folder's is used: %q", plugin.Name)
	}
	if plugin.Name == "" {
		return nil, reject(position{}, `add "name"`, "the plugin has no name")
	}
	plugin.Version = f.text("version")
	shown := newFields(f.get("interface"), discard) // as Codex has it
	plugin.Description = cmp.Or(f.text("description"), shown.text("shortDescription"), shown.text("longDescription"))
	plugin.Author = author(f)
	return components(f, plugin), nil
}

// components reads what a plugin is made of.
func components(f fields, plugin *Plugin) *manifest {
	return &manifest{
		plugin: plugin,
		skills: f.words("skills", one), commands: places(f, "commands"), agents: places(f, "agents"),
		servers: f.field("mcpServers"), hooks: f.field("hooks"),
	}
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
