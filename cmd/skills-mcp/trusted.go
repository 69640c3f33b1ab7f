package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// identify returns a folder as it would be trusted now: by its path without links, and
// as the folder that it is.
func identify(dir string) (store.Workspace, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return store.Workspace{}, err
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return store.Workspace{}, fmt.Errorf("%s is not a folder", dir)
	}
	folder, err := stamp.Identity(path)
	return store.Workspace{Path: path, Folder: folder, At: time.Now()}, err
}

// trusts reports whether the person trusts a workspace: no link is on the way to it, and
// the folder there is the one that they trusted.
func (r *rootSettings) trusts(workspace string) bool {
	w, err := identify(workspace)
	if err != nil || w.Path != workspace {
		return false
	}
	trusted, err := r.store.Trusted(context.Background(), w.Path, w.Folder)
	if err != nil {
		r.logger.Warn("the workspace counts as not trusted", "workspace", workspace, "error", err)
	}
	return trusted && err == nil
}

// trustState describes, for people, whether a trusted workspace still is the folder that
// was trusted.
func trustState(w store.Workspace) string {
	switch now, err := identify(w.Path); {
	case err != nil:
		return "gone"
	case now.Path != w.Path || now.Folder != w.Folder:
		return "not trusted any more: another folder is there"
	}
	return "trusted"
}

// A trustProposer is the [policy.Workspaces] of a catalog, and a [live.Filter] that sees
// each new one.
type trustProposer struct {
	catalog atomic.Pointer[skills.Catalog] // the newest; nil before the first
}

// Apply implements [live.Filter]. It changes nothing.
func (t *trustProposer) Apply(_ context.Context, catalog *skills.Catalog) *skills.Catalog {
	t.catalog.Store(catalog)
	return catalog
}

// Propose implements [policy.Workspaces].
func (t *trustProposer) Propose(workspace string) (*run.Trust, error) {
	w, err := identify(workspace)
	if err != nil {
		return nil, err
	}
	if w.Path != workspace {
		return nil, fmt.Errorf("a link leads to %s", w.Path)
	}
	proposed := &run.Trust{Workspace: w.Path, Folder: w.Folder}
	if catalog := t.catalog.Load(); catalog != nil {
		proposed.Changes = describe.Trust(catalog, workspace)
	}
	return proposed, nil
}
