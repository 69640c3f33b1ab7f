package setup

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"

	colonysamples "github.com/skillsmcp/skills-mcp/plugins/colony-samples"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/skillshost"
	"github.com/skillsmcp/skills-mcp/server/trust"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/cache"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/search"
	"github.com/skillsmcp/skills-mcp/skills/watch"
)

// Roots say where skills are found and how they are read.
type Roots struct {
	*config.Config
	home       string
	Data       string   // folder of the skills that the person installs; "" is none
	ongrid     []string // folders of ongrid's skills
	workspaces *Workspaces
	trust      *trust.Workspaces
	host       *skillshost.Host // nil is no connected server
	logger     *slog.Logger
}

// List returns the roots to scan, highest priority first.
func (r *Roots) List() []scan.Root {
	var roots []scan.Root
	if r.Roots.Session {
		for _, workspace := range r.workspaces.Folders {
			roots = append(roots, r.sessionRoots(workspace)...)
		}
	}
	if r.Roots.User && r.home != "" {
		roots = append(roots, r.userRoots(r.home)...)
	}
	if r.Roots.User && r.Data != "" {
		for _, root := range rootsIn(skills.SourceUser, r.Data, "") {
			root.Installed = true
			roots = append(roots, root)
		}
	}
	if r.Roots.System && runtime.GOOS != "windows" {
		roots = slices.Concat(roots, rootsIn(skills.SourceSystem, "/etc/colony", ""), rootsIn(skills.SourceSystem, "/etc/skills-mcp", ""))
		for _, dir := range append([]string{"/etc/ongrid/skills"}, r.ongrid...) {
			roots = append(roots, scan.Root{Source: skills.SourceSystem, Dir: dir, Ongrid: true})
		}
	}
	return append(roots, r.extra()...)
}

// ForSkills returns the folders in which a person can put a skill, those that exist first.
func (r *Roots) ForSkills() (folders []string) {
	var missing []string
	for _, root := range r.List() {
		if root.Dir == "" || root.Plugins || root.Commands || root.Agents || root.Ongrid || root.Installed {
			continue
		}
		if info, err := os.Stat(root.Dir); err == nil && info.IsDir() {
			folders = append(folders, root.Dir)
		} else {
			missing = append(missing, root.Dir)
		}
	}
	return append(folders, missing...)
}

// extra returns the roots that the project, the configuration and flags name, and the
// samples.
func (r *Roots) extra() []scan.Root {
	var roots []scan.Root
	if project := r.workspaces.Project; project != nil {
		for _, dir := range project.Skills {
			roots = append(roots, scan.Root{Source: skills.SourceExtra, Dir: dir, Within: r.workspaces.Folders[0]})
		}
		for _, dir := range project.Plugins {
			roots = append(roots, scan.Root{Source: skills.SourceExtra, Dir: dir, Within: r.workspaces.Folders[0], Plugins: true})
		}
	}
	for _, dir := range r.Skills {
		roots = append(roots, scan.Root{Source: skills.SourceExtra, Dir: dir})
	}
	for _, dir := range r.Plugins.Dirs {
		roots = append(roots, scan.Root{Source: skills.SourceExtra, Dir: dir, Plugins: true, Named: true})
	}
	if r.Roots.Samples {
		roots = append(roots, scan.Root{Source: skills.SourceExtra, FS: colonysamples.FS(), Label: "bundled:colony-samples", Plugins: true})
	}
	if r.host != nil { // last: its skills take no name
		roots = append(roots, scan.Root{Source: skills.SourceExtra, FS: r.host.FS(), Label: skillshost.Label, Plugins: true, Flat: true})
	}
	return roots
}

// sessionRoots returns the roots in a workspace. It may be a stranger's, so nothing in
// it leads out of it; its owner trusts all other folders.
func (r *Roots) sessionRoots(workspace string) []scan.Root {
	var roots []scan.Root
	for _, name := range []string{".colony", ".claude", ".agents"} {
		roots = append(roots, rootsIn(skills.SourceSession, filepath.Join(workspace, name), workspace)...)
	}
	for _, name := range append(r.clients(".github", ".gemini", ""), "") {
		roots = append(roots, scan.Root{Source: skills.SourceSession, Dir: filepath.Join(workspace, name, "skills"), Within: workspace})
	}
	return roots
}

// userRoots returns the roots in the home folder.
func (r *Roots) userRoots(home string) []scan.Root {
	var roots []scan.Root
	for _, name := range []string{".colony", ".claude", ".agents", ".openclaw"} {
		roots = append(roots, rootsIn(skills.SourceUser, filepath.Join(home, name), "")...)
	}
	for _, name := range append(r.clients(".copilot", ".gemini", ".codex"), ".conduit") {
		roots = append(roots, scan.Root{Source: skills.SourceUser, Dir: filepath.Join(home, name, "skills")})
	}
	return append(roots, scan.Root{Source: skills.SourceUser, Dir: filepath.Join(home, ".conduit", "plugins"), Plugins: true})
}

