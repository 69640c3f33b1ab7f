package adopt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A clawhubEntry is an entry of .clawhub/lock.json (version 1), as clawhub 0.23 writes it.
type clawhubEntry struct {
	Version          string  `json:"version"`
	InstalledAt      float64 `json:"installedAt"` // milliseconds since 1970
	OwnerHandle      string  `json:"ownerHandle"`
	SourceRef        string  `json:"sourceRef"`
	SourceRepository string  `json:"sourceRepository"`
	SourcePath       string  `json:"sourcePath"`
	Pinned           bool    `json:"pinned"`
}

// A clawhubOrigin is .clawhub/origin.json in the folder of a skill.
type clawhubOrigin struct {
	Version          int    `json:"version"`
	Registry         string `json:"registry"`
	Slug             string `json:"slug"`
	OwnerHandle      string `json:"ownerHandle"`
	InstalledVersion string `json:"installedVersion"`
	Fingerprint      string `json:"fingerprint"`
}

// clawhubFolders are the names of ClawHub's own folder; the second was its first.
func clawhubFolders() []string { return []string{".clawhub", ".clawdhub"} }

// clawhub reads the lock files of Dir and of the folders in it that agents work in.
func (a *adopter) clawhub() (all []*record, err error) {
	var errs []error
	workspaces := []string{"."}
	for _, dir := range a.folders {
		if up := path.Dir(dir); up != "." {
			workspaces = append(workspaces, up)
		}
	}
	for _, workspace := range workspaces {
		for _, folder := range clawhubFolders() {
			file := path.Join(workspace, folder, "lock.json")
			data, err := a.read(file)
			if err != nil {
				errs = append(errs, err)
			}
			if data == nil {
				continue
			}
			records, err := decode(file, data, []int{1}, a.clawhubRecord(file, workspace))
			all, errs = append(all, records...), append(errs, err)
			break
		}
	}
	return all, errors.Join(errs...)
}

func (a *adopter) clawhubRecord(file, workspace string) func(key string, e clawhubEntry) *record {
	return func(key string, e clawhubEntry) *record {
		slug := strings.TrimPrefix(key, "@")
		r := &record{tool: ClawHub, lock: file, name: key, folder: key, dirs: append([]string{path.Join(workspace, "skills")}, a.folders...), revision: e.Version}
		if e.InstalledAt > 0 && e.InstalledAt < 1e14 {
			r.installed = time.UnixMilli(int64(e.InstalledAt)).UTC()
		}
		mirrored := e.SourceRef != "" || strings.HasPrefix(key, "skills-sh")
		if mirrored {
			r.folder = path.Base(key)
		}
		origin := a.origin(r)
		if mirrored {
			r.source, r.err = mirror(key, e)
			r.path, r.revision = e.SourcePath, ""
			if isCommit(e.Version) {
				r.revision = e.Version
			}
			r.path, r.err = joinErrors(r.path, r.err)
		} else {
			r.source, r.err = clawhubSource(slug, e, origin)
		}
		if r.err != nil {
			return r
		}
		r.prove(origin)
		return r
	}
}

// joinErrors returns the folder of a path in a source, and the first error.
func joinErrors(name string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return skillFolder(name)
}

// prove adds the claims of a folder's origin.
func (r *record) prove(origin *clawhubOrigin) {
	if origin == nil {
		return
	}
	if origin.Fingerprint != "" {
		r.claims = append(r.claims, claim{"the fingerprint in origin.json", edited, func(_ context.Context, _ skillfs.Dir, states map[string]lock.FileState) (bool, error) {
			return fingerprint(states) == origin.Fingerprint, nil
		}})
	}
	if origin.InstalledVersion != r.revision && r.revision != "" {
		r.unproved = append(r.unproved, "the version "+r.revision+": origin.json has "+origin.InstalledVersion)
	}
	r.unproved = append(r.unproved, "an installation from the source has the same bytes: clawhub added .clawhub/origin.json and _meta.json")
}

// origin returns the origin of a record's folder; nil without a readable one.
func (a *adopter) origin(r *record) *clawhubOrigin {
	for _, dir := range a.foldersOf(r) {
		for _, folder := range clawhubFolders() {
			data, err := a.read(path.Join(dir, folder, "origin.json"))
			o := &clawhubOrigin{}
			if err == nil && data != nil && json.Unmarshal(data, o) == nil && checkTexts("", o) == nil && o.Version == 1 {
				return o
			}
		}
	}
	return nil
}

// clawhubSource returns the source of a skill of a registry. It is at a version only if
// the person has pinned it.
func clawhubSource(slug string, e clawhubEntry, origin *clawhubOrigin) (source.Source, error) {
	if e.OwnerHandle != "" && !strings.Contains(slug, "/") {
		slug = e.OwnerHandle + "/" + slug
	}
	text := "clawhub:" + slug
	if origin != nil && !isDefaultRegistry(origin.Registry) {
		text = "clawhub+" + strings.TrimRight(origin.Registry, "/") + "#" + slug
	}
	if e.Pinned && e.Version != "" {
		text += "@" + e.Version
	}
	return parseSource(text, "")
}

func isDefaultRegistry(registry string) bool {
	u, err := url.Parse(registry)
	if err != nil {
		return false
	}
	return registry == "" || u.Host == "clawhub.ai" || u.Host == "clawhub.com" || u.Host == "clawdhub.com"
}

// mirror returns the source of a skill of the skills.sh mirror: the repository.
func mirror(key string, e clawhubEntry) (source.Source, error) {
	if e.SourceRepository == "" {
		return parseSource(cmp.Or(e.SourceRef, key), "")
	}
	return parseSource(repository(e.SourceRepository, ""), "")
}
