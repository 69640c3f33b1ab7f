// Package protect keeps commands that may write to a workspace away from its protected
// paths. Start with [New].
//
// A protected path is mounted on itself, read-only, and a folder on the way to it on itself,
// writable: a command can neither change nor rename, remove or replace it. Where there is
// nothing, nothing can be mounted, so a missing path is an empty folder while commands run:
// Git ignores one, and who expects a file finds none.
package protect

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A Guard protects the workspaces of a person, all of whose servers share its folder. Each
// command holds a shared lock there, which the kernel releases with the server. Who gets
// the exclusive one removes the empty folders that the journal names.
type Guard struct{ dir string }

// New returns a guard for dir, an absolute folder, after a [Guard.Sweep].
func New(dir string) *Guard {
	g := &Guard{dir}
	g.Sweep()
	return g
}

// An entry is a line of the journal: about an empty folder, or about a command, which was
// not ended by its server if its last entry has a time.
type entry struct {
	Path    string    `json:"path,omitempty"`
	Changed int64     `json:"changed,omitempty"` // the folder's time, in ns since 1970; 0 before it is made
	Run     string    `json:"run,omitempty"`
	Until   time.Time `json:"until,omitzero"` // nothing of the command runs then
}

// A hold is the journal that the entries of one command are added to.
type hold struct{ *json.Encoder }

// Hold returns cmd with the covers of its writable workspaces, and a function that ends the
// protection, for when nothing of the command runs any more. outlives is how long that may
// be after its server was killed. The error is of a path that cannot be protected.
func (g *Guard) Hold(cmd *sandbox.Command, outlives time.Duration) (covered *sandbox.Command, release func(), err error) {
	if !cmd.Grant.Write || len(cmd.Grant.Workspaces) == 0 {
		return cmd, func() {}, nil
	}
	if g == nil {
		return nil, nil, errors.New("write to a workspace: this driver has no guard")
	}
	lock := flock.New(filepath.Join(g.dir, "lock"))
	if err := errors.Join(os.MkdirAll(g.dir, 0o700), lock.RLock()); err != nil {
		return nil, nil, fmt.Errorf("protect the workspaces: %w", err)
	}
	file, err := os.OpenFile(g.journal(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		_ = lock.Close()
		return nil, nil, fmt.Errorf("protect the workspaces: %w", err)
	}
	h, id := &hold{json.NewEncoder(file)}, rand.Text()
	release = func() {
		_ = errors.Join(h.Encode(entry{Run: id}), file.Close(), lock.Close())
		g.Sweep()
	}
	with := *cmd
	if err = h.Encode(entry{Run: id, Until: time.Now().Add(outlives)}); err == nil {
		with.Grant.Covers, err = h.covers(cmd.Grant)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return &with, release, nil
}

// covers returns the covers of all workspaces, none of which may be in another: a command
// could rename a folder on the way to that.
func (h *hold) covers(grant sandbox.Grant) (all []sandbox.Cover, err error) {
	real := sandbox.Grant{Workspaces: make([]string, len(grant.Workspaces))}
	for i, workspace := range grant.Workspaces {
		if real.Workspaces[i], err = filepath.EvalSymlinks(workspace); err != nil {
			return nil, fmt.Errorf("workspace %s: %w", workspace, err)
		}
	}
	for i, workspace := range grant.Workspaces {
		if outer := real.Around(real.Workspaces[i]); outer != "" {
			return nil, fmt.Errorf("workspace %s: it is in workspace %s, which is writable; leave one out", workspace, outer)
		}
		names := sandbox.Protected()
		if to := gitFolder(real.Workspaces[i]); to != "" && !slices.Contains(grant.Unprotected, ".git") {
			names = append(names, to)
		}
		for _, name := range names {
			if slices.Contains(grant.Unprotected, name) {
				continue
			}
			for at, last := range parents(name) {
				c, err := h.cover(workspace, at, last)
				if err != nil {
					return nil, fmt.Errorf("workspace %s: %s cannot be protected: %w", workspace, at, err)
				}
				if !slices.Contains(all, c) {
					all = append(all, c)
				}
				if !c.Write {
					break
				}
			}
		}
	}
	return all, nil
}

// parents yields the folders on the way to a path, and at last that.
func parents(name string) func(yield func(at string, last bool) bool) {
	return func(yield func(string, bool) bool) {
		for i, c := range name {
			if c == '/' && !yield(name[:i], false) {
				return
			}
		}
		yield(name, true)
	}
}

// cover returns the cover of a path. If there is nothing it makes an empty folder.
func (h *hold) cover(workspace, name string, last bool) (sandbox.Cover, error) {
	c, at := sandbox.Cover{Workspace: workspace, Path: name}, filepath.Join(workspace, filepath.FromSlash(name))
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.Join(h.Encode(entry{Path: at}), os.Mkdir(at, 0o755))
		if errors.Is(err, fs.ErrExist) {
			return h.cover(workspace, name, last)
		}
		if err == nil {
			info, err = os.Lstat(at)
		}
		if err == nil {
			err = h.Encode(entry{Path: at, Changed: info.ModTime().UnixNano()})
		}
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		err = sandbox.ErrLinked
	case err == nil && !last: // an empty folder may be one of a command's
		all, _ := os.ReadDir(at)
		c.Write = len(all) > 0
	}
	return c, err
}

// gitFolder returns the folder that a workspace's .git names if that is a file, as in a
// worktree, and "" if it is not in the workspace.
func gitFolder(workspace string) string {
	file := filepath.Join(workspace, ".git")
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, _ := os.ReadFile(file)
	to := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
	if !filepath.IsAbs(to) {
		to = filepath.Join(workspace, to)
	}
	inside, err := filepath.Rel(workspace, to)
	if err != nil || !filepath.IsLocal(inside) || inside == "." {
		return ""
	}
	return filepath.ToSlash(inside)
}

func (g *Guard) journal() string { return filepath.Join(g.dir, "journal") }

// Sweep removes the empty folders if no command needs one.
func (g *Guard) Sweep() {
	lock := flock.New(filepath.Join(g.dir, "lock"))
	defer lock.Close()
	if alone, err := lock.TryLock(); err != nil || !alone {
		return
	}
	text, err := os.ReadFile(g.journal())
	if err != nil {
		return
	}
	made, runs := map[string]int64{}, map[string]time.Time{}
	for line := range bytes.Lines(text) {
		var e entry
		if json.Unmarshal(line, &e) == nil && e.Path != "" {
			made[e.Path] = e.Changed
		} else {
			runs[e.Run] = e.Until
		}
	}
	for _, until := range runs {
		if time.Now().Before(until) {
			return
		}
	}
	for at, changed := range made {
		info, err := os.Lstat(at)
		if err == nil && info.IsDir() && (changed == 0 || changed == info.ModTime().UnixNano()) {
			_ = syscall.Rmdir(at) // unlike os.Remove it removes no file
		}
	}
	_ = os.Remove(g.journal())
}
