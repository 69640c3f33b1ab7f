package adopt

import (
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A clawhubEntry is an entry of .clawhub/lock.json (version 1), as clawhub 0.23 writes it.
type clawhubEntry struct {
	Version     string  `json:"version"`
	InstalledAt float64 `json:"installedAt"` // milliseconds since 1970
	OwnerHandle string  `json:"ownerHandle"`
	SourceRef   string  `json:"sourceRef"`
	Pinned      bool    `json:"pinned"`
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
		file := path.Join(workspace, ".clawhub", "lock.json")
		data, err := a.read(file)
		if err == nil && data != nil {
			var records []*record
			records, err = decode(file, data, 1, a.clawhubRecord(file, workspace))
			all = append(all, records...)
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}

func (a *adopter) clawhubRecord(file, workspace string) func(key string, e clawhubEntry) *record {
	return func(key string, e clawhubEntry) *record {
		r := &record{tool: ClawHub, lock: file, name: key, folder: key, dirs: append([]string{path.Join(workspace, "skills")}, a.folders...), revision: e.Version}
		if e.InstalledAt > 0 && e.InstalledAt < 1e14 {
			r.installed = time.UnixMilli(int64(e.InstalledAt)).UTC()
		}
		if e.SourceRef != "" { // of the mirror of skills.sh
			r.source, r.err = parseSource(e.SourceRef, "")
			return r
		}
		origin := a.origin(r)
		if r.source, r.err = clawhubSource(strings.TrimPrefix(key, "@"), e, origin); r.err == nil && origin != nil {
			r.prove(origin)
		}
		return r
	}
}

// prove adds the claims of a folder's origin.
func (r *record) prove(origin *clawhubOrigin) {
	if origin.Fingerprint != "" {
		r.recorded = &recorded{"the fingerprint in origin.json", origin.Fingerprint, fingerprint}
	}
	if origin.InstalledVersion != r.revision && r.revision != "" {
		r.unproved = append(r.unproved, "the version "+r.revision+": origin.json has "+origin.InstalledVersion)
	}
	r.unproved = append(r.unproved, "an installation from the source has the same bytes: clawhub added .clawhub/origin.json and _meta.json")
}

// origin returns the origin of a record's folder; nil without a readable one.
func (a *adopter) origin(r *record) *clawhubOrigin {
	for _, dir := range a.foldersOf(r) {
		data, err := a.read(path.Join(dir, ".clawhub", "origin.json"))
		o := &clawhubOrigin{}
		if err == nil && data != nil && json.Unmarshal(data, o) == nil && checkTexts("", o) == nil && o.Version == 1 {
			return o
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
