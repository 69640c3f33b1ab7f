package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// busyWait is the time that another process has to finish writing.
	busyWait = 2 * time.Second
	// maxReaders is the number of connections that read at once.
	maxReaders = 4
	// autoCheckpoint is the number of pages in the write-ahead log at which a writer
	// copies them into the file by itself. [Store.Checkpoint] does so earlier, beside
	// the calls.
	autoCheckpoint = 4000
)

// A database is an open file: one connection that writes, as SQLite has one writer, and
// others that read meanwhile. Of a shared database several write.
type database struct {
	info       fs.FileInfo // of the file
	shared     bool        // it is of a server
	locks      sync.Map    // of a shared database, by name: *sync.Mutex
	writer     *sql.DB
	readers    *sql.DB
	generation generationCache
	items      atomic.Bool // the file has the tables of items
	subagents  atomic.Bool // the database has that of the sessions of agents

	mu       sync.Mutex
	prepared map[string]*sql.Stmt // by their text; under mu
}

// has reports whether the database is that of the file which has the path now.
func (d *database) has(file string) bool {
	if d == nil {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && os.SameFile(d.info, info)
}

// A Care is the way in which a change is written.
type Care int

// The values of [Care].
const (
	Quiet     Care = iota // it survives the end of the process
	Durable               // and a power cut
	Announced             // and other processes learn of it at once
)

// close closes the database; nil has nothing to close.
func (d *database) close() error {
	if d == nil {
		return nil
	}
	return errors.Join(d.readers.Close(), d.writer.Close()) // which closes the prepared statements
}

// execute runs a statement in a transaction of its own. It is prepared once: an insertion
// then takes 94 us instead of 124.
func (d *database) execute(ctx context.Context, statement string, values ...any) (sql.Result, error) {
	prepared, err := d.prepare(ctx, d.writer, statement)
	if err != nil {
		return nil, err
	}
	return prepared.ExecContext(ctx, values...)
}

// query returns the rows of a statement, which is prepared once.
func (d *database) query(ctx context.Context, statement string, values ...any) (*sql.Rows, error) {
	if d.shared { // its driver prepares them
		return d.readers.QueryContext(ctx, postgresWords(statement), postgresValues(values)...)
	}
	prepared, err := d.prepare(ctx, d.readers, statement)
	if err != nil {
		return nil, err
	}
	return prepared.QueryContext(ctx, values...)
}

// prepare returns a prepared statement of the writer or the readers, neither of which has
// statements of the other.
func (d *database) prepare(ctx context.Context, db *sql.DB, statement string) (*sql.Stmt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if prepared := d.prepared[statement]; prepared != nil {
		return prepared, nil
	}
	prepared, err := db.PrepareContext(ctx, statement)
	if err == nil {
		d.prepared[statement] = prepared
	}
	return prepared, err
}

// A transaction runs statements, which are in the words of SQLite.
type transaction struct {
	tx *sql.Tx
	db *database
}

func (t *transaction) Exec(statement string, values ...any) (sql.Result, error) {
	if t.db.shared {
		statement, values = postgresWords(statement), postgresValues(values)
	}
	return t.tx.Exec(statement, values...)
}

func (t *transaction) Query(statement string, values ...any) (*sql.Rows, error) {
	if t.db.shared {
		statement, values = postgresWords(statement), postgresValues(values)
	}
	return t.tx.Query(statement, values...)
}

// transact runs a transaction.
func (d *database) transact(ctx context.Context, care Care, change func(*transaction) error) error {
	conn, err := d.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if care != Quiet {
		if _, err := conn.ExecContext(ctx, "PRAGMA synchronous=FULL"); err != nil {
			return err
		}
		defer func() { _, _ = conn.ExecContext(ctx, "PRAGMA synchronous=NORMAL") }()
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := change(&transaction{tx, d}); err != nil {
		return err
	}
	return tx.Commit()
}

// openFile opens a file, which is readable by its owner alone, and makes its tables. A
// broken file is moved aside first.
func openFile(file string, logger *slog.Logger) (*database, error) {
	d, err := connect(file)
	for end := time.Now().Add(busyWait); isBusy(err) && time.Now().Before(end); d, err = connect(file) {
		time.Sleep(10 * time.Millisecond) // SQLite itself does not wait while another process makes the log
	}
	if !isBroken(err) {
		return d, err
	}
	if err := replaceBroken(file, logger); err != nil {
		return nil, err
	}
	return connect(file)
}

// connect opens a file and makes its tables.
func connect(file string) (_ *database, err error) {
	d := &database{prepared: map[string]*sql.Stmt{}}
	if d.info, err = private(file); err != nil {
		return nil, err
	}
	if d.writer, err = sql.Open("sqlite", address(file, false)); err != nil {
		return nil, err
	}
	d.writer.SetMaxOpenConns(1)
	if d.readers, err = sql.Open("sqlite", address(file, true)); err != nil {
		return nil, errors.Join(err, d.writer.Close())
	}
	d.readers.SetMaxOpenConns(maxReaders)
	if err = migrate(d.writer); err != nil {
		return nil, errors.Join(err, d.readers.Close(), d.writer.Close())
	}
	return d, nil
}

// private makes the file if it does not exist, and keeps others from reading it.
func private(file string) (fs.FileInfo, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	made, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer made.Close()
	info, err := made.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = made.Chmod(0o600) // Windows has no such bits
	}
	return info, err
}

// address returns the data source name of a file.
func address(file string, readOnly bool) string {
	query := url.Values{
		"_busy_timeout": {fmt.Sprint(busyWait.Milliseconds())},
		"_foreign_keys": {"1"},
		"_error_rc":     {"1"},
	}
	if readOnly {
		query.Set("_query_only", "1")
	} else {
		query.Set("_auto_vacuum", "INCREMENTAL")
		query.Set("_journal_mode", "WAL")
		query.Set("_synchronous", "NORMAL")
		query.Set("_txlock", "immediate")
		query.Set("_pragma", fmt.Sprintf("wal_autocheckpoint(%d)", autoCheckpoint))
	}
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") { // C:/…
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// migrate makes the tables of an empty file.
func migrate(db *sql.DB) error {
	found, err := versionOf(db)
	switch {
	case err != nil || found == version:
		return err
	case found != 0:
		return fmt.Errorf("its schema is version %d, and this program knows version %d alone; use the program that made it, or move the file away to start anew: its record of runs stays in it, and all that was approved, granted, pinned or trusted is asked again", found, version)
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	// Another process may have made them since.
	if found, err = versionOf(tx); err != nil || found == version {
		return err
	}
	for _, statements := range append(schemas(), fmt.Sprintf("PRAGMA user_version = %d", version)) {
		if _, err := tx.Exec(statements); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// versionOf returns the version of the schema of a file; 0 of an empty one.
func versionOf(db interface {
	QueryRow(query string, args ...any) *sql.Row
}) (found int, err error) {
	err = db.QueryRow("PRAGMA user_version").Scan(&found)
	return found, err
}

// errDamaged is the error of a file whose pages contradict each other.
var errDamaged = errors.New("the file is damaged")

// isBroken reports whether an error says that a file is none of SQLite, or a damaged one.
func isBroken(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return errors.Is(err, errDamaged) || ok && (e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// isBusy reports whether an error says that another process uses a file alone.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// replaceBroken moves a broken file aside, with its journal, unless another process has
// done so. The next one to open it starts with an empty store.
func replaceBroken(file string, logger *slog.Logger) (err error) {
	lock := flock.New(file + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := check(file); !isBroken(err) {
		return err
	}
	aside := file + ".broken-" + time.Now().UTC().Format("20060102T150405.000")
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(file+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	logger.Warn("the store was broken, and was moved aside: its approvals, pins, rules and trusted workspaces no longer count", "file", file, "moved to", aside)
	return nil
}

// check reads a whole file. It returns an error for which isBroken holds if it is broken.
func check(file string) error {
	d, err := connect(file)
	if err != nil {
		return err
	}
	defer d.close()
	var found string
	if err := d.readers.QueryRow("PRAGMA quick_check(1)").Scan(&found); err != nil || found == "ok" {
		return err
	}
	return fmt.Errorf("%s: %w", found, errDamaged)
}
