package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/web"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

var _ web.Manage = (*manage)(nil)

// A manage shows and changes the machine for the page. It implements [web.Manage].
type manage struct {
	app        *app
	settings   *settings
	changer    *changer
	operations *installation.Operations
}

// newManage returns the management of the machine by some settings, which does nothing yet.
// The caller calls close.
func newManage(a *app, s *settings) *manage {
	c := &changer{settings: s, checked: map[string]asked{}}
	return &manage{a, s, c, installation.NewOperations(c.carryOut)}
}

// close ends the changes that are under way.
func (m *manage) close() { m.operations.Close() }

// Operations implements [web.Sources].
func (m *manage) Operations() *installation.Operations { return m.operations }

// Servers implements [web.Sources].
func (m *manage) Servers(ctx context.Context) ([]web.Server, error) {
	servers, err := m.settings.host.Servers(ctx)
	var all []web.Server
	for _, s := range servers {
		all = append(all, web.Server{Name: s.Label, Address: s.Address.String(), TokenEnv: s.TokenEnv, Since: s.Since, Skills: m.settings.host.Count(s.Label)})
	}
	return all, err
}

// Installed implements [web.Sources].
func (m *manage) Installed(ctx context.Context) ([]web.Target, error) {
	var all []web.Target
	for _, project := range m.changer.projects() {
		t := web.Target{Project: project, Dir: project, Untrusted: !m.changer.trusts(ctx, project)}
		if t.Untrusted { // a comparison could end a change that a stranger's lock file has begun
			if _, err := os.Lstat(filepath.Join(project, lock.Name)); err != nil {
				continue
			}
		} else if m.describe(ctx, &t); project != "" && project == m.settings.home && len(t.Items) == 0 && t.Err == "" {
			continue
		}
		all = append(all, t)
	}
	return all, context.Cause(ctx)
}

// describe describes the entries of a target, which are compared with their files.
func (m *manage) describe(ctx context.Context, t *web.Target) {
	i, err := newInstaller(m.settings, t.Project, false)
	if err != nil {
		t.Err = err.Error()
		return
	}
	t.Dir = i.target.Dir
	found := &installedTarget{installer: i}
	if found.file, err = i.Installed(); err != nil {
		t.Err = err.Error()
		return
	}
	if len(found.file.Entries) > 0 {
		found.found, found.err = i.Verify(ctx)
	}
	last := m.changer.last(t.Project)
	t.Checked = last.at
	for path, entry := range found.file.Entries {
		if !entry.Exists() {
			continue
		}
		item := web.Installed{Installed: *found.describe(path, entry), Name: entry.Name, Kind: entry.Kind, Newest: last.of(path, entry.Revision)}
		if entry.Previous != nil {
			item.Before = versionOf(entry.Previous)
		}
		t.Items = append(t.Items, item)
	}
	slices.SortFunc(t.Items, func(a, b web.Installed) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Entry, b.Entry))
	})
}

// versionOf names a version of an entry.
func versionOf(state *lock.State) string { return cmp.Or(state.Revision, state.Digest) }
