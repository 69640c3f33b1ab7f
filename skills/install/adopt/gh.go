package adopt

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A stamp is the metadata that gh writes into the SKILL.md of a skill it installs, each
// under its name with github- before (cli/cli, internal/skills/frontmatter).
type stamp struct {
	repo, ref, tree, path, pinned string
}

// stamp returns the stamp of a folder's SKILL.md; nil without one.
func (a *adopter) stamp(dir string) *stamp {
	data, err := skillfs.ReadRegular(a.files, path.Join(dir, "SKILL.md"), manifest.MaxSize)
	if err != nil || !bytes.Contains(data, []byte("github-tree-sha")) {
		return nil
	}
	front, err := manifest.Frontmatter(data)
	if err != nil {
		return nil
	}
	meta, _ := front["metadata"].(map[string]any)
	if checkTexts(dir, meta) != nil {
		return nil
	}
	text := func(key string) string { t, _ := meta[key].(string); return t }
	s := &stamp{text("github-repo"), text("github-ref"), text("github-tree-sha"), text("github-path"), text("github-pinned")}
	if s.repo == "" || !source.IsCommit(s.tree) {
		return nil
	}
	return s
}

// stampedByGH returns a record for each stamped folder: gh has no lock file of a project.
func (a *adopter) stampedByGH() (all []*record, err error) {
	for _, dir := range a.folders {
		for _, name := range a.subfolders(dir) {
			at := path.Join(dir, name)
			if a.taken[strings.ToLower(at)] || len(all) == maxRecords || !a.isFolder(at) {
				continue
			}
			if s := a.stamp(at); s != nil {
				all = append(all, s.record(at))
			}
		}
	}
	return all, nil
}

// record returns the record of a stamped folder.
func (s *stamp) record(dir string) *record {
	r := &record{tool: GitHub, lock: path.Join(dir, "SKILL.md"), name: path.Base(dir), dirs: []string{path.Dir(dir)}, folder: path.Base(dir)}
	if r.source, r.err = parseSource(repository(s.repo, cmp.Or(s.pinned, s.ref)), ""); r.err != nil {
		return r
	}
	if r.source.Kind != source.Git {
		r.err = &source.RefusedError{Reason: "its source is no repository", Remedy: "install it again with skills-mcp"}
		return r
	}
	if source.IsCommit(s.ref) {
		r.revision = s.ref
	}
	if r.path, r.err = skillFolder(s.path); r.err != nil {
		return r
	}
	r.unproved = []string{"the Git tree " + s.tree + ": gh rewrote SKILL.md; update compares with the source"}
	return r
}
