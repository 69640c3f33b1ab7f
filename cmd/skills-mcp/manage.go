package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/web"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
)

var _ web.Manage = (*manage)(nil)

// A manage shows and changes the machine for the page. It implements [web.Manage].
type manage struct {
	app        *app
	settings   *settings
	operations *installation.Operations

	mu      sync.Mutex
	checked map[string]asked // by project; guarded by mu
}

// An asked is the answers of the sources of a target's entries.
type asked struct {
	at     time.Time
	status []install.Status
}

// newManage returns the management of the machine by some settings, which does nothing yet.
// The caller calls close.
func newManage(a *app, s *settings) *manage {
	m := &manage{app: a, settings: s, checked: map[string]asked{}}
	m.operations = installation.NewOperations(m.carryOut)
	return m
}

// close ends the changes that are under way.
func (m *manage) close() { m.operations.Close() }

// Operations implements [web.Sources].
func (m *manage) Operations() *installation.Operations { return m.operations }

// Servers implements [web.Sources].
func (m *manage) Servers(context.Context) ([]web.Server, error) {
	servers, err := m.settings.host.Servers()
	var all []web.Server
	for _, s := range servers {
		all = append(all, web.Server{Name: s.Label, Address: s.Address.String(), TokenEnv: s.TokenEnv, Since: s.Since, Skills: m.settings.host.Count(s.Label)})
	}
	return all, err
}

// Installed implements [web.Sources].
func (m *manage) Installed(ctx context.Context) ([]web.Target, error) {
	var all []web.Target
	for _, project := range m.projects() {
		t := web.Target{Project: project, Dir: project, Untrusted: !m.trusts(ctx, project)}
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

// projects returns the targets of skills: the person's data folder as "", the workspaces,
// and the home folder, whose skills other tools have installed.
func (m *manage) projects() []string {
	all := append([]string{""}, m.settings.workspaces.folders...)
	if home := m.settings.home; home != "" && !slices.Contains(all, home) {
		all = append(all, home)
	}
	return all
}

// trusts reports whether a target is the person's own, or a workspace that they trust.
func (m *manage) trusts(ctx context.Context, project string) bool {
	return project == "" || project == m.settings.home || m.settings.trust.Trusts(ctx, project)
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
	m.mu.Lock()
	last := m.checked[t.Project]
	m.mu.Unlock()
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

// of returns the answer about an entry; nil if there is none about its revision.
func (c asked) of(path, revision string) *web.Newest {
	for _, s := range c.status {
		if s.Path != path || s.Installed.Revision != revision {
			continue
		}
		n := &web.Newest{Revision: s.Revision, Outdated: s.Outdated}
		if s.Err != nil {
			n.Err = s.Err.Error()
		}
		return n
	}
	return nil
}

// versionOf names a version of an entry.
func versionOf(state *lock.State) string { return cmp.Or(state.Revision, state.Digest) }
