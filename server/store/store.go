// Package store keeps the state of skills-mcp in one SQLite file: the record of runs, and
// the decisions of the person that outlive a process. It is the only package that knows
// SQLite. Each file of the package has one subject: its table, its rows and their methods.
//
// Start with [New].
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// version is the version of the schema, which the file names (PRAGMA user_version).
const version = 1

// schema returns the statements that make the tables of an empty file.
func schema() []string {
	return []string{
		generationSchema,
		workspacesSchema, decided("workspaces"),
		pinsSchema, decided("pins"),
	}
}

// generationSchema counts the changes of the person's decisions. Tables of decisions have
// triggers that add to it; the record of runs has none.
const generationSchema = `
CREATE TABLE generation (n INTEGER NOT NULL);
INSERT INTO generation VALUES (1);`

// decided returns the triggers that count the changes of a table.
func decided(table string) string {
	var all string
	for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
		all += fmt.Sprintf("CREATE TRIGGER %s_%s AFTER %s ON %s BEGIN UPDATE generation SET n = n + 1; END;\n", table, event, event, table)
	}
	return all
}

// Options configure a [Store]. A nil *Options means the defaults.
type Options struct {
	// Logger gets what was repaired; nil discards it.
	Logger *slog.Logger
}

// A Store is one file. It may be used concurrently, also by several processes. The file
// is opened, and made, at the first use.
type Store struct {
	file   string
	logger *slog.Logger

	mu   sync.Mutex
	db   *sql.DB // nil until the first use, and after Close
	done bool    // Close was called
}

// New returns the store in a file. It opens nothing. Options may be nil.
func New(file string, options *Options) *Store {
	s := &Store{file: file}
	if options != nil {
		s.logger = options.Logger
	}
	s.logger = cmp.Or(s.logger, slog.New(slog.DiscardHandler))
	return s
}

// File returns the path of the file.
func (s *Store) File() string { return s.file }

// Exists reports whether there is a file, so that reading an empty store makes none.
func (s *Store) Exists() bool {
	_, err := os.Stat(s.file)
	return err == nil
}

// errClosed is returned by every method after Close.
var errClosed = errors.New("the store is closed")

// Close closes the file. A store that was never used has none.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	return db.Close()
}

// open returns the database, and opens it at the first use. An error is tried again by
// the next call.
func (s *Store) open() (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.done:
		return nil, errClosed
	case s.db != nil:
		return s.db, nil
	}
	db, err := connect(s.file)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.file, err)
	}
	s.db = db
	return db, nil
}

// busyWait is the time that another process has to finish writing.
const busyWait = 5 * time.Second

// connect opens a file, which is readable by its owner alone, and makes its tables.
func connect(file string) (_ *sql.DB, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	made, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	made.Close()
	query := url.Values{
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyWait.Milliseconds()), "journal_mode(WAL)",
			"synchronous(NORMAL)", // a killed process loses nothing; a power cut the last moments
			"foreign_keys(1)",
		},
		"_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			db.Close()
		}
	}()
	// One connection: SQLite has one writer, and a read takes microseconds.
	db.SetMaxOpenConns(1)
	return db, migrate(db)
}

// migrate makes the tables of an empty file.
func migrate(db *sql.DB) error {
	var found int
	if err := db.QueryRow("PRAGMA user_version").Scan(&found); err != nil {
		return err
	}
	switch {
	case found == version:
		return nil
	case found > version:
		return fmt.Errorf("its schema is version %d, which is newer than this program knows (%d); use the newer program, or move the file away", found, version)
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	// Another process may have made them since.
	if err := tx.QueryRow("PRAGMA user_version").Scan(&found); err != nil || found == version {
		return err
	}
	for _, statements := range schema() {
		if _, err := tx.Exec(statements); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// write runs a transaction, which is committed unless the function returns an error. It
// outlives the cancellation of ctx: a statement that is cancelled loses its connection.
func (s *Store) write(ctx context.Context, change func(*sql.Tx) error) error {
	db, err := s.open()
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return fmt.Errorf("write %s: %w", s.file, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := change(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write %s: %w", s.file, err)
	}
	return nil
}

// decide is write for the person's decisions: it also writes the stamp, by which other
// processes learn of the change.
func (s *Store) decide(ctx context.Context, change func(*sql.Tx) error) error {
	if err := s.write(ctx, change); err != nil {
		return err
	}
	// A watcher notices content, not times.
	err := os.MkdirAll(filepath.Dir(s.Stamp()), 0o700)
	if err == nil {
		err = os.WriteFile(s.Stamp(), []byte(time.Now().Format(time.RFC3339Nano)), 0o600)
	}
	if err != nil {
		s.logger.Warn("running servers do not learn of a decision before they are asked", "error", err)
	}
	return nil
}

// Stamp returns the path of a file that is written after each change of a decision. Its
// content means nothing, and it need not exist. It has a folder of its own: a watcher of
// that is not woken by each write to the store.
func (s *Store) Stamp() string { return filepath.Join(filepath.Dir(s.file), "decisions", "changed") }

// Generation returns a number that grows with every change of a decision. Who caches
// decisions reads it before each use: it takes about ten microseconds. It is 0 while
// there is no file.
func (s *Store) Generation(ctx context.Context) (n int64, err error) {
	if !s.Exists() {
		return 0, nil
	}
	db, err := s.open()
	if err != nil {
		return 0, err
	}
	err = db.QueryRowContext(context.WithoutCancel(ctx), "SELECT n FROM generation").Scan(&n)
	return n, err
}
