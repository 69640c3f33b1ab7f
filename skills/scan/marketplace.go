package scan

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// marketplaces are the paths of a marketplace's file in its folder: for Claude Code,
// for Codex, and last as some repositories have it.
var marketplaces = [...]string{".claude-plugin/marketplace.json", codexMarketplace, "marketplace.json"}

const codexMarketplace = ".agents/plugins/marketplace.json"

// maxMarketplace is the largest marketplace.json that is read, in bytes.
const maxMarketplace = 4 << 20

// maxSharing bounds the plugins of one folder: each reads its skills again.
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
	names := marketplaces[:]
	if otherAgents(dir) || dir == "." && isCodexFolder(root) {
		names = names[:len(names)-1]
	}
	return firstFile(root.FS, dir, names, entries)
}

// visit reads the plugin, or the marketplace, in a folder.
func (s *pluginReader) visit(dir string, entries []fs.DirEntry) (enter bool) {
	if s.skip[dir] || isManifestFolder(dir) {
		return false
	}
	if at := findMarketplace(s.root, dir, entries); at != "" {
		s.found = true
		if s.marketplace(dir, at) {
			return false
		}
	}
	manifest := findManifest(s.root.FS, dir, entries)
	if manifest == "" {
		return true
	}
	s.found = true
	if s.finder.walker.countManifest(dir) {
		s.plugin(dir, manifest, nil)
	}
	return false
}

// A market loads the plugins of one marketplace.
type market struct {
	*manifest.Market
	plugins *pluginReader
	dir     string // in the root
	file    string // for people
	report  manifest.Report
	// elsewhere are plugins that would have to be fetched.
	elsewhere []string
	// read has the folders whose own manifest was read, and shared the number of
	// plugins of each.
	read   map[string]bool
	shared map[string]int
	// own is set by a plugin that is the marketplace's folder itself.
	own bool
}

// marketplace loads the plugins that a marketplace has in its own folder. It notes
// those that would have to be fetched, and reports whether the folder itself is
// one of them.
func (s *pluginReader) marketplace(dir, at string) (own bool) {
	m := &market{plugins: s, dir: dir, file: s.display(at), read: map[string]bool{}, shared: map[string]int{}}
	m.report = s.reporter(m.file)
	data, err := manifest.ReadFile(m.plugins.root.FS, at, maxMarketplace)
	if err == nil {
		m.Market, err = manifest.ParseMarket(data, m.report)
	}
	if err != nil {
		s.reject(m.file, err)
		return false
	}
	for _, entry := range m.Entries {
		m.entry(entry)
	}
	if n := len(m.elsewhere); n > 0 {
		m.report(skills.Note, manifest.Position{}, "", "%d of its plugins are kept elsewhere and are not fetched: %s", n, skills.Enumerate(manifest.FirstFew(m.elsewhere, 5), "and"))
	}
	return m.own
}

// entry loads one plugin.
func (m *market) entry(e manifest.MarketEntry) {
	if !e.Here {
		m.elsewhere = append(m.elsewhere, cmp.Or(e.Name, "one without a name"))
		return
	}
	dir, err := m.folder(e.Source)
	switch {
	case errors.Is(err, skillfs.ErrLeaves):
		m.report(skills.Error, e.SourceAt, "put the plugin into the marketplace's folder", "the source %q of the plugin %q leads out of the marketplace", e.Source, e.Name)
	case errors.Is(err, fs.ErrNotExist):
		m.report(skills.Error, e.SourceAt, "correct the path", "the source %q of the plugin %q does not exist", e.Source, e.Name)
	case err != nil:
		m.report(skills.Error, e.SourceAt, "correct the path", "the source %q of the plugin %q cannot be read: %v", e.Source, e.Name, err)
	default:
		m.loadShared(dir, e)
	}
}

// folder returns the folder of the root that a source names: below the
// marketplace's pluginRoot, or else below its folder.
func (m *market) folder(source string) (string, error) {
	var err error
	for _, base := range []string{cmp.Or(m.Base, "."), "."} {
		var dir string
		if dir, err = m.folderAt(path.Join(base, source)); err == nil {
			return dir, nil
		}
	}
	return "", err
}

func (m *market) folderAt(name string) (string, error) {
	real, err := skillfs.Resolve(skillfs.Sub(m.plugins.root.FS, m.dir), m.plugins.host(m.dir), name)
	if err != nil {
		return "", err
	}
	dir := path.Join(m.dir, real)
	info, err := fs.Stat(m.plugins.root.FS, dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	return dir, err
}

// loadShared loads the plugin in a folder, unless too many are there.
func (m *market) loadShared(dir string, e manifest.MarketEntry) {
	if m.shared[dir]++; m.shared[dir] > maxSharing {
		m.report(skills.Warning, e.SourceAt, "give it a folder of its own", "the plugin %q is one of more than %d in the same folder and is left out", e.Name, maxSharing)
		return
	}
	m.load(dir, e)
}

// load loads the plugin in a folder. Its own manifest counts, unless the
// marketplace has `strict: false` or there is none.
func (m *market) load(dir string, e manifest.MarketEntry) {
	m.own = m.own || dir == m.dir
	m.plugins.skip[dir] = true
	plugin := &skills.Plugin{Source: m.plugins.root.Source, Workspace: m.plugins.root.Within, Trusted: m.plugins.root.trusted, Dir: m.plugins.host(dir), File: m.file, Marketplace: m.Name}
	entry, strict, err := e.Plugin(plugin, m.plugins.folderName(dir))
	if err != nil {
		m.plugins.reject(m.file, err)
		return
	}
	manifest := findManifest(m.plugins.root.FS, dir, nil)
	if strict && manifest != "" {
		if !m.read[dir] { // which may be large, and listed very often
			m.read[dir] = true
			m.plugins.plugin(dir, manifest, entry)
		}
		return
	}
	m.plugins.addPlugin(dir, entry, m.report)
}
