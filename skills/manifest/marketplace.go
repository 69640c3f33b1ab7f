package manifest

import (
	"encoding/json"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"gopkg.in/yaml.v3"
)

// maxMarketPlugins bounds the plugins that one marketplace lists. Each costs a look at
// its folder.
const maxMarketPlugins = 2000

// A Market is the content of a marketplace.json.
type Market struct {
	Name    string
	Base    string // the folder that sources are relative to; "" is the marketplace's
	Entries []MarketEntry
}

// A MarketEntry is a plugin that a marketplace lists.
type MarketEntry struct {
	Name     string
	Source   string // the path of its folder
	Here     bool   // the folder is in the marketplace's; else it would have to be fetched
	SourceAt Position
	fields   fields
}

// A MarketSource is the source of a plugin that is not in the marketplace's folder.
type MarketSource struct {
	Kind                      string // "github", "url", "git-subdir", "npm", "archive", "command", …; "" if it has none
	Repo, URL, Path, Ref, SHA string // of Git
	Package                   string // of npm
	SHA256                    string // of an archive
	Text                      string // a source that is a plain text
}

// ParseMarket reads a marketplace.json.
func ParseMarket(data []byte, report Report) (*Market, error) {
	node, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if node.Kind != yaml.MappingNode {
		return nil, Errorf(Position{Line: 1}, `write an object with "plugins"`, "it is not a JSON object")
	}
	f := newFields(node, report)
	m := &Market{Name: f.text("name"), Base: newFields(f.get("metadata"), discard).text("pluginRoot")}
	plugins := f.get("plugins")
	if plugins == nil || plugins.Kind != yaml.SequenceNode {
		return nil, Errorf(f.pos("plugins"), `write "plugins": [{"name": …, "source": "./…"}]`, `there is no list "plugins"`)
	}
	for i, item := range plugins.Content {
		item = deref(item)
		switch {
		case i == maxMarketPlugins:
			report(skills.Error, posOf(item), "list fewer", "there are more than %d plugins; this one and what follows are left out", maxMarketPlugins)
			return m, nil
		case item.Kind != yaml.MappingNode:
			report(skills.Warning, posOf(item), `write {"name": …, "source": "./…"}`, "a plugin is not a JSON object and is ignored")
			continue
		}
		f := newFields(item, report)
		entry := MarketEntry{Name: f.text("name"), SourceAt: f.pos("source"), fields: f}
		entry.Source, entry.Here = relativeSource(f.get("source"))
		m.Entries = append(m.Entries, entry)
	}
	return m, nil
}

// Plugin reads the entry as the manifest of its plugin. strict says that the
// plugin's own manifest counts.
func (e MarketEntry) Plugin(plugin *skills.Plugin, folder string) (m *Plugin, strict bool, err error) {
	f := e.fields
	strict = f.boolean("strict", true)
	m, err = readManifest(f, plugin, folder)
	if err == nil {
		m.Complete = !strict && f.get("skills") != nil
	}
	return m, strict, err
}

// Remote returns the source of a plugin that would have to be fetched.
func (e MarketEntry) Remote() MarketSource {
	node := e.fields.get("source")
	if node != nil && node.Kind == yaml.ScalarNode {
		return MarketSource{Text: node.Value}
	}
	f := newFields(node, discard)
	return MarketSource{
		Kind: f.text("source"), Repo: f.text("repo"), URL: f.text("url"), Path: f.text("path"), Ref: f.text("ref"), SHA: f.text("sha"),
		Package: f.text("package"), SHA256: f.text("sha256"),
	}
}

// Description returns the description of the plugin.
func (e MarketEntry) Description() string { return e.fields.text("description") }

// Strict reports whether the manifest of the plugin's folder counts, if it has one.
func (e MarketEntry) Strict() bool { return e.fields.boolean("strict", true) }

// Alone returns a marketplace.json with this entry only, whose folder is the plugin's.
func (e MarketEntry) Alone(marketplace string) ([]byte, error) {
	entry := map[string]any{}
	for _, field := range e.fields.list {
		var value any
		if err := field.node.Decode(&value); err != nil {
			return nil, err
		}
		entry[field.key] = value
	}
	entry["source"] = "./"
	return json.MarshalIndent(map[string]any{"name": marketplace, "plugins": []any{entry}}, "", "  ")
}

// relativeSource returns the path of a source that is in the marketplace's
// folder.
func relativeSource(node *yaml.Node) (source string, here bool) {
	switch {
	case node == nil:
		return "", false
	case node.Kind == yaml.MappingNode:
		f := newFields(node, discard)
		return f.text("path"), f.text("source") == "local" && f.text("path") != ""
	case node.Kind != yaml.ScalarNode || node.Value == "" || strings.Contains(node.Value, ":"):
		return "", false
	}
	return node.Value, true
}
