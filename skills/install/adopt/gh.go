package adopt

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A stamp is the metadata that gh writes into the SKILL.md of a skill it installs, each
// under its name with github- before (cli/cli, internal/skills/frontmatter).
type stamp struct {
	repo, ref, tree, path, pinned string
}

// stampKeys are the names of the metadata.
func stampKeys() []string {
	return []string{"github-repo", "github-ref", "github-tree-sha", "github-path", "github-pinned"}
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
	if s.repo == "" || !isCommit(s.tree) {
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
				all = append(all, s.record(at, s.pinned != ""))
			}
		}
	}
	return all, nil
}

// record returns the record of a stamped folder.
func (s *stamp) record(dir string, pinned bool) *record {
	r := &record{tool: GitHub, lock: path.Join(dir, "SKILL.md"), name: path.Base(dir), dirs: []string{path.Dir(dir)}, folder: path.Base(dir)}
	ref := s.ref
	if pinned {
		ref = cmp.Or(s.pinned, s.ref)
	}
	if r.source, r.err = parseSource(repository(s.repo, ref), ""); r.err != nil {
		return r
	}
	if r.source.Kind != source.Git {
		r.err = &source.RefusedError{Reason: "its source is no repository", Remedy: "install it again with skills-mcp"}
		return r
	}
	if isCommit(s.ref) {
		r.revision = s.ref
	}
	if r.path, r.err = skillFolder(s.path); r.err != nil {
		return r
	}
	r.claims = []claim{{"the Git tree " + s.tree, "gh rewrote the frontmatter of SKILL.md, and the original cannot be told", s.holds}}
	r.unproved = []string{"an installation from the source has the same bytes: gh added its metadata to SKILL.md, and made scripts executable"}
	return r
}

// holds reports whether the folder is the Git tree, but for the stamp in the SKILL.md and
// the modes of scripts. gh also sorts the frontmatter anew, so that a proof needs an
// original whose bytes come out of one of the ways to take the stamp away.
func (s *stamp) holds(ctx context.Context, files skillfs.Dir, states map[string]lock.FileState) (bool, error) {
	data, err := skillfs.ReadRegular(files, "SKILL.md", manifest.MaxSize)
	if err != nil {
		return false, err
	}
	modes := []func(string) bool{
		func(name string) bool { return states[name].Executable },
		func(name string) bool {
			return states[name].Executable && !slices.Contains(strings.Split(path.Dir(name), "/"), "scripts")
		},
	}
	for _, original := range unstamped(data) {
		for _, executable := range modes {
			got, err := gitTree(ctx, files, states, s.tree, map[string][]byte{"SKILL.md": original}, executable)
			if err != nil || got == s.tree {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// unstamped returns the texts that a stamped SKILL.md may have been before: its lines but
// the stamp's, with the name first or sorted.
func unstamped(data []byte) (all [][]byte) {
	_, rest, ok := bytes.Cut(data, []byte("---\n"))
	front, body, closed := bytes.Cut(rest, []byte("\n---\n"))
	if !ok || !closed {
		return nil
	}
	var lines, named [][]byte
	for line := range bytes.Lines(append(bytes.Clone(front), '\n')) {
		key, _, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		switch {
		case slices.Contains(stampKeys(), key):
		case bytes.HasPrefix(line, []byte("name:")):
			named = append(named, line)
			fallthrough
		default:
			lines = append(lines, line)
		}
	}
	fronts := [][]byte{bytes.Join(lines, nil)}
	if len(named) == 1 { // most authors write the name first, which gh sorts behind
		rest := slices.DeleteFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte("name:")) })
		fronts = append(fronts, bytes.Join(slices.Concat(named, rest), nil))
	}
	for _, f := range slices.Clone(fronts) {
		fronts = append(fronts, bytes.Replace(f, []byte("metadata:\n"), nil, 1))
	}
	for _, f := range fronts {
		for _, blank := range []string{"", "\n"} { // gh drops blank lines above the text
			text := slices.Concat([]byte("---\n"), f, []byte("---\n"), []byte(blank), body)
			all = append(all, text, bytes.TrimSuffix(text, []byte("\n")))
		}
	}
	return all
}
