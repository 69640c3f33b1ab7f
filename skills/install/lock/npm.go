package lock

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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

// WriteNPM changes entries in skills-lock.json beside the lock: a nil one is removed if it
// has the Source that ours has, for others may have written theirs. All else that is in
// the file stays. A file that cannot be read is left alone, with an error.
func (l *Lock) WriteNPM(set map[string]*NPMEntry, gone map[string]NPMEntry) error {
	top, all, err := l.readNPM()
	if err != nil {
		return fmt.Errorf("%s is left as it is: %w", NPMName, err)
	}
	before := maps.Clone(all)
	for name, e := range set {
		if all[name], err = withUnknown(all[name], e); err != nil {
			return fmt.Errorf("%s is left as it is: %w", NPMName, err)
		}
	}
	for name, e := range gone {
		var there NPMEntry
		if json.Unmarshal(all[name], &there) == nil && there.Source == e.Source {
			delete(all, name)
		}
	}
	if maps.EqualFunc(before, all, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return nil
	}
	data, err := encodeNPM(top, all)
	if err != nil {
		return err
	}
	return replace(l.root, NPMName, filepath.Join(filepath.FromSlash(l.state), NPMName+".tmp"), data)
}

// readNPM returns the members of the file, and those of its skills.
func (l *Lock) readNPM() (top, all map[string]json.RawMessage, err error) {
	top = map[string]json.RawMessage{"version": json.RawMessage(fmt.Sprint(npmVersion))}
	all = map[string]json.RawMessage{}
	data, err := skillfs.ReadRegular(l.root.FS(), NPMName, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return top, all, nil
	case err != nil:
		return nil, nil, err
	}
	var head struct {
		Version int                        `json:"version"`
		Skills  map[string]json.RawMessage `json:"skills"`
	}
	if err := errors.Join(json.Unmarshal(data, &head), json.Unmarshal(data, &top)); err != nil {
		return nil, nil, fmt.Errorf("it is not JSON of the form that is known: %w", err)
	}
	if head.Version != npmVersion {
		return nil, nil, fmt.Errorf("it has version %d, and this program writes version %d", head.Version, npmVersion)
	}
	if head.Skills != nil {
		all = head.Skills
	}
	return top, all, nil
}

// withUnknown returns an entry with the members of an earlier one that the format does
// not have; those that others compute of a version are not of this one.
func withUnknown(before json.RawMessage, e *NPMEntry) (json.RawMessage, error) {
	merged := map[string]json.RawMessage{}
	if before != nil {
		if err := json.Unmarshal(before, &merged); err != nil {
			return nil, err
		}
	}
	for _, ours := range []string{"source", "sourceUrl", "ref", "sourceType", "skillPath", "computedHash", "wellKnownDigest"} {
		delete(merged, ours)
	}
	data, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(data, &merged)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(merged)
}

// encodeNPM returns the file: the version first, as the package writes it.
func encodeNPM(top, all map[string]json.RawMessage) ([]byte, error) {
	skills, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	top["skills"] = skills
	var compact bytes.Buffer
	compact.WriteString(`{"version":` + string(top["version"]))
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if name == "version" {
			continue
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&compact, ",%s:%s", key, top[name])
	}
	compact.WriteByte('}')
	var out bytes.Buffer
	if err := json.Indent(&out, compact.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
