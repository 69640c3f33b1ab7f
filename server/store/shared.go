package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

const (
	// patience is the time that a server has to restart: operations wait for it. One that
	// was never reached is more likely not there.
	patience, firstPatience = 20 * time.Second, 5 * time.Second
	// maxWriters is the number of connections that write at once, each with another lock.
	maxWriters = 4
)

// A Server is a PostgreSQL server, of version 13 or newer, with a database that several
// programs share.
type Server struct {
	// Name names the database for people. It has no password.
	Name string
	// Open returns connections to it, which are made when they are used. A setting makes
	// the server end statements that take too long.
	Open func() (*sql.DB, error)
}

// connectServer connects to a shared database, and makes its tables.
func connectServer(server *Server) (_ *database, err error) {
	d := &database{shared: true}
	if d.writer, err = server.Open(); err != nil {
		return nil, err
	}
	if d.readers, err = server.Open(); err != nil {
		return nil, errors.Join(err, d.writer.Close())
	}
	limitConnections(d.writer, maxWriters)
	limitConnections(d.readers, maxReaders)
	found, err := d.migrateServer()
	switch {
	case err != nil:
		return nil, errors.Join(lost(err), d.close())
	case found != version:
		err = fmt.Errorf("its schema is version %d, and this program knows version %d alone; use the program that made it, or another database to start anew: all that was approved, granted, pinned or trusted is asked again", found, version)
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func limitConnections(db *sql.DB, n int) {
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
}

// migrateServer makes the tables of an empty database, and returns the version of its schema.
func (d *database) migrateServer() (found int, err error) {
	tx, err := d.writer.Begin()
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.Exec("SELECT pg_advisory_xact_lock($1)", hash("schema")); err != nil {
		return 0, err
	}
	var made bool
	if err := tx.QueryRow("SELECT to_regclass('schema_version') IS NOT NULL").Scan(&made); err != nil {
		return 0, err
	}
	if made {
		err := tx.QueryRow("SELECT n FROM schema_version").Scan(&found)
		return found, err
	}
	for _, statements := range append(schemas(), itemsSchema, "CREATE TABLE commits (id BIGINT PRIMARY KEY, at BIGINT NOT NULL)", fmt.Sprintf("CREATE TABLE schema_version AS SELECT %d AS n", version)) {
		if _, err := tx.Exec(postgresWords(statements)); err != nil {
			return 0, err
		}
	}
	return version, tx.Commit()
}

// transactServer runs a transaction. While it runs, no other server has the lock; "" is
// none. Its row among the commits tells whether it was committed, where the answer is lost:
// the number of a transaction does not, as PostgreSQL gives it anew after a crash.
func (d *database) transactServer(ctx context.Context, care Care, lock string, change func(*transaction) error) error {
	id := rand.Int64()
	begin := "INSERT INTO commits SELECT $1, " + nowMS + " FROM set_config('synchronous_commit', CASE WHEN $2 THEN 'off' ELSE current_setting('synchronous_commit') END, true)"
	values := []any{id, care == Quiet}
	pool := d.readers // which no transaction keeps while it waits for another
	if lock != "" {
		pool = d.writer
		local, _ := d.locks.LoadOrStore(lock, new(sync.Mutex)) // so that one connection alone waits
		local.(*sync.Mutex).Lock()
		defer local.(*sync.Mutex).Unlock()
		begin, values = begin+", pg_advisory_xact_lock($3)", append(values, hash(lock))
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return lost(err)
	}
	if _, err = tx.Exec(postgresWords(begin), values...); err == nil {
		err = change(&transaction{tx, d})
	}
	if err != nil {
		if failed := tx.Rollback(); failed != nil || stateOf(err) != "" { // it fails without a connection
			return lost(err)
		}
		return err
	}
	err = tx.Commit()
	if state := stateOf(err); err == nil || state != "" && !strings.HasPrefix(state, "57P") && !strings.HasPrefix(state, "08") {
		return lost(err)
	}
	return d.outcome(ctx, id, err)
}

// hash returns the number of a lock.
func hash(lock string) int64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, "skills-mcp "+lock) // a hash never fails
	return int64(h.Sum64())
}

// outcome returns nil for a transaction that was committed, though the answer was lost. It
// waits for one that has not ended, and one without a row cannot be committed any more.
func (d *database) outcome(ctx context.Context, id int64, cause error) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Second / 5) {
		var at int64
		err := d.readers.QueryRowContext(ctx, "INSERT INTO commits VALUES ($1, 0) ON CONFLICT (id) DO UPDATE SET at = commits.at RETURNING at", id).Scan(&at)
		switch {
		case err == nil && at == 0:
			return lostError{cause}
		case err == nil:
			return nil
		case !isLost(lost(err)):
			end = time.Time{}
		}
	}
	return fmt.Errorf("the connection was lost, and the change may have been written: %w", cause)
}

// A lostError is of an operation that changed nothing, and may succeed the next time: its
// connection is lost, or the server undid it.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

func isLost(err error) bool {
	_, is := errors.AsType[lostError](err)
	return is
}

// lost marks an error of an operation that the database has undone, unless the database
// gave it for another reason than its own.
func lost(err error) error {
	switch state := stateOf(err); {
	case err == nil:
		return nil
	case state == "", strings.HasPrefix(state, "08"), strings.HasPrefix(state, "57P"), // a lost connection, a server that stops or starts
		state == "57014", state == "25P03", // a statement that took too long, a transaction that was idle
		state == "40001", state == "40P01", state == "53300": // a serialization failure, a deadlock, too many connections
		return lostError{err}
	}
	return err
}

// stateOf returns the code that the server gave an error; "" for one of another origin.
func stateOf(err error) string {
	e, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err)
	if !ok {
		return ""
	}
	return e.SQLState()
}
