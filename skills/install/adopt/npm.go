package adopt

import (
	"cmp"
	"errors"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// An npmEntry is an entry of skills-lock.json (version 1, of a project) or
// .skill-lock.json (version 3, of a person), as skills 1.7 writes them. gh writes the
// second, too.
type npmEntry struct {
	Source          string    `json:"source"`
	SourceURL       string    `json:"sourceUrl"`
	SourceBaseURL   string    `json:"sourceBaseUrl"`
	SourceType      string    `json:"sourceType"`
	Ref             string    `json:"ref"`
	PinnedRef       string    `json:"pinnedRef"`
	SkillPath       string    `json:"skillPath"`
	ComputedHash    string    `json:"computedHash"`
	SkillFolderHash string    `json:"skillFolderHash"`
	WellKnownDigest string    `json:"wellKnownDigest"`
	InstalledAt     time.Time `json:"installedAt,omitzero"`
}

const (
	projectLockFile = "skills-lock.json"
	personLockFile  = ".skill-lock.json"
)

func (a *adopter) projectLock() ([]*record, error) {
	data, err := a.read(projectLockFile)
	if data == nil || err != nil {
		return nil, err
	}
	return decode(projectLockFile, data, 1, a.npmRecord(projectLockFile, a.Dir))
}

// personLock reads the file in $XDG_STATE_HOME or, without it and for gh, in .agents.
func (a *adopter) personLock() (all []*record, err error) {
	if !a.Home {
		return nil, nil
	}
	var errs []error
	for _, dir := range []string{filepath.Join(a.State, "skills"), filepath.Join(a.Dir, ".agents")} {
		if !filepath.IsAbs(dir) {
			continue
		}
		label := filepath.Join(dir, personLockFile)
		data, err := readLock(skillfs.DirFS(dir), personLockFile, label)
		if err == nil && data != nil {
			var records []*record
			records, err = decode(label, data, 3, a.npmRecord(label, dir))
			all = append(all, records...)
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}

// npmRecord returns the function that makes records of entries; relative sources start
// from dir.
func (a *adopter) npmRecord(file, dir string) func(key string, e npmEntry) *record {
	return func(key string, e npmEntry) *record {
		r := &record{tool: Skills, lock: file, name: key, folder: folderName(key), installed: e.InstalledAt.UTC()}
		r.source, r.err = e.source(dir)
		if r.err == nil {
			r.path, r.err = e.path(r)
		}
		if r.err != nil {
			return r
		}
		switch hash := cmp.Or(e.ComputedHash, e.SkillFolderHash); {
		case len(hash) == 40:
			r.unproved = append(r.unproved, "the Git tree "+hash+": update compares with the source")
		case hash != "":
			r.recorded = &recorded{"the folder's hash in " + path.Base(filepath.ToSlash(file)), hash, folderHash}
		}
		if e.WellKnownDigest != "" {
			r.unproved = append(r.unproved, "the digest "+e.WellKnownDigest+" of the index: it is that of the download, which is gone")
		}
		if r.source.Kind == source.Folder && !a.Home && !skillfs.Inside(a.Dir, r.source.Location) {
			r.unproved = append(r.unproved, "the source "+r.source.Location+": it is a folder of this machine outside of the project")
		}
		return r
	}
}

var npmUnsafe = lazyregexp.New(`[^a-z0-9._]+`)

// folderName returns the folder of a skill, as the skills tool names it.
func folderName(name string) string {
	name = npmUnsafe.ReplaceAllString(strings.ToLower(name), "-")
	name = strings.Trim(name, ".-")
	return name[:min(len(name), 255)]
}

// source returns the source of an entry; a relative path starts from dir.
func (e npmEntry) source(dir string) (source.Source, error) {
	location := e.SourceURL
	if location == "" {
		location = e.Source
	}
	switch e.SourceType {
	case "github":
		if e.Source != "" && !strings.Contains(e.Source, ":") {
			location = e.Source
		}
		return parseSource(repository(location, cmp.Or(e.PinnedRef, e.Ref)), dir)
	case "gitlab", "git":
		return parseSource(repository(location, e.Ref), dir)
	case "well-known":
		if e.SourceBaseURL != "" {
			location = e.SourceBaseURL
		}
		return parseSource(location, dir)
	case "local":
		if !filepath.IsAbs(e.Source) {
			location = "./" + e.Source
		}
		return parseSource(filepath.FromSlash(location), dir)
	}
	return source.Source{}, &source.RefusedError{Reason: "its source is of the unknown kind " + e.SourceType, Remedy: "install it again with skills-mcp"}
}

// path returns the folder of an entry in its source; "" is not recorded.
func (e npmEntry) path(r *record) (string, error) {
	if e.SkillPath == "" && r.source.Kind == source.Index {
		return r.name, nil
	}
	return skillFolder(filepath.ToSlash(e.SkillPath))
}
