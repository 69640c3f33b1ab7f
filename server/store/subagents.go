package store

import (
	"context"
	"errors"
	"os"
	"time"
)

// A Subagent is the row of an agent's session. The store does not read its body.
type Subagent struct {
	RunID  string
	Root   string // the key of the client's session at the top of its tree
	Owner  string // the client's principal beyond the session
	Status string // [Running] until it has ended
	// Gone says that the client's session has ended: the announcement is for the next one of
	// the owner.
	Gone           bool
	Once           bool      // the row is deleted when it is announced
	Created, Ended time.Time // to the millisecond; Ended is zero while it runs
	Body           []byte
	Used           string // what it had used when its server wrote it last; "" before that
}

// subagentsSchema holds the sessions of agents. A database gets it at the first use, as most
// have none.
const subagentsSchema = `
CREATE TABLE IF NOT EXISTS subagents (
	run_id TEXT PRIMARY KEY,
	root TEXT NOT NULL,
	owner TEXT NOT NULL,
	status TEXT NOT NULL,
	pid INTEGER NOT NULL,     -- of the server, as that of runs; 0: the client is gone
	once INTEGER NOT NULL,
	told INTEGER NOT NULL,    -- its end was announced
	created INTEGER NOT NULL, -- ms since 1970
	ended INTEGER NOT NULL,   -- 0: it runs
	stop INTEGER NOT NULL,    -- another process asks its server to end it
	used TEXT NOT NULL,
	body BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS subagents_created ON subagents (created);
CREATE INDEX IF NOT EXISTS subagents_pid ON subagents (pid, told);`

const subagentColumns = "run_id, root, owner, status, pid, once, created, ended, used, body"

func scanSubagent(row scanner) (*Subagent, error) {
	var a Subagent
	var pid, once, created, ended int64
	err := row.Scan(&a.RunID, &a.Root, &a.Owner, &a.Status, &pid, &once, &created, &ended, &a.Used, &a.Body)
	if a.Gone, a.Once, a.Created = pid == 0, once == 1, time.UnixMilli(created); ended != 0 {
		a.Ended = time.UnixMilli(ended)
	}
	return &a, err
}

// Subagents is the table of the sessions of agents.
type Subagents struct{ store *Store }

// NewSubagents returns the sessions of agents in a store. It opens nothing.
func NewSubagents(s *Store) Subagents { return Subagents{s} }

// open makes the table in a database that has none, and returns the number of this server.
func (t Subagents) open(ctx context.Context) (pid int, err error) {
	db, err := t.store.connected()
	if err == nil && !db.subagents.Load() {
		err = t.store.write(ctx, "subagents", func(tx *transaction) error {
			_, err := tx.Exec(subagentsSchema)
			return err
		})
		db.subagents.Store(err == nil)
	}
	if err == nil && t.store.Shared() {
		return t.store.Instance(ctx)
	}
	return os.Getpid(), err
}

// execute runs a statement whose first value is the number of this server.
func (t Subagents) execute(ctx context.Context, statement string, values ...any) error {
	pid, err := t.open(ctx)
	if err == nil {
		_, err = t.store.execute(ctx, "", statement, append([]any{pid}, values...)...)
	}
	return err
}

// Add adds the row of a session that this server runs. When it returns, the row survives the
// end of the process.
func (t Subagents) Add(ctx context.Context, a *Subagent) error {
	return t.execute(ctx, "INSERT INTO subagents (pid, run_id, root, owner, status, once, told, created, ended, stop, used, body) VALUES (?, ?, ?, ?, '"+Running+"', ?, 0, ?, 0, 0, '', ?)",
		a.RunID, a.Root, a.Owner, a.Once, a.Created.UnixMilli(), a.Body)
}

// End writes the end of a session that this server has run.
func (t Subagents) End(ctx context.Context, a *Subagent) error {
	return t.execute(ctx, "UPDATE subagents SET pid = CASE WHEN ?3 = 1 THEN 0 ELSE ?1 END, status = ?4, ended = ?5, body = ?6 WHERE run_id = ?2",
		a.RunID, a.Gone, a.Status, a.Ended.UnixMilli(), a.Body)
}

// Stop asks the server of a session to end it; see [Subagents.Follow].
func (t Subagents) Stop(ctx context.Context, runID string) error {
	return t.execute(ctx, "UPDATE subagents SET stop = 1 WHERE run_id = ?2 AND ?1 <> 0", runID)
}

