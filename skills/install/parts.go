package install

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// A part is a skill of an item, or all of its folder where that is no skill itself: hooks,
// servers and shared programs lie outside of skills.
type part struct {
	name, dir string // qualified; slash-separated in the item
	*surface.Surface
}

// partsOf returns the parts of the item in a folder, which is given without links.
func partsOf(catalog *skills.Catalog, folder string, state *lock.State) (all []part, err error) {
	var found []*skills.Skill
	for _, s := range catalog.Skills {
		if s.Of == nil && s.Dir != "" {
			found = append(found, s)
		}
	}
	whole := &skills.Skill{Name: state.Name, Dir: folder}
	if len(catalog.Plugins) > 0 {
		p := catalog.Plugins[0]
		whole.Name, whole.Description, whole.File = p.Name, p.Description, p.File
	}
	if len(catalog.Plugins) > 0 || !slices.ContainsFunc(found, func(s *skills.Skill) bool { return s.Dir == folder }) {
		found = append(found, whole)
	}
	for _, s := range found {
		p, err := newPart(s, folder)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(catalog.Plugins) > 0 {
		last := all[len(all)-1] // the whole
		for _, server := range catalog.Plugins[0].Servers {
			if server.Code != nil { // no file declares it
				last.Items = append(last.Items, surface.Item{Kind: surface.Server, Value: server.Command})
			}
		}
	}
	return all, nil
}

// newPart returns the part of a skill, with the paths of its files in the item's folder.
func newPart(skill *skills.Skill, folder string) (part, error) {
	dir, err := filepath.Rel(folder, skill.Dir)
	if err != nil {
		return part{}, err
	}
	s, err := surface.Of(skill, skillfs.DirFS(skill.Dir))
	if err != nil {
		return part{}, err
	}
	p := part{skill.QualifiedName(), filepath.ToSlash(dir), s}
	for n, name := range s.Entries {
		s.Entries[n] = path.Join(p.dir, name)
	}
	for n, i := range s.Items {
		if i.File != "" {
			s.Items[n].File = path.Join(p.dir, i.File)
		}
		if i.Value == i.File {
			s.Items[n].Value = s.Items[n].File
		}
	}
	return p, nil
}

// merged returns the surface of all parts as one.
func merged(all []part) *surface.Surface {
	to, has := &surface.Surface{Version: surface.Version}, map[surface.Item]bool{}
	for _, from := range all {
		to.Entries = append(to.Entries, from.Entries...)
		for _, i := range from.Items {
			if k := (surface.Item{Kind: i.Kind, Value: i.Value, Digest: i.Digest}); !has[k] {
				has[k] = true
				to.Items = append(to.Items, i)
			}
		}
	}
	slices.SortStableFunc(to.Items, surface.Compare)
	return to
}

// among returns the part of a name, or else at its path; one without a path if there is none.
func (p part) among(all []part) part {
	n := slices.IndexFunc(all, func(other part) bool { return other.name == p.name })
	if n < 0 {
		n = slices.IndexFunc(all, func(other part) bool { return other.dir == p.dir })
	}
	if n < 0 {
		return part{Surface: &surface.Surface{}}
	}
	return all[n]
}

// changes returns the capabilities that the parts of an item have gained and lost. Each is
// compared with the part of its name, or else at its path, and with no other: a capability
// that another one has is a gain.
func changes(now, before []part) (gained, lost []surface.Change) {
	var all []surface.Change
	for _, p := range now {
		all = append(all, p.Diff(p.among(before).Surface)...)
	}
	for _, p := range before {
		if gone := p.among(now); gone.dir == "" {
			all = append(all, gone.Diff(p.Surface)...)
		}
	}
	slices.SortStableFunc(all, func(a, b surface.Change) int {
		return cmp.Or(surface.Compare(a.Item, b.Item), cmp.Compare(a.File, b.File))
	})
	for _, c := range slices.Compact(all) {
		if c.Gone {
			lost = append(lost, c)
		} else {
			gained = append(gained, c)
		}
	}
	return gained, lost
}
