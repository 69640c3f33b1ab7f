package adopt

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
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
	return decode(projectLockFile, data, []int{1}, a.npmRecord(projectLockFile, a.Dir))
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
			records, err = decode(label, data, []int{3}, a.npmRecord(label, dir))
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
		hash := e.ComputedHash
		if hash == "" {
			hash = e.SkillFolderHash
		}
		switch {
		case hash == "":
		case len(hash) == 40:
			r.claims = append(r.claims, treeClaim(hash))
		default:
			r.claims = append(r.claims, claim{"the folder's hash in " + path.Base(filepath.ToSlash(file)), edited, hashed(folderHash, hash)})
		}
		if e.WellKnownDigest != "" {
			r.unproved = append(r.unproved, "the digest "+e.WellKnownDigest+" of the index: it is that of the download, which is gone")
		}
		if r.source.Kind == source.Folder && !a.Home && !skillfs.Inside(a.Dir, r.source.Location) {
			r.unproved = append(r.unproved, "the source "+r.source.Location+": it is a folder of this machine outside of the project")
		}
		a.refine(r, e)
		return r
	}
}

// hashed returns whether a hash is a wanted one, for [claim].
func hashed(sum func(context.Context, skillfs.Dir, map[string]lock.FileState) (string, error), want string) func(context.Context, skillfs.Dir, map[string]lock.FileState) (bool, error) {
	return func(ctx context.Context, files skillfs.Dir, states map[string]lock.FileState) (bool, error) {
		got, err := sum(ctx, files, states)
		return got == want, err
	}
}

// treeClaim returns the claim of a Git tree. A download loses the modes of files: they
// are tried without.
func treeClaim(id string) claim {
	return claim{"the Git tree " + id, edited, func(ctx context.Context, files skillfs.Dir, states map[string]lock.FileState) (bool, error) {
		for _, executable := range []func(string) bool{
			func(name string) bool { return states[name].Executable },
			func(string) bool { return false },
		} {
			if got, err := gitTree(ctx, files, states, id, nil, executable); err != nil || got == id {
				return err == nil, err
			}
		}
		return false, nil
	}}
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

// path returns the folder of an entry in its source. For a local source none is recorded:
// the tool looks for skills in it as we do, and mostly finds them here.
func (e npmEntry) path(r *record) (string, error) {
	switch {
	case e.SkillPath != "":
		return skillFolder(filepath.ToSlash(e.SkillPath))
	case r.source.Kind == source.Index:
		return r.name, nil
	case r.source.Kind != source.Folder:
		return "", nil
	}
	for _, name := range []string{".", r.folder, "skills/" + r.folder} {
		if _, err := fs.Stat(os.DirFS(r.source.Location), path.Join(name, "SKILL.md")); err == nil && fs.ValidPath(name) {
			return strings.TrimPrefix(name, "."), nil
		}
	}
	return "", nil
}

// refine turns the record of an entry that gh has written into one of gh, whose stamp in
// the SKILL.md says more.
func (a *adopter) refine(r *record, e npmEntry) {
	for _, dir := range a.foldersOf(r) {
		if stamp := a.stamp(dir); stamp != nil && e.SkillFolderHash != "" && stamp.tree == e.SkillFolderHash {
			name, file := r.name, r.lock
			*r = *stamp.record(dir, cmp.Or(e.PinnedRef, stamp.pinned) != "")
			r.name, r.lock = name, file
			return
		}
	}
}
