// Package trust knows the workspaces whose skills the person trusts. Trust belongs to one
// folder: its path without links, and the folder itself, so that another one which takes
// its place is not trusted. Decisions are signed.
//
// Start with [New].
package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

// Workspaces are the trusted workspaces in a store. They may be used concurrently.
type Workspaces struct {
	table  *seal.Table
	logger *slog.Logger

	catalog atomic.Pointer[skills.Catalog] // the newest; nil before the first
}

// New returns the workspaces in a store, whose rows are signed with key. It opens nothing.
// A nil logger discards rows that do not count.
func New(s *store.Store, key *seal.Key, logger *slog.Logger) *Workspaces {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	return &Workspaces{table: seal.NewTable("workspace", s, key, &seal.Options{Signers: []string{seal.Person}, Logger: logger}), logger: logger}
}

// trusted is the body of a decision: the person trusts the folder at a path.
type trusted struct {
	Path   string    `json:"path"`   // absolute, without links
	Folder string    `json:"folder"` // identifies the folder: another one there is not trusted
	At     time.Time `json:"at"`
}

// identify returns the path of a folder without links, and the identity of the folder.
func identify(dir string) (path, folder string, err error) {
	if path, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", err
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", "", fmt.Errorf("%s is not a folder", dir)
	}
	folder, err = stamp.Identity(path)
	return path, folder, err
}

// Trusts reports whether the person trusts a workspace: no link is on the way to it, and
// the folder there is the one that they trusted.
func (w *Workspaces) Trusts(ctx context.Context, workspace string) bool {
	path, folder, err := identify(workspace)
	if err != nil || path != workspace {
		return false
	}
	d, err := w.table.Get(ctx, path)
	if err != nil || d == nil {
		if err != nil && !errors.Is(err, seal.ErrVoid) { // which is logged
			w.logger.Warn("a workspace counts as not trusted", "workspace", workspace, "error", err)
		}
		return false
	}
	row := decode(d)
	return row.Path == path && row.Folder == folder
}

// decode returns the body of a decision.
func decode(d *store.Decision) (row trusted) {
	_ = json.Unmarshal(d.Body, &row) // which New has encoded
	return row
}

// Propose returns the trust in a workspace that the person is asked for. The changes are
// those of the newest catalog. The error says why the workspace cannot be trusted.
func (w *Workspaces) Propose(workspace string) (*run.Trust, error) {
	path, folder, err := identify(workspace)
	if err != nil {
		return nil, err
	}
	if path != workspace {
		return nil, fmt.Errorf("a link leads to %s", path)
	}
	proposed := &run.Trust{Workspace: path, Folder: folder}
	if catalog := w.catalog.Load(); catalog != nil {
		proposed.Changes = Changes(catalog, path)
	}
	return proposed, nil
}

// Apply returns the catalog as it is, which is the newest one from now on.
func (w *Workspaces) Apply(_ context.Context, catalog *skills.Catalog) *skills.Catalog {
	w.catalog.Store(catalog)
	return catalog
}

// Skills returns the skills of a workspace as it was proposed, in the newest catalog. It
// returns none if what would change is no longer what the person was shown.
func (w *Workspaces) Skills(t *run.Trust) (all []*skills.Skill) {
	catalog := w.catalog.Load()
	if catalog == nil || !slices.Equal(Changes(catalog, t.Workspace), t.Changes) {
		return nil
	}
	for _, skill := range catalog.Skills {
		if skill.Workspace == t.Workspace && skill.Of == nil {
			all = append(all, skill)
		}
	}
	return all
}

// Trust records that the person trusts a workspace, as it was proposed to them.
func (w *Workspaces) Trust(ctx context.Context, t *run.Trust) error {
	next, err := w.table.New(ctx, trusted{t.Workspace, t.Folder, time.Now()})
	if err != nil {
		return err
	}
	return w.table.Change(ctx, store.Announced, t.Workspace, func(*store.Decision) (*store.Decision, error) { return next, nil })
}

// Untrust ends the trust in the workspace at a path, which need not exist. It reports
// whether there was one.
func (w *Workspaces) Untrust(ctx context.Context, path string) (found bool, err error) {
	return w.table.Remove(ctx, path)
}

// A Workspace is one that the person has trusted.
type Workspace struct {
	Path  string
	Since time.Time
	State State
}

// A State says whether a workspace still is trusted.
type State string

// The states of a workspace.
const (
	Trusted  State = "trusted"
	Gone     State = "gone"
	Replaced State = "not trusted any more: another folder is there"
)

// List returns the workspaces that the person has trusted, by path.
func (w *Workspaces) List(ctx context.Context) ([]Workspace, error) {
	rows, err := w.table.List(ctx, store.DecisionFilter{})
	var all []Workspace
	for i := range rows {
		row := decode(&rows[i])
		one := Workspace{row.Path, row.At, Trusted}
		switch path, folder, err := identify(row.Path); {
		case err != nil:
			one.State = Gone
		case path != row.Path || folder != row.Folder:
			one.State = Replaced
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Workspace) int { return cmp.Compare(a.Path, b.Path) })
	return all, err
}
