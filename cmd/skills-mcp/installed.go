package main

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

// An installedView says where installed skills come from, and whether their files are
// still the same. The lock file is read when it is first asked about an installed skill.
type installedView struct {
	settings *settings
	// batch compares all entries of a target at once, for a list. Otherwise the lock file
	// and the files are read for each skill.
	batch bool

	mu      sync.Mutex
	targets map[string]*installedTarget // by project, in a batch; guarded by mu
}

// An installedTarget is a target with its lock file.
type installedTarget struct {
	*installer
	file  *lock.File
	found []install.Difference // of all entries, in a batch
	err   error
}

// of returns the description of an installed skill; nil for another one.
func (v *installedView) of(ctx context.Context, skill *skills.Skill) *describe.Installed {
	project, ok := projectOf(skill)
	if !ok {
		return nil
	}
	t := v.target(ctx, project)
	if t == nil {
		return nil
	}
	name, entry := t.entry(skill)
	if entry == nil {
		return nil
	}
	if !v.batch {
		t.found, t.err = t.Verify(ctx, name)
	}
	return t.describe(name, entry)
}

// projectOf returns the project that a skill may be installed in; "" is the person's data
// folder. The lock file of a workspace that is not trusted says nothing.
func projectOf(skill *skills.Skill) (project string, ok bool) {
	owner := skill.Owner()
	if owner.Dir == "" || owner.Untrusted() {
		return "", false
	}
	return owner.Workspace, owner.Installed || owner.Workspace != ""
}

// target returns the target of a project; nil if its lock file cannot be read.
func (v *installedView) target(ctx context.Context, project string) *installedTarget {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t, known := v.targets[project]; known {
		return t
	}
	t := v.read(ctx, project)
	if v.batch {
		if v.targets == nil {
			v.targets = map[string]*installedTarget{}
		}
		v.targets[project] = t
	}
	return t
}

func (v *installedView) read(ctx context.Context, project string) *installedTarget {
	i, err := newInstaller(v.settings, project, false)
	if err != nil {
		return nil
	}
	t := &installedTarget{installer: i}
	if t.file, err = i.Installed(); err != nil || len(t.file.Entries) == 0 {
		return nil
	}
	if v.batch {
		t.found, t.err = i.Verify(ctx)
	}
	return t
}

// entry returns the entry that a skill is of, with its path; nil if there is none.
func (t *installedTarget) entry(skill *skills.Skill) (name string, entry *lock.Entry) {
	rel, err := filepath.Rel(resolved(t.target.Dir), resolved(skill.Owner().Dir))
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil
	}
	for name = filepath.ToSlash(rel); name != "."; name = path.Dir(name) {
		if entry := t.file.Entries[name]; entry != nil {
			return name, entry
		}
	}
	return "", nil
}

// describe describes an entry that was compared.
func (t *installedTarget) describe(name string, entry *lock.Entry) *describe.Installed {
	d := &describe.Installed{Source: entry.Source.String(), Revision: entry.Revision, Entry: name, Digest: entry.Digest, At: entry.Installed}
	if t.err != nil {
		d.Differences = []string{"they cannot be compared: " + t.err.Error()}
	}
	for _, found := range t.found {
		if found.Path == name {
			d.Differences = append(d.Differences, strings.TrimSpace(string(found.Kind)+" "+found.File))
		}
	}
	d.Intact = len(d.Differences) == 0
	return d
}
