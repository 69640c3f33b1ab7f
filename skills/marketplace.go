package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// marketplaces are where a folder of plugins may say which there are: for Claude
// Code, for Codex, and as some repositories have it.
var marketplaces = [...]string{".claude-plugin/marketplace.json", codexMarketplace, "marketplace.json"}

const codexMarketplace = ".agents/plugins/marketplace.json"

// maxMarketplace is the largest marketplace.json that is read, in bytes.
const maxMarketplace = 4 << 20

// maxMarketPlugins is how many plugins one marketplace may list. Each costs a
// look at its folder.
const maxMarketPlugins = 2000

// maxSharing is how many of them may be the same folder: each has its skills
// read again.
const maxSharing = 64

// otherAgents reports whether a folder is another agent's own, such as
// .agents/plugins: a marketplace.json in it speaks of the folder above.
func otherAgents(dir string) bool {
	return strings.HasPrefix(dir, ".") && dir != "." || strings.Contains(dir, "/.")
}

// isCodexFolder reports whether a root is the folder in which Codex has a
// marketplace.json that speaks of the folders above.
func isCodexFolder(root Root) bool {
	return strings.HasSuffix(filepath.ToSlash(root.Dir), "/"+path.Dir(codexMarketplace))
}

// findMarketplace returns the path of the marketplace.json in a folder of a root
// with these entries, or "".
func findMarketplace(root Root, dir string, entries []fs.DirEntry) string {
	for _, name := range marketplaces {
		first, _, _ := strings.Cut(name, "/")
		there := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == first })
		if !there || first == name && (otherAgents(dir) || dir == "." && isCodexFolder(root)) {
			continue
		}
		at := path.Join(dir, name)
		if info, err := fs.Stat(root.FS, at); err == nil && info.Mode().IsRegular() {
			return at
		}
	}
	return ""
}

// A market reads one marketplace.json.
type market struct {
	*scanner
	dir    string // in the root
	file   string // for people
	name   string
	base   string // what plain sources are below, in dir
	report reportFunc
	// elsewhere are plugins that would have to be fetched.
	elsewhere []string
	// read are the folders whose own manifest was read, and shared is how many
	// plugins each is.
	read   map[string]bool
	shared map[string]int
	// own is set by a plugin that is the marketplace's folder itself.
	own bool
}

// marketplace loads the plugins that a marketplace has in its own folder. What
// would have to be fetched is noted. It reports whether the folder itself is one
// of them.
func (s *scanner) marketplace(dir, at string) (own bool) {
	m := &market{scanner: s, dir: dir, file: s.display(at), read: map[string]bool{}, shared: map[string]int{}}
	m.report = s.reporter(m.file)
	plugins, err := m.parse(at)
	if err != nil {
		s.reject(m.file, err)
		return false
	}
	for i, node := range plugins {
		if i == maxMarketPlugins {
			m.report(Error, posOf(deref(node)), "list fewer", "there are more than %d plugins; this one and what follows are left out", maxMarketPlugins)
			break
		}
		m.entry(deref(node))
	}
	if n := len(m.elsewhere); n > 0 {
		m.report(Note, position{}, "", "%d of its plugins are kept elsewhere and are not fetched: %s", n, list(firstFew(m.elsewhere, 5), "and"))
	}
	return m.own
}

// firstFew shortens a list to n items, and says how many more there are.
func firstFew(all []string, n int) []string {
	if len(all) <= n {
		return all
	}
	return append(slices.Clone(all[:n]), fmt.Sprintf("%d more", len(all)-n))
}

func (m *market) parse(at string) ([]*yaml.Node, error) {
	data, err := readFile(m.root.FS, at, maxMarketplace)
	if err != nil {
		return nil, err
	}
	node, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	if node.Kind != yaml.MappingNode {
		return nil, reject(position{line: 1}, `write an object with "plugins"`, "it is not a JSON object")
	}
	f := newFields(node, m.report)
	m.name = f.text("name")
	if metadata := f.get("metadata"); metadata != nil {
		m.base = newFields(metadata, discard).text("pluginRoot")
	}
	plugins := f.get("plugins")
	if plugins == nil || plugins.Kind != yaml.SequenceNode {
		return nil, reject(f.pos("plugins"), `write "plugins": [{"name": …, "source": "./…"}]`, `there is no list "plugins"`)
	}
	return plugins.Content, nil
}

