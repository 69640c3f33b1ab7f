package store

import (
	"context"
	"database/sql"
	"time"
)

// workspacesSchema holds the workspaces that the person trusts.
const workspacesSchema = `
CREATE TABLE workspaces (
	path TEXT PRIMARY KEY, -- absolute, without links
	folder TEXT NOT NULL,  -- identifies the folder at the path
	at INTEGER NOT NULL,   -- ns since 1970
	mac BLOB               -- of the rest, by package trust
) WITHOUT ROWID, STRICT;`

// A Workspace is a folder whose skills the person trusts.
type Workspace struct {
	// Path is its absolute path, without links.
	Path string
	// Folder identifies the folder at the path: another one there is not trusted.
	Folder string
	// At is the time of the decision.
	At time.Time
	// MAC signs the other fields.
	MAC []byte
}

// Trust records that the person trusts a workspace, in place of an earlier decision
// about its path.
func (s *Store) Trust(ctx context.Context, w Workspace) error {
	return s.decide(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT OR REPLACE INTO workspaces VALUES (?, ?, ?, ?)", w.Path, w.Folder, w.At.UnixNano(), w.MAC)
		return err
	})
}

// Untrust removes the trust in the workspace at a path. It reports whether there was
// one.
func (s *Store) Untrust(ctx context.Context, path string) (found bool, err error) {
	if !s.Exists() {
		return false, nil
	}
	err = s.decide(ctx, func(tx *sql.Tx) error {
		done, err := tx.Exec("DELETE FROM workspaces WHERE path = ?", path)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		found = n > 0
		return err
	})
	return found, err
}

// Workspace returns the trusted workspace at a path, if there is one.
func (s *Store) Workspace(ctx context.Context, path string) (w Workspace, found bool, err error) {
	all, err := s.workspaces(ctx, "WHERE path = ?", path)
	if err != nil || len(all) == 0 {
		return Workspace{}, false, err
	}
	return all[0], true, nil
}

// Workspaces returns the trusted workspaces, by path.
func (s *Store) Workspaces(ctx context.Context) ([]Workspace, error) {
	return s.workspaces(ctx, "ORDER BY path")
}

func (s *Store) workspaces(ctx context.Context, which string, args ...any) (all []Workspace, err error) {
	if !s.Exists() {
		return nil, nil
	}
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(context.WithoutCancel(ctx), "SELECT path, folder, at, mac FROM workspaces "+which, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var w Workspace
		var at int64
		if err := rows.Scan(&w.Path, &w.Folder, &at, &w.MAC); err != nil {
			return nil, err
		}
		w.At = time.Unix(0, at)
		all = append(all, w)
	}
	return all, rows.Err()
}
