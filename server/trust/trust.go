// Package trust knows the workspaces whose skills the person trusts. Trust belongs to one
// folder: its path without links, and the folder itself, so that another one which takes
// its place is not trusted. Decisions are signed.
//
// Start with [New].
package trust

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	store  *store.Store
	key    *seal.Key
	logger *slog.Logger

	catalog atomic.Pointer[skills.Catalog] // the newest; nil before the first
}

// New returns the workspaces in a store, whose rows are signed with key. It opens nothing.
// A nil logger discards rows that do not count.
func New(s *store.Store, key *seal.Key, logger *slog.Logger) *Workspaces {
	return &Workspaces{store: s, key: key, logger: cmp.Or(logger, slog.New(slog.DiscardHandler))}
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
	row, found, err := w.store.Workspace(ctx, path)
	if err != nil {
		w.logger.Warn("a workspace counts as not trusted", "workspace", workspace, "error", err)
	}
	return found && row.Folder == folder && w.valid(row)
}

// valid reports whether a row was written by this package.
func (w *Workspaces) valid(row store.Workspace) bool {
	if w.key.Signed([]string{seal.Person}, row.MAC, sealed(row)...) {
		return true
	}
	w.logger.Warn("the trust in a workspace does not count: the person of this configuration has not signed it, or has ended it", "workspace", row.Path)
	return false
}

// sealed returns the fields of a row that are signed.
func sealed(row store.Workspace) []string {
	return []string{"workspace", row.Path, row.Folder, strconv.FormatInt(row.At.UnixNano(), 10)}
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
	row := store.Workspace{Path: t.Workspace, Folder: t.Folder, At: time.Now()}
	var err error
	if row.MAC, err = w.key.Sign(ctx, []string{seal.Person}, sealed(row)...); err != nil {
		return err
	}
	return w.store.Trust(ctx, row)
}

// Untrust ends the trust in the workspace at a path, which need not exist. It reports
// whether there was one.
func (w *Workspaces) Untrust(ctx context.Context, path string) (found bool, err error) {
	row, found, err := w.store.Workspace(ctx, path)
	if found {
		err = w.key.Withdraw(row.MAC, time.Time{})
	}
	if err != nil || !found {
		return false, err
	}
	return w.store.Untrust(ctx, path)
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
	rows, err := w.store.Workspaces(ctx)
	var all []Workspace
	for _, row := range rows {
		if !w.valid(row) {
			continue
		}
		one := Workspace{row.Path, row.At, Trusted}
		switch path, folder, err := identify(row.Path); {
		case err != nil:
			one.State = Gone
		case path != row.Path || folder != row.Folder:
			one.State = Replaced
		}
		all = append(all, one)
	}
	return all, err
}