// entry loads one plugin.
func (m *market) entry(node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		m.report(Warning, posOf(node), `write {"name": …, "source": "./…"}`, "a plugin is not a JSON object and is ignored")
		return
	}
	f := newFields(node, m.report)
	name := f.text("name")
	source, here := relativeSource(f.get("source"))
	if !here {
		m.elsewhere = append(m.elsewhere, cmp.Or(name, "one without a name"))
		return
	}
	dir, err := m.folder(source)
	switch {
	case errors.Is(err, skillfs.ErrLeaves):
		m.report(Error, f.pos("source"), "put the plugin into the marketplace's folder", "the source %q of the plugin %q leads out of the marketplace", source, name)
	case errors.Is(err, fs.ErrNotExist):
		m.report(Error, f.pos("source"), "correct the path", "the source %q of the plugin %q does not exist", source, name)
	case err != nil:
		m.report(Error, f.pos("source"), "correct the path", "the source %q of the plugin %q cannot be read: %v", source, name, err)
	default:
		m.loadShared(dir, name, f)
	}
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

// folder returns the folder of the root that a source names: below the
// marketplace's pluginRoot, or else below its folder.
func (m *market) folder(source string) (string, error) {
	var err error
	for _, base := range []string{cmp.Or(m.base, "."), "."} {
		var dir string
		if dir, err = m.folderAt(path.Join(base, source)); err == nil {
			return dir, nil
		}
	}
	return "", err
}

func (m *market) folderAt(name string) (string, error) {
	real, err := skillfs.Resolve(skillfs.Sub(m.root.FS, m.dir), m.host(m.dir), name)
	if err != nil {
		return "", err
	}
	dir := path.Join(m.dir, real)
	info, err := fs.Stat(m.root.FS, dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	return dir, err
}

// loadShared loads the plugin in a folder, unless too many are there.
func (m *market) loadShared(dir, name string, f fields) {
	if m.shared[dir]++; m.shared[dir] > maxSharing {
		m.report(Warning, f.pos("source"), "give it a folder of its own", "the plugin %q is one of more than %d in the same folder and is left out", name, maxSharing)
		return
	}
	m.load(dir, f)
}

// load loads the plugin in a folder. Its own manifest says what it is, unless
// the marketplace does so with `strict: false`, or there is none.
func (m *market) load(dir string, f fields) {
	m.own = m.own || dir == m.dir
	m.skip[dir] = true
	strict, ok := f.flag("strict", true)
	if !ok {
		f.wrongType("strict", "true or false")
	}
	plugin := &Plugin{Source: m.root.Source, Workspace: m.root.Within, Dir: m.host(dir), File: m.file, Marketplace: m.name}
	entry, err := readManifest(f, plugin, m.folderName(dir))
	if err != nil {
		m.reject(m.file, err)
		return
	}
	manifest := findManifest(m.root.FS, dir, nil)
	if strict && manifest != "" {
		if !m.read[dir] { // which may be large, and listed very often
			m.read[dir] = true
			m.plugin(dir, manifest, entry)
		}
		return
	}
	entry.complete = !strict && f.get("skills") != nil
	m.addPlugin(dir, entry, m.report)
}

// supplement adds what a marketplace says to what the plugin itself says.
func (m *manifest) supplement(entry *manifest) {
	own, other := m.plugin, entry.plugin
	own.Marketplace = other.Marketplace
	own.Version = cmp.Or(own.Version, other.Version)
	own.Description = cmp.Or(own.Description, other.Description)
	own.Author = cmp.Or(own.Author, other.Author)
	m.skills = append(m.skills, entry.skills...)
	if m.commands == nil {
		m.commands = entry.commands
	}
	if m.agents == nil {
		m.agents = entry.agents
	}
	if m.servers.node == nil {
		m.servers = entry.servers
	}
	if m.hooks.node == nil {
		m.hooks = entry.hooks
	}
}
