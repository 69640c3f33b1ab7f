package lock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/collation"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// NPMName is the name of the lock file of the npm package skills, in a project.
const NPMName = "skills-lock.json"

// npmVersion is the version of its format.
const npmVersion = 1

// An NPMEntry is a skill in that file: see the package's local-lock.ts, version 1.
type NPMEntry struct {
	Source       string `json:"source"`
	SourceURL    string `json:"sourceUrl,omitempty"`
	Ref          string `json:"ref,omitempty"`
	SourceType   string `json:"sourceType"`
	SkillPath    string `json:"skillPath,omitempty"`
	ComputedHash string `json:"computedHash"`
}

// NPM returns the entry of an installed skill, without its hash; ok is false for a source
// that the package does not know.
func (s *State) NPM() (e NPMEntry, ok bool) {
	from := s.Source
	e = NPMEntry{Source: from.Location, Ref: from.Ref, SkillPath: path.Join(s.Path, "SKILL.md")}
	if s.Kind != Skill {
		return e, false
	}
	switch from.Kind {
	case source.Folder:
		e.SourceType = "local"
	case source.Index:
		e.SourceType = "well-known"
	case source.Git:
		e.SourceType = "git"
		host, repo := repository(from.Location)
		if kind := map[string]string{"github.com": "github", "gitlab.com": "gitlab"}[host]; kind != "" {
			e.SourceType, e.Source, e.SourceURL = kind, repo, from.Location
		}
	default:
		return e, false
	}
	return e, true
}

// repository returns the host and the path without .git of a repository's URL.
func repository(location string) (host, repo string) {
	u, err := url.Parse(location)
	if err != nil {
		return "", ""
	}
	return strings.ToLower(u.Hostname()), strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
}

// NPMHash returns the computedHash of a folder: SHA-256 over the path and the content of
// each file outside of .git and node_modules, in the order of the Unicode collation
// algorithm.
func NPMHash(ctx context.Context, folder fs.FS) (string, error) {
	var names []string
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	slices.SortFunc(names, collation.Compare)
	sum := sha256.New()
	for _, name := range names {
		io.WriteString(sum, name)
		if err := copyTo(ctx, sum, folder, name); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func copyTo(ctx context.Context, to io.Writer, folder fs.FS, name string) error {
	file, err := skillfs.OpenRegular(folder, name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(to, io.LimitReader(&skillfs.ContextReader{Context: ctx, Reader: file}, maxRead))
	return err
}

// WriteNPM changes entries in skills-lock.json beside the lock: one of gone is removed if it
// has the Source that ours has, for others may have written theirs. All else that is in
// the file stays. A file that cannot be read is left alone, with an error.
func (l *Lock) WriteNPM(set, gone map[string]NPMEntry) error {
	file, entries, err := l.readNPM()
	if err != nil {
		return fmt.Errorf("%s is left as it is: %w", NPMName, err)
	}
	changed := len(set) > 0
	for name, e := range set {
		if entries[name], err = json.Marshal(e); err != nil {
			return err
		}
	}
	for name, e := range gone {
		var there NPMEntry
		if json.Unmarshal(entries[name], &there) == nil && there.Source == e.Source {
			delete(entries, name)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	file["skills"] = entries
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	return replace(l.root, NPMName, filepath.Join(filepath.FromSlash(l.state), NPMName+".tmp"), append(data, '\n'))
}

// readNPM returns the members of the file, and those of its skills.
func (l *Lock) readNPM() (file map[string]any, entries map[string]json.RawMessage, err error) {
	data, err := skillfs.ReadRegular(l.root.FS(), NPMName, maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]any{"version": npmVersion}, map[string]json.RawMessage{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var head struct {
		Version int                        `json:"version"`
		Skills  map[string]json.RawMessage `json:"skills"`
	}
	if err := errors.Join(json.Unmarshal(data, &head), json.Unmarshal(data, &file)); err != nil {
		return nil, nil, fmt.Errorf("it is not JSON of the form that is known: %w", err)
	}
	if head.Version != npmVersion {
		return nil, nil, fmt.Errorf("it has version %d, and this program writes version %d", head.Version, npmVersion)
	}
	if head.Skills == nil {
		head.Skills = map[string]json.RawMessage{}
	}
	return file, head.Skills, nil
}
