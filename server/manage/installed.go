package manage

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// An Inventory has the installed skills of a target.
type Inventory struct {
	Project   string // its folder; "" is the person's own
	Dir       string // has the lock file
	Untrusted bool   // nothing is read from it
	Err       string // why the lock file cannot be read
	Items     []Installed
	Checked   time.Time // when the sources were asked; zero is never
}

// An Installed is an installed skill or plugin.
type Installed struct {
	describe.Installed
	Name, Kind string
	Before     string  // the version that a rollback returns to; "" if there is none
	Newest     *Newest // nil if nobody has asked
}

// Installed describes the installed skills by target, the person's own first. It asks no
// source for anything.
func (m *Machine) Installed(ctx context.Context) ([]Inventory, error) {
	var all []Inventory
	for _, project := range m.projects() {
		i := Inventory{Project: project, Dir: project, Untrusted: !m.trusts(ctx, project)}
		if i.Untrusted { // a comparison could end a change that a stranger's lock file has begun
			if _, err := os.Lstat(filepath.Join(project, lock.Name)); err != nil {
				continue
			}
		} else if err := m.take(ctx, &i); err != nil {
			i.Err = err.Error()
		} else if project != "" && project == m.Home && len(i.Items) == 0 {
			continue
		}
		all = append(all, i)
	}
	return all, context.Cause(ctx)
}

// projects returns the targets of skills: the person's data folder as "", the workspaces,
// and the home folder, whose skills other tools have installed.
func (m *Machine) projects() []string {
	all := append([]string{""}, m.Workspaces...)
	if m.Home != "" && !slices.Contains(all, m.Home) {
		all = append(all, m.Home)
	}
	return all
}

// trusts reports whether a target is the person's own, or a workspace that they trust.
func (m *Machine) trusts(ctx context.Context, project string) bool {
	return project == "" || project == m.Home || m.Trusts(ctx, project)
}

// take takes the inventory of a target.
func (m *Machine) take(ctx context.Context, i *Inventory) error {
	t, err := m.Target(i.Project, false)
	if err != nil {
		return err
	}
	i.Dir = t.Folders.Dir
	file, err := t.Installed()
	if err != nil {
		return err
	}
	last := m.last(i.Project)
	i.Checked = last.at
	c := newComparison(ctx, t, file)
	for name, entry := range file.Entries {
		if !entry.Exists() {
			continue
		}
		item := Installed{Installed: *c.describe(name, entry), Name: entry.Name, Kind: entry.Kind, Newest: last.of(name, entry.Revision)}
		if entry.Previous != nil {
			item.Before = cmp.Or(entry.Previous.Revision, entry.Previous.Digest)
		}
		i.Items = append(i.Items, item)
	}
	slices.SortFunc(i.Items, func(a, b Installed) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Entry, b.Entry))
	})
	return nil
}

// A comparison is a lock file whose entries were compared with their files.
type comparison struct {
	target *Target
	file   *lock.File
	found  []install.Difference
	err    error
}

// newComparison compares the named entries of a target, or all.
func newComparison(ctx context.Context, target *Target, file *lock.File, names ...string) *comparison {
	c := &comparison{target: target, file: file}
	if len(file.Entries) > 0 {
		c.found, c.err = target.Verify(ctx, names...)
	}
	return c
}

// describe describes an entry.
func (c *comparison) describe(name string, entry *lock.Entry) *describe.Installed {
	d := &describe.Installed{Source: entry.Source.String(), Revision: entry.Revision, Entry: name, Digest: entry.Digest, At: entry.Installed}
	if c.err != nil {
		d.Differences = []string{"they cannot be compared: " + c.err.Error()}
	}
	for _, found := range c.found {
		if found.Path == name {
			d.Differences = append(d.Differences, strings.TrimSpace(string(found.Kind)+" "+found.File))
		}
	}
	d.Intact = len(d.Differences) == 0
	return d
}

// Origin says where an installed skill comes from, and whether its files are still the same;
// nil for another skill.
func (m *Machine) Origin(ctx context.Context, skill *skills.Skill) *describe.Installed {
	t, file := m.lockOf(skill)
	if t == nil {
		return nil
	}
	name, entry := t.entryOf(file, skill)
	if entry == nil {
		return nil
	}
	return newComparison(ctx, t, file, name).describe(name, entry)
}

// Origins is Origin for many skills: all entries of a target are compared at once. It is for
// one goroutine.
func (m *Machine) Origins() func(ctx context.Context, skill *skills.Skill) *describe.Installed {
	known := map[string]*comparison{} // by project
	return func(ctx context.Context, skill *skills.Skill) *describe.Installed {
		project := skill.Owner().Workspace
		c, seen := known[project]
		if !seen {
			t, file := m.lockOf(skill)
			if t == nil {
				return nil
			}
			c = newComparison(ctx, t, file)
			known[project] = c
		}
		name, entry := c.target.entryOf(c.file, skill)
		if entry == nil {
			return nil
		}
		return c.describe(name, entry)
	}
}

// lockOf returns the target that a skill may be installed in, with its lock file; nil if there
// is none. The lock file of a workspace that is not trusted says nothing.
func (m *Machine) lockOf(skill *skills.Skill) (*Target, *lock.File) {
	owner := skill.Owner()
	if owner.Dir == "" || owner.Untrusted() || !owner.Installed && owner.Workspace == "" {
		return nil, nil
	}
	t, err := m.Target(owner.Workspace, false)
	if err != nil {
		return nil, nil
	}
	file, err := t.Installed()
	if err != nil {
		return nil, nil
	}
	return t, file
}

// entryOf returns the entry that a skill is of, with its path; nil if there is none.
func (t *Target) entryOf(file *lock.File, skill *skills.Skill) (name string, entry *lock.Entry) {
	rel, err := filepath.Rel(skillfs.Resolved(t.Folders.Dir), skillfs.Resolved(skill.Owner().Dir))
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil
	}
	for name = filepath.ToSlash(rel); name != "."; name = path.Dir(name) {
		if entry := file.Entries[name]; entry != nil {
			return name, entry
		}
	}
	return "", nil
}
