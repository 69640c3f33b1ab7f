package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	// patience is the time that a server has to restart: operations wait for it.
	patience = 10 * time.Second
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
	if err = d.transactServer(context.Background(), Durable, "schema", migrateServer); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func limitConnections(db *sql.DB, n int) {
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
}

// migrateServer makes the tables of an empty database.
func migrateServer(tx *transaction) error {
	var table sql.NullString
	if err := tx.tx.QueryRow("SELECT to_regclass('schema_version')::text").Scan(&table); err != nil {
		return err
	}
	if table.Valid {
		var found int
		err := tx.tx.QueryRow("SELECT n FROM schema_version").Scan(&found)
		if err == nil && found != version {
			err = fmt.Errorf("its schema is version %d, and this program knows version %d alone; use the program that made it, or another database to start anew: all that was approved, granted, pinned or trusted is asked again", found, version)
		}
		return err
	}
	for _, statements := range append(schemas(), itemsSchema, fmt.Sprintf("CREATE TABLE schema_version AS SELECT %d AS n", version)) {
		if _, err := tx.Exec(statements); err != nil {
			return err
		}
	}
	return nil
}

// transactServer runs a transaction. While it runs, no other server has the lock; "" is
// none.
func (d *database) transactServer(ctx context.Context, care Care, lock string, change func(*transaction) error) error {
	begin, values := "SELECT pg_current_xact_id()::text FROM set_config('synchronous_commit', CASE WHEN $1 THEN 'off' ELSE current_setting('synchronous_commit') END, true)", []any{care == Quiet}
	pool := d.readers // which no transaction keeps while it waits for another
	if lock != "" {
		pool = d.writer
		local, _ := d.locks.LoadOrStore(lock, new(sync.Mutex)) // so that one connection alone waits
		local.(*sync.Mutex).Lock()
		defer local.(*sync.Mutex).Unlock()
		hash := fnv.New64a()
		_, _ = io.WriteString(hash, "skills-mcp "+lock) // a hash never fails
		begin, values = begin+", pg_advisory_xact_lock($2)", append(values, int64(hash.Sum64()))
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var id string
	if err := tx.QueryRow(begin, values...).Scan(&id); err != nil {
		return err
	}
	if err := change(&transaction{tx, d}); err != nil {
		return err
	}
	if err = tx.Commit(); err == nil || stateOf(err) != "" && !isTransient(err) {
		return err
	}
	return d.outcome(ctx, id, err)
}

var (
	// errUndone is returned for a transaction that the server has undone.
	errUndone = errors.New("the connection was lost, and the database has undone the change")
	// errUncertain is returned for a transaction whose end cannot be learned.
	errUncertain = errors.New("the connection was lost, and the change may have been written")
)

// outcome returns nil for a transaction that was committed, though the answer was lost.
func (d *database) outcome(ctx context.Context, id string, lost error) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(patience / 50) {
		var status sql.NullString
		err := d.readers.QueryRowContext(ctx, "SELECT pg_xact_status($1::text::xid8)", id).Scan(&status)
		switch {
		case err == nil && status.String == "committed":
			return nil
		case err == nil && status.String == "aborted":
			return errUndone
		case err == nil && status.String == "in progress", isTransient(err):
			continue
		}
		break
	}
	return fmt.Errorf("%w: %v", errUncertain, lost)
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

// isTransient reports whether an error says that the server could not be reached, or undid
// an operation that may succeed the next time.
func isTransient(err error) bool {
	switch state := stateOf(err); state {
	case "":
	case "40001", "40P01", // serialization failure, deadlock
		"57P01", "57P02", "57P03", "53300": // it stops, crashed, starts, has too many connections
		return true
	default:
		return strings.HasPrefix(state, "08")
	}
	// The driver's word for an operation that it did not send.
	e, unsent := errors.AsType[interface {
		error
		SafeToRetry() bool
	}](err)
	_, network := errors.AsType[net.Error](err)
	return network || unsent && e.SafeToRetry() || errors.Is(err, errUndone) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn)
}
