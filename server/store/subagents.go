package store

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"
)

// A Subagent is the row of an agent's session. The store reads none of its body.
type Subagent struct {
	RunID string
	Root  string // the key of the client's session at the top of its tree
	Owner string // the client's principal beyond the session
	Label string
	// Status is [Running] until the session has ended.
	Status string
	// Gone says that the client's session has ended, so that the row is for the next one of
	// the owner.
	Gone bool
	// Once says that the row is deleted when its end is told.
	Once                     bool
	Created, Deadline, Ended time.Time // to the millisecond; Ended is zero while it runs
	Body                     []byte
	// Used is what it had used when it was last followed; "" before that.
	Used string
}

// subagentsSchema holds the sessions of agents. A database gets it at the first use, as most
// have none.
const subagentsSchema = `
CREATE TABLE IF NOT EXISTS subagents (
	run_id TEXT PRIMARY KEY,
	root TEXT NOT NULL,
	owner TEXT NOT NULL,
	label TEXT NOT NULL,
	status TEXT NOT NULL,
	pid INTEGER NOT NULL,      -- of the server, as that of runs; 0: its client is gone
	once INTEGER NOT NULL,
	told INTEGER NOT NULL,     -- its end was announced
	created INTEGER NOT NULL,  -- ms since 1970, as the next two
	deadline INTEGER NOT NULL,
	ended INTEGER NOT NULL,    -- 0: it runs
	stop INTEGER NOT NULL,     -- another process asks its server to end it
	used TEXT NOT NULL,
	body BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS subagents_created ON subagents (created);
CREATE INDEX IF NOT EXISTS subagents_pid ON subagents (pid, status);`

const subagentColumns = "run_id, root, owner, label, status, pid, once, created, deadline, ended, used, body"

// Subagents is the table of the sessions of agents.
type Subagents struct{ store *Store }

// NewSubagents returns the sessions of agents in a store. It opens nothing.
func NewSubagents(s *Store) Subagents { return Subagents{s} }

// make makes the table in a database that has none yet.
func (t Subagents) make(ctx context.Context) error {
	db, err := t.store.connected()
	if err != nil || db.subagents.Load() {
		return err
	}
	err = t.store.write(ctx, "subagents", func(tx *transaction) error {
		_, err := tx.Exec(subagentsSchema)
		return err
	})
	db.subagents.Store(err == nil)
	return err
}

// pid returns the number of this server.
func (t Subagents) pid(ctx context.Context) (int, error) {
	if t.store.Shared() {
		return t.store.Instance(ctx)
	}
	return os.Getpid(), nil
}

// execute runs a statement of this server, whose number is the first value.
func (t Subagents) execute(ctx context.Context, statement string, values ...any) error {
	pid, err := t.pid(ctx)
	if err = errors.Join(err, t.make(ctx)); err != nil {
		return err
	}
	_, err = t.store.execute(ctx, "", statement, append([]any{pid}, values...)...)
	return err
}

// Add adds the row of a session that this server runs. When it returns, the row survives the
// end of the process.
func (t Subagents) Add(ctx context.Context, a *Subagent) error {
	return t.execute(ctx, "INSERT INTO subagents (pid, run_id, root, owner, label, status, once, told, created, deadline, ended, stop, used, body) VALUES (?, ?, ?, ?, ?, '"+Running+"', ?, 0, ?, ?, 0, 0, '', ?)",
		a.RunID, a.Root, a.Owner, a.Label, flag(a.Once), a.Created.UnixMilli(), a.Deadline.UnixMilli(), a.Body)
}

// End writes the end of a session that this server has run.
func (t Subagents) End(ctx context.Context, a *Subagent) error {
	return t.execute(ctx, "UPDATE subagents SET pid = ?1 * (1 - ?3), status = ?4, ended = ?5, body = ?6 WHERE run_id = ?2",
		a.RunID, flag(a.Gone), a.Status, a.Ended.UnixMilli(), a.Body)
}

// Stop asks the server of a session to end it; see [Subagents.Follow].
func (t Subagents) Stop(ctx context.Context, runID string) error {
	if err := t.make(ctx); err != nil {
		return err
	}
	_, err := t.store.execute(ctx, "", "UPDATE subagents SET stop = 1 WHERE run_id = ? AND ended = 0", runID)
	return err
}