// clients returns the folders of Copilot, Gemini CLI and Codex, in this order, that are not
// switched off. "" is a client without a folder there.
func (r *Roots) clients(copilot, gemini, codex string) (names []string) {
	if r.Roots.Copilot {
		names = append(names, copilot)
	}
	if r.Roots.Gemini {
		names = append(names, gemini)
	}
	if r.Roots.Codex && codex != "" {
		names = append(names, codex)
	}
	return names
}

// rootsIn returns the roots in an agent's folder. Links out of within, if it is set,
// are not followed.
func rootsIn(source skills.Source, dir, within string) []scan.Root {
	roots := []scan.Root{
		{Source: source, Dir: filepath.Join(dir, "skills"), Within: within},
		{Source: source, Dir: filepath.Join(dir, "plugins"), Within: within, Plugins: true},
	}
	if filepath.Base(dir) == ".claude" {
		roots = append(roots,
			scan.Root{Source: source, Dir: filepath.Join(dir, "commands"), Within: within, Commands: true},
			scan.Root{Source: source, Dir: filepath.Join(dir, "agents"), Within: within, Agents: true})
	}
	return roots
}

// ongridVariable lists the folders in which ongrid looks for skills.
const ongridVariable = "ONGRID_SKILLS_EXTERNAL_DIRS"

// ongridFolders splits a list of folders at commas and colons. As in ongrid, relative ones
// are left out, and logged.
func ongridFolders(list string, logger *slog.Logger) []string {
	var folders []string
	for _, dir := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ':' }) {
		switch dir = strings.TrimSpace(dir); {
		case filepath.IsAbs(dir):
			folders = append(folders, filepath.Clean(dir))
		case dir != "":
			logger.Warn("a folder of "+ongridVariable+" is not absolute, and is left out", "folder", dir)
		}
	}
	return folders
}

// Folders returns the host folders of the roots.
func (r *Roots) Folders() []string {
	var dirs []string
	for _, root := range r.List() {
		if root.Dir != "" {
			dirs = append(dirs, root.Dir)
		}
	}
	return dirs
}

func (r *Roots) ScanOptions() *scan.Options {
	return &scan.Options{
		Problems: r.workspaces.Problems, Trusted: func(workspace string) bool { return r.trust.Trusts(context.Background(), workspace) },
		Strict: r.Scan.Strict, Depth: r.Scan.Depth, Manifests: r.Scan.Manifests, Folders: r.Scan.Folders,
		ImageRole: func(role string) bool {
			_, ok := r.Images[role]
			return ok
		},
		Disabled: disabledByOpenClaw(r.home, r.logger),
		Host: func(host string) error {
			_, err := egress.ParseRule(host)
			return err
		},
	}
}

// Scanner returns a scanner of the roots with the parse cache of earlier runs. saved
// waits until the cache is written. ahead is that of [scan.Options]; it may be nil.
func (r *Roots) Scanner(ahead func(folder string) bool) (scanner *scan.Scanner, saved func()) {
	roots, options := r.List(), r.ScanOptions()
	options.Ahead = ahead
	saved = func() {}
	if file, o := r.cache("parsed", roots); o != nil {
		store := cache.New(file, o)
		options.Cache, saved = store.Open, store.Wait
	}
	return scan.NewScanner(roots, options), saved
}

// Index returns a search index, with the cache of earlier runs.
func (r *Roots) Index() *search.Index {
	if file, o := r.cache("indexed", r.List()); o != nil {
		return search.New(&search.Options{Cache: cache.NewIndex(file, o)})
	}
	return search.New(nil)
}

// cache returns the file of a kind of cache of the roots, and its options; nil if there
// is no folder for it.
func (r *Roots) cache(kind string, roots []scan.Root) (file string, o *cache.Options) {
	dir, err := CacheDir()
	if err != nil {
		return "", nil
	}
	program, err := os.Executable()
	if err != nil {
		return "", nil
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", nil
	}
	return filepath.Join(dir, kind, rootsKey(roots)), &cache.Options{
		// Another build may parse the same files differently, and split their texts.
		Version: fmt.Sprint(build.Read().Version, info.Size(), info.ModTime().UnixNano(), r.Scan.Strict),
		Logger:  r.logger,
	}
}

// rootsKey returns a file name for a set of roots.
func rootsKey(roots []scan.Root) string {
	var key []string
	for _, root := range roots {
		key = append(key, string(root.Source), root.Dir, root.Within, root.Label, fmt.Sprint(root.Plugins))
	}
	encoded, _ := json.Marshal(key) // strings always can be
	return fmt.Sprintf("%x", sha256.Sum256(encoded))[:32]
}

// maxWatched bounds the watched folders of one root. Each takes about 1 KB of the
// kernel's memory.
const maxWatched = 50_000

// Watcher returns a watcher for the roots, which is to begin.
func (r *Roots) Watcher(logger *slog.Logger) (*watch.Watcher, error) {
	return watch.New(&watch.Options{Depth: r.Scan.Depth, Folders: min(r.Scan.Folders, maxWatched), Logger: logger})
}