// Follow writes the usage of sessions of this server, by run ID, and returns those that
// other processes ask it to end.
func (t Subagents) Follow(ctx context.Context, used map[string]string) (stop []string, err error) {
	pid, err := t.open(ctx)
	if err == nil && len(used) > 0 {
		err = t.store.write(ctx, "", func(tx *transaction) error {
			for id, text := range used {
				if _, err := tx.Exec("UPDATE subagents SET used = ? WHERE run_id = ?", text, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	return collect(ctx, t.store.stateFile, scanOne[string], "SELECT run_id FROM subagents WHERE pid = ? AND ended = 0 AND stop = 1", pid)
}

// Leave marks the sessions of a client that have ended as [Subagent.Gone].
func (t Subagents) Leave(ctx context.Context, root string) error {
	return t.execute(ctx, "UPDATE subagents SET pid = 0 WHERE pid = ?1 AND root = ?2 AND ended <> 0", root)
}

// Tell marks the ends of sessions as announced, and has those used that were not: of all
// callers one gets each. use runs before the marks are committed, so that nothing is left to
// do between that and what it prepares; it runs again, with others perhaps, if they were not.
func (t Subagents) Tell(ctx context.Context, runIDs []string, use func(told []*Subagent)) error {
	if _, err := t.open(ctx); err != nil {
		return err
	}
	return t.store.write(ctx, "", func(tx *transaction) error {
		var told []*Subagent
		for _, id := range runIDs {
			rows, err := selectIn(tx, scanSubagent, "UPDATE subagents SET told = 1 WHERE run_id = ? AND told = 0 RETURNING "+subagentColumns, id)
			if err == nil {
				told = append(told, rows...)
				_, err = tx.Exec("DELETE FROM subagents WHERE run_id = ? AND told = 1 AND once = 1", id)
			}
			if err != nil {
				return err
			}
		}
		use(told)
		return nil
	})
}

// A SubagentFilter selects sessions of agents. Fields that are "" select all.
type SubagentFilter struct {
	RunID, Status string
	// Owner selects the sessions of an owner; nil selects those of all.
	Owner *string
	// Root selects, of these, those of one client, and those whose client is gone and that
	// ended at Since or later; nil selects those of all.
	Root  *string
	Since time.Time
	Limit int
}

// List returns the sessions that a filter selects, those that run first, then the newest.
func (t Subagents) List(ctx context.Context, f SubagentFilter) ([]*Subagent, error) {
	if _, err := t.open(ctx); err != nil {
		return nil, err
	}
	where, values := "1 = 1", []any{}
	add := func(is bool, condition string, value *string) {
		if is {
			where, values = where+" AND "+condition, append(values, *value)
		}
	}
	add(f.RunID != "", "run_id = ?", &f.RunID)
	add(f.Status != "", "status = ?", &f.Status)
	add(f.Owner != nil, "owner = ?", f.Owner)
	if f.Root != nil {
		where, values = where+" AND (root = ? OR pid = 0 AND ended >= ?)", append(values, *f.Root, f.Since.UnixMilli())
	}
	return collect(ctx, t.store.stateFile, scanSubagent, "SELECT "+subagentColumns+" FROM subagents WHERE "+where+" ORDER BY ended <> 0, created DESC, run_id LIMIT ?", append(values, f.Limit)...)
}

// Sweep deletes the sessions that ended before a time, and the oldest of more than most, or
// of more bytes. It marks those of servers that have ended as [Subagent.Gone], and gives those
// that ran, and those that began before longest, a status. It returns the ends whose client is
// gone and that were not announced, without their bodies. In a shared database it asks for
// the servers that are gone instead of calling alive.
func (t Subagents) Sweep(ctx context.Context, before, longest time.Time, most, bytes int, status string, alive func(pid int) bool) (gone []*Subagent, err error) {
	err = t.execute(ctx, "DELETE FROM subagents WHERE ?1 <> 0 AND ended <> 0 AND (ended < ?2 OR created <= coalesce((SELECT max(created) FROM (SELECT created, row_number() OVER newest AS n, sum(length(body)) OVER newest AS bytes FROM subagents WINDOW newest AS (ORDER BY created DESC)) AS sizes WHERE n > ?3 OR bytes > ?4), 0))", before.UnixMilli(), most, bytes)
	if err != nil {
		return nil, err
	}
	lost := func(condition string, values ...any) {
		_, failed := t.store.execute(ctx, "", "UPDATE subagents SET pid = 0, ended = CASE WHEN ended = 0 THEN ?1 ELSE ended END, status = CASE WHEN ended = 0 THEN ?2 ELSE status END WHERE pid <> 0 AND "+condition,
			append([]any{time.Now().UnixMilli(), status}, values...)...)
		err = errors.Join(err, failed)
	}
	lost("ended = 0 AND created < ?3", longest.UnixMilli()) // another process has the number now
	if t.store.Shared() {
		lost("pid NOT IN (SELECT n FROM instances)")
	} else {
		pids, failed := collect(ctx, t.store.stateFile, scanOne[int], "SELECT DISTINCT pid FROM subagents WHERE pid <> 0")
		err = errors.Join(err, failed)
		for _, pid := range pids {
			if !alive(pid) {
				lost("pid = ?3", pid)
			}
		}
	}
	gone, failed := collect(ctx, t.store.stateFile, func(row scanner) (*Subagent, error) {
		var a Subagent
		return &a, row.Scan(&a.RunID, &a.Owner)
	}, "SELECT run_id, owner FROM subagents WHERE pid = 0 AND told = 0 AND ended <> 0")
	return gone, errors.Join(err, failed)
}