// Follow writes what sessions of this server have used, by run ID, and returns those that
// other processes ask it to end.
func (t Subagents) Follow(ctx context.Context, used map[string]string) (stop []string, err error) {
	pid, err := t.pid(ctx)
	if err = errors.Join(err, t.make(ctx)); err == nil && len(used) > 0 {
		err = t.store.write(ctx, "", func(tx *transaction) error {
			for id, text := range used {
				if _, err := tx.Exec("UPDATE subagents SET used = ? WHERE run_id = ? AND ended = 0", text, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	return collect(ctx, t.store.stateFile, scanOne[string], "SELECT run_id FROM subagents WHERE pid = ? AND status = '"+Running+"' AND stop = 1", pid)
}

// Leave marks the sessions of a client that have ended as [Subagent.Gone].
func (t Subagents) Leave(ctx context.Context, root string) error {
	return t.execute(ctx, "UPDATE subagents SET pid = 0 WHERE pid = ?1 AND root = ?2 AND ended <> 0", root)
}

func flag(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Tell marks the ends of sessions as told, and returns those that were not: of all callers
// one gets each. Rows that are for one announcement are deleted.
func (t Subagents) Tell(ctx context.Context, runIDs []string) (told []*Subagent, err error) {
	if err := t.make(ctx); err != nil || len(runIDs) == 0 {
		return nil, err
	}
	err = t.store.write(ctx, "", func(tx *transaction) error {
		told = nil
		for _, id := range runIDs {
			row, err := one(selectIn(tx, scanSubagent, "UPDATE subagents SET told = 1 WHERE run_id = ? AND told = 0 RETURNING "+subagentColumns, id))
			if err != nil {
				return err
			}
			if row == nil {
				continue
			}
			told = append(told, row)
			if row.Once {
				if _, err := tx.Exec("DELETE FROM subagents WHERE run_id = ?", id); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return told, err
}

// A SubagentFilter selects sessions of agents. Zero fields select all.
type SubagentFilter struct {
	// Name is a run ID or a label.
	Name, Status string
	// Owner selects the sessions of an owner; nil selects those of all.
	Owner *string
	// Root selects, of the owner's, those of one client of this server, and those whose client
	// is gone. AnyServer says that the client may have used others too.
	Root      *string
	AnyServer bool
	Limit     int
}

// List returns the sessions that a filter selects, those that run first, then the newest.
func (t Subagents) List(ctx context.Context, f SubagentFilter) ([]*Subagent, error) {
	pid, err := t.pid(ctx)
	if err = errors.Join(err, t.make(ctx)); err != nil {
		return nil, err
	}
	var conditions []string
	var values []any
	add := func(condition string, more ...any) {
		conditions, values = append(conditions, condition), append(values, more...)
	}
	add("1 = 1")
	if f.Name != "" {
		add("(run_id = ? OR label = ?)", f.Name, f.Name)
	}
	if f.Status != "" {
		add("status = ?", f.Status)
	}
	if f.Owner != nil {
		add("owner = ?", *f.Owner)
	}
	if f.Root != nil {
		add("(pid = 0 OR root = ? AND (pid = ? OR ? = 1))", *f.Root, pid, flag(f.AnyServer))
	}
	return collect(ctx, t.store.stateFile, scanSubagent, "SELECT "+subagentColumns+" FROM subagents WHERE "+strings.Join(conditions, " AND ")+" ORDER BY ended <> 0, created DESC, run_id LIMIT ?", append(values, f.Limit)...)
}

func scanSubagent(row scanner) (*Subagent, error) {
	var a Subagent
	var pid, once, created, deadline, ended int64
	err := row.Scan(&a.RunID, &a.Root, &a.Owner, &a.Label, &a.Status, &pid, &once, &created, &deadline, &ended, &a.Used, &a.Body)
	a.Gone, a.Once, a.Created, a.Deadline = pid == 0, once == 1, time.UnixMilli(created), time.UnixMilli(deadline)
	if ended != 0 {
		a.Ended = time.UnixMilli(ended)
	}
	return &a, err
}

// late is the time after its deadline from which on a session does not run: another process
// has the number of its server now.
const late = time.Minute

// Lost marks the sessions of servers that have ended as [Subagent.Gone], gives those that ran
// a status, and returns the ends, of all servers, whose client is gone and that were not
// told: by run ID, their owners. In a shared database it asks for the servers that are gone
// instead of calling alive.
func (t Subagents) Lost(ctx context.Context, status string, alive func(pid int) bool) (owners map[string]string, err error) {
	if _, err = t.pid(ctx); err == nil {
		err = t.make(ctx)
	}
	if err != nil {
		return nil, err
	}
	interrupt := func(condition string, value any) {
		_, failed := t.store.execute(ctx, "", "UPDATE subagents SET pid = 0, ended = CASE WHEN ended = 0 THEN ?1 ELSE ended END, status = CASE WHEN status = '"+Running+"' THEN ?2 ELSE status END WHERE pid <> 0 AND "+condition,
			time.Now().UnixMilli(), status, value)
		err = errors.Join(err, failed)
	}
	interrupt("status = '"+Running+"' AND deadline < ?3", time.Now().Add(-late).UnixMilli())
	if t.store.Shared() {
		interrupt("pid NOT IN (SELECT n FROM instances) AND pid <> ?3", 0)
	} else {
		pids, failed := collect(ctx, t.store.stateFile, scanOne[int], "SELECT DISTINCT pid FROM subagents WHERE pid <> 0")
		err = errors.Join(err, failed)
		for _, pid := range pids {
			if !alive(pid) {
				interrupt("pid = ?3", pid)
			}
		}
	}
	owners = map[string]string{}
	_, failed := collect(ctx, t.store.stateFile, func(row scanner) (struct{}, error) {
		var id, owner string
		err := row.Scan(&id, &owner)
		owners[id] = owner
		return struct{}{}, err
	}, "SELECT run_id, owner FROM subagents WHERE pid = 0 AND told = 0 AND ended <> 0")
	return owners, errors.Join(err, failed)
}

// Prune deletes the sessions that ended before a time, and the oldest of more than most that
// have ended.
func (t Subagents) Prune(ctx context.Context, before time.Time, most int) error {
	if err := t.make(ctx); err != nil {
		return err
	}
	_, err := t.store.execute(ctx, "", "DELETE FROM subagents WHERE ended <> 0 AND (ended < ? OR created < coalesce((SELECT created FROM subagents ORDER BY created DESC LIMIT 1 OFFSET ?), 0))", before.UnixMilli(), most)
	return err
}
