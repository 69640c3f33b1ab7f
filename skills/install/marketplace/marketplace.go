// Package marketplace reads the plugins that a Claude Code marketplace lists, each with
// its folder in the marketplace or the source to fetch it from.
//
// Start with [Read].
package marketplace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// File is the path of a marketplace's file in its folder.
const File = ".claude-plugin/marketplace.json"

// maxFile bounds a marketplace.json in bytes.
const maxFile = 4 << 20

// A Marketplace is a list of plugins.
type Marketplace struct {
	Name     string
	Entries  []Entry // in the order of the file; names are unique
	Problems []skills.Problem
}

// An Entry is a plugin of a marketplace: a folder of it, a source, or an error.
type Entry struct {
	Name        string
	Description string
	// Folder is the slash-separated folder in the marketplace's tree, "." for all of
	// it; "" if the plugin is elsewhere, at Source.
	Folder string
	Source source.Source
	// Strict reports that the plugin's own manifest counts, if there is one.
	Strict bool
	// Err is the reason why the plugin cannot be had, a [*source.RefusedError] for one
	// that is not accepted.
	Err   error
	alone []byte
}

// Read reads the marketplace in the root of a fetched tree. The error is
// [fs.ErrNotExist] if the tree is none.
func Read(fsys fs.FS) (*Marketplace, error) {
	for _, name := range []string{File, ".agents/plugins/marketplace.json", "marketplace.json"} {
		data, err := manifest.ReadFile(fsys, name, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return Parse(name, data, fsys)
	}
	return nil, &fs.PathError{Op: "open", Path: File, Err: fs.ErrNotExist}
}

// Parse reads the marketplace.json of that name. fsys has its folder; nil is a file
// alone, in which relative paths are errors of their entries.
func Parse(name string, data []byte, fsys fs.FS) (*Marketplace, error) {
	m := &Marketplace{}
	report := func(severity skills.Severity, at manifest.Position, remedy, format string, args ...any) {
		m.Problems = append(m.Problems, skills.Problem{Severity: severity, Path: name, Line: at.Line, Col: at.Col, Message: fmt.Sprintf(format, args...), Remedy: remedy})
	}
	parsed, err := manifest.ParseMarket(data, report)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	m.Name = parsed.Name
	seen := map[string]bool{}
	for _, e := range parsed.Entries {
		entry := readEntry(parsed, e, fsys)
		if entry.Name == "" || seen[entry.Name] {
			report(skills.Warning, e.SourceAt, "give it a name of its own", "the plugin %q has no name, or that of another, and is left out", e.Name)
			continue
		}
		seen[entry.Name] = true
		m.Entries = append(m.Entries, entry)
	}
	return m, nil
}

func readEntry(m *manifest.Market, e manifest.MarketEntry, fsys fs.FS) Entry {
	entry := Entry{Name: manifest.CleanName(e.Name), Description: e.Description(), Strict: e.Strict()}
	if e.Here {
		entry.Folder, entry.Err = folder(m.Base, e.Source, fsys)
	} else {
		entry.Source, entry.Err = remote(e.Remote())
	}
	alone, err := e.Alone(m.Name)
	entry.alone, entry.Err = alone, cmp.Or(entry.Err, err)
	return entry
}

// folder returns the folder of fsys that a relative source names: below the
// marketplace's pluginRoot, or else below its folder.
func folder(base, name string, fsys fs.FS) (string, error) {
	if fsys == nil {
		return "", fmt.Errorf("the path %q is relative to the repository of the marketplace, which was not fetched; install the repository", name)
	}
	var err error
	for _, base := range []string{cmp.Or(base, "."), "."} {
		var dir string
		if dir, err = folderAt(fsys, path.Join(base, name)); err == nil {
			return dir, nil
		}
	}
	if errors.Is(err, skillfs.ErrLeaves) {
		return "", &source.RefusedError{Reason: fmt.Sprintf("the path %q leads out of the marketplace", name)}
	}
	return "", fmt.Errorf("find the folder %q of the marketplace: %w", name, err)
}

func folderAt(fsys fs.FS, name string) (string, error) {
	dir, err := skillfs.Resolve(fsys, "", name)
	if err != nil {
		return "", err
	}
	info, err := fs.Stat(fsys, dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	return dir, err
}

// remote returns the source to fetch a plugin from, by the kinds that the Claude Code
// documentation lists.
func remote(s manifest.MarketSource) (source.Source, error) {
	switch s.Kind {
	case "github":
		return github(s)
	case "url", "git-subdir", "git":
		return repository(s)
	case "npm":
		return source.Source{}, &source.RefusedError{Reason: "the plugin is a package of npm, which is not fetched", Remedy: fmt.Sprintf("download it with npm pack %q, and install the .tgz file", s.Package)}
	case "archive":
		return archive(s)
	case "command":
		return source.Source{}, &source.RefusedError{Reason: "the marketplace gets the plugin with a command of its own", Remedy: "ask its author for a repository or an archive"}
	case "":
		return source.Source{}, fmt.Errorf("the plugin has the source %q, which is neither a path nor an object", s.Text)
	}
	return source.Source{}, fmt.Errorf("the plugin has a source of the unknown kind %q", s.Kind)
}

func github(s manifest.MarketSource) (source.Source, error) {
	if !source.IsRepo(s.Repo) {
		return source.Source{}, fmt.Errorf("the source's repo %q is not OWNER/REPO", s.Repo)
	}
	s.URL = "https://github.com/" + strings.TrimSuffix(s.Repo, ".git") + ".git"
	return repository(s)
}

func repository(s manifest.MarketSource) (source.Source, error) {
	if s.URL == "" {
		return source.Source{}, errors.New("the source has no url")
	}
	if source.IsRepo(s.URL) {
		s.URL = "https://github.com/" + strings.TrimSuffix(s.URL, ".git") + ".git"
	}
	dir, err := inside(s.Path)
	if err != nil {
		return source.Source{}, err
	}
	if s.SHA != "" && !source.IsCommit(s.SHA) {
		return source.Source{}, fmt.Errorf("the source's sha %q is not a full commit", s.SHA)
	}
	return source.Source{Kind: source.Git, Location: s.URL, Ref: s.Ref, Path: dir, Pin: strings.ToLower(s.SHA)}, nil
}

// inside returns a path of a repository in its shortest form, "" for all of it.
func inside(name string) (string, error) {
	if path.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..") {
		return "", &source.RefusedError{Reason: fmt.Sprintf("the path %q leads out of the repository", name)}
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/"), nil
}

func archive(s manifest.MarketSource) (source.Source, error) {
	if !strings.HasPrefix(strings.ToLower(s.URL), "https://") {
		return source.Source{}, fmt.Errorf("the source's url %q is not an https:// URL", s.URL)
	}
	found := source.Source{Kind: source.URL, Location: s.URL}
	if s.SHA256 != "" {
		digest := strings.TrimPrefix(strings.ToLower(s.SHA256), "sha256:")
		if sum, err := hex.DecodeString(digest); err != nil || len(sum) != sha256.Size {
			return source.Source{}, fmt.Errorf("the source's sha256 %q is not 64 hexadecimal digits", s.SHA256)
		}
		found.Pin = "sha256:" + digest
	}
	return found, nil
}

// pluginFiles are the paths of a plugin's own manifest in its folder.
var pluginFiles = [...]string{".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "plugin.json"}

// Supplement returns the file, a path and its content, that the plugin's folder lacks
// outside of the marketplace: without it a scan of the folder would find another plugin
// than the entry describes. "" is none.
func (e Entry) Supplement(folder fs.FS) (name string, content []byte) {
	exists := func(name string) bool {
		_, err := fs.Stat(folder, name)
		return err == nil
	}
	if e.Strict && slices.ContainsFunc(pluginFiles[:], exists) && !exists(File) {
		return "", nil
	}
	return File, bytes.Clone(e.alone)
}
