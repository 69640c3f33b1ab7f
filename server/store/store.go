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
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Options configure a [Store]. A nil *Options means the defaults.
type Options struct {
	// Logger receives a warning when a broken file was moved aside; nil discards it.
	Logger *slog.Logger
}

// A Store has the tables of one file. It may be used concurrently, also by several
// processes. The file is opened, and made, at the first use.
type Store struct{ *stateFile }

// A stateFile is a SQLite file that is opened when it is used.
type stateFile struct {
	file   string
	logger *slog.Logger

	mu   sync.Mutex
	db   *database // nil until the first use, and after Close
	done bool      // Close was called
}

// New returns the store in a file, whose path is "" where the person has no folder for
// state: every use fails then. It opens nothing. Options may be nil.
func New(file string, options *Options) *Store {
	s := &stateFile{file: file}
	if options != nil {
		s.logger = options.Logger
	}
	s.logger = cmp.Or(s.logger, slog.New(slog.DiscardHandler))
	return &Store{s}
}

// File returns the path of the file.
func (s *stateFile) File() string { return s.file }

// Exists reports whether there is a file, so that reading an empty store makes none.
func (s *stateFile) Exists() bool {
	_, err := os.Stat(s.file)
	return err == nil
}

var (
	// errClosed is returned by every method after Close.
	errClosed = errors.New("the store is closed")
	// errNoFolder is returned by every method of a store without a file.
	errNoFolder = errors.New("there is no folder for the state of skills-mcp; set HOME or XDG_STATE_HOME")
)

// Close closes the file. A store that was never used has none.
func (s *stateFile) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	db := s.db
	s.db = nil
	return db.close()
}

// connected returns the database, and opens it at the first use, or if another file has
// the path since. An error is tried again by the next call.
func (s *stateFile) connected() (*database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.done:
		return nil, errClosed
	case s.file == "":
		return nil, errNoFolder
	case s.db.has(s.file):
		return s.db, nil
	}
	_ = s.db.close() // of a file that was moved or deleted
	var err error
	if s.db, err = openFile(s.file, s.logger); err != nil {
		return nil, fmt.Errorf("open %s: %w", s.file, err)
	}
	return s.db, nil
}

// opened returns the database if it is open, and the file has the path still; else nil.
func (s *stateFile) opened() *database {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.db.has(s.file) {
		return nil
	}
	return s.db
}

// open returns the database for reading. A statement that writes fails there; no read
// waits for a writer.
func (s *stateFile) open() (*sql.DB, error) {
	db, err := s.connected()
	if err != nil {
		return nil, err
	}
	return db.readers, nil
}

// write runs a transaction, which is committed unless the function returns an error. It
// outlives the cancellation of ctx: a statement that is cancelled loses its connection.
// A committed transaction survives the end of the process, but perhaps no power cut.
func (s *stateFile) write(ctx context.Context, change func(*sql.Tx) error) error {
	return s.transact(ctx, "NORMAL", change)
}

// execute is write for one statement.
func (s *stateFile) execute(ctx context.Context, statement string, values ...any) (sql.Result, error) {
	db, err := s.connected()
	if err != nil {
		return nil, err
	}
	result, err := db.execute(context.WithoutCancel(ctx), statement, values...)
	if err != nil {
		s.repair(db, err)
		return nil, fmt.Errorf("write %s: %w", s.file, err)
	}
	return result, nil
}

// persist is write for rows that have to survive a power cut: it waits for the disk.
func (s *stateFile) persist(ctx context.Context, change func(*sql.Tx) error) error {
	return s.transact(ctx, "FULL", change)
}

// decide is persist for the person's decisions that others cache: it writes the stamp, by
// which other processes learn of the change.
func (s *stateFile) decide(ctx context.Context, change func(*sql.Tx) error) error {
	if err := s.persist(ctx, change); err != nil {
		return err
	}
	if err := writeStamp(s.Stamp()); err != nil {
		s.logger.Warn("running servers learn of a decision a second late", "error", err)
	}
	return nil
}

// transact runs a transaction with a value of PRAGMA synchronous. A file that turns out
// to be broken is moved aside, so that the next use finds a sound one.
func (s *stateFile) transact(ctx context.Context, synchronous string, change func(*sql.Tx) error) error {
	db, err := s.connected()
	if err != nil {
		return err
	}
	if err := db.transact(context.WithoutCancel(ctx), synchronous, change); err != nil {
		s.repair(db, err)
		return fmt.Errorf("write %s: %w", s.file, err)
	}
	return nil
}

// repair closes the database after an error that says that its file is broken, and moves
// the file aside if it is.
func (s *stateFile) repair(db *database, err error) {
	if !isBroken(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db != db { // another call did
		return
	}
	s.db = nil
	_ = db.close()
	if err := replaceBroken(s.file, s.logger); err != nil {
		s.logger.Warn("the broken store cannot be moved aside", "file", s.file, "error", err)
	}
}

// Stamp returns the path of a file that is written after each change of a decision. Its
// content means nothing, and it need not exist. It has a folder of its own: a watcher of
// that is not woken by each write to the store.
func (s *stateFile) Stamp() string {
	return filepath.Join(filepath.Dir(s.file), "decisions", "changed")
}

// Generation returns a number that grows with every change of a decision, and also if
// the file is replaced. Who caches decisions reads it before each use: while the stamp
// is the same, that takes a few microseconds. It is 0 while there is no file.
func (s *stateFile) Generation(ctx context.Context) (int64, error) {
	db := s.opened()
	if db == nil {
		if !s.Exists() {
			return 0, nil
		}
		var err error
		if db, err = s.connected(); err != nil {
			return 0, err
		}
	}
	n, err := db.generation.get(s.Stamp(), func() (n int64, err error) {
		rows, err := db.query(context.WithoutCancel(ctx), "SELECT coalesce(max(n), 0) FROM generation")
		if err != nil {
			return 0, err
		}
		all, err := scanAll(rows, scanOne[int64])
		if err != nil {
			return 0, err
		}
		return all[0], nil
	})
	if err != nil {
		s.repair(db, err)
	}
	return n, err
}

// text returns the text that a statement selects; "" while there is no file.
func (s *stateFile) text(ctx context.Context, statement string, values ...any) (string, error) {
	all, err := collect(ctx, s, scanOne[string], statement, values...)
	return strings.Join(all, ""), err
}

// A scanner has the columns of one row.
type scanner interface{ Scan(into ...any) error }

// scanOne reads a row of one column.
func scanOne[T any](row scanner) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}

// collect returns the rows of a statement, which is prepared once; none while there is no
// file.
func collect[T any](ctx context.Context, s *stateFile, scan func(scanner) (T, error), statement string, values ...any) (all []T, err error) {
	if !s.Exists() {
		return nil, nil
	}
	db, err := s.connected()
	if err != nil {
		return nil, err
	}
	rows, err := db.query(context.WithoutCancel(ctx), statement, values...)
	if err == nil {
		all, err = scanAll(rows, scan)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.file, err)
	}
	return all, nil
}

// scanAll reads rows, and closes them.
func scanAll[T any](rows *sql.Rows, scan func(scanner) (T, error)) (all []T, err error) {
	defer rows.Close()
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
