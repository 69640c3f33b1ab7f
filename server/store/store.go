// Package store keeps the state of skills-mcp in one SQLite file: the record of runs, and
// the decisions of the person that outlive a process. Servers on several machines share a
// PostgreSQL database instead ([Server]): statements are written once, in the words of
// SQLite. It is the only package that knows SQL. Each file of the package has one subject:
// its table, its rows and their methods.
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
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a [Store]. A nil *Options means the defaults.
type Options struct {
	// Logger receives a warning when a broken file was moved aside; nil discards it.
	Logger *slog.Logger
	// Server has the tables in place of the file; nil: they are in the file.
	Server *Server
}

// A Store has the tables of one file, or of a shared database. It may be used concurrently,
// also by several processes. The file is opened, and made, at the first use.
type Store struct{ *stateFile }

// A stateFile is a SQLite file, or a shared database, that is opened when it is used.
type stateFile struct {
	file      string
	server    *Server // nil: the file
	logger    *slog.Logger
	awaySince atomic.Int64 // when the server was not reached first, in ns since 1970; 0: it is there
	instance  instance

	mu   sync.Mutex
	db   *database // nil until the first use, and after Close
	done bool      // Close was called
}

// An instance is this process among those that share a database.
type instance struct {
	mu   sync.Mutex
	n    int    // 0 until it was registered; guarded by mu
	stop func() // ends its renewal; guarded by mu
}

// New returns the store in a file, whose path is "" where the person has no folder for
// state: every use fails then. It opens nothing. Options may be nil.
func New(file string, options *Options) *Store {
	s := &stateFile{file: file}
	if options != nil {
		s.logger, s.server = options.Logger, options.Server
	}
	s.logger = cmp.Or(s.logger, slog.New(slog.DiscardHandler))
	return &Store{s}
}

// File returns the path of the file; beside it is the state that no other machine shares.
func (s *stateFile) File() string { return s.file }

// Shared reports whether servers on other machines have the same tables.
func (s *stateFile) Shared() bool { return s.server != nil }

// Name returns the name of the file or of the shared database, for people.
func (s *stateFile) Name() string {
	if s.Shared() {
		return s.server.Name
	}
	return s.file
}

// Exists reports whether there is a file, so that reading an empty store makes none. A
// shared database is taken to exist.
func (s *stateFile) Exists() bool {
	if s.Shared() {
		return true
	}
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
	leave(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	db := s.db
	s.db = nil
	return db.close()
}

// leave removes the instance: others see at once that it is gone.
func leave(s *stateFile) {
	s.instance.mu.Lock()
	defer s.instance.mu.Unlock()
	if s.instance.n == 0 {
		return
	}
	s.instance.stop()
	over, cancel := context.WithCancel(context.Background())
	cancel() // it does not wait for a server that is away
	if _, err := s.execute(over, "instances", "DELETE FROM instances WHERE n = ?", s.instance.n); err != nil {
		s.logger.Info("others see after a while that this server has ended", "error", err)
	}
}

// connected returns the database, and opens it at the first use, or if another file has
// the path since. An error is tried again by the next call.
func (s *stateFile) connected() (_ *database, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.done:
		return nil, errClosed
	case s.Shared():
		if s.db == nil {
			s.db, err = connectServer(s.server)
		}
		return s.db, wrap("open", s.Name(), err)
	case s.file == "":
		return nil, errNoFolder
	case s.db.has(s.file):
		return s.db, nil
	}
	_ = s.db.close() // of a file that was moved or deleted
	s.db, err = openFile(s.file, s.logger)
	return s.db, wrap("open", s.file, err)
}

// wrap adds an operation to an error; nil stays nil.
func wrap(verb, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", verb, name, err)
}

// opened returns the database if it is open, and the file has the path still; else nil.
func (s *stateFile) opened() *database {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.Shared() && !s.db.has(s.file) {
		return nil
	}
	return s.db
}

// open returns the database for reading. A statement that writes fails in a file; no read
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
// A committed transaction survives the end of the process, but perhaps no power cut. In a
// shared database one transaction at a time has a lock, as a file has one writer.
func (s *stateFile) write(ctx context.Context, lock string, change func(*transaction) error) error {
	return s.transact(ctx, Quiet, lock, change)
}

// execute is write for one statement.
func (s *stateFile) execute(ctx context.Context, lock, statement string, values ...any) (result sql.Result, err error) {
	if s.Shared() {
		err = s.write(ctx, lock, func(tx *transaction) error {
			result, err = tx.Exec(statement, values...)
			return err
		})
		return result, err
	}
	db, err := s.connected()
	if err != nil {
		return nil, err
	}
	if result, err = db.execute(context.WithoutCancel(ctx), statement, values...); err != nil {
		s.repair(db, err)
		return nil, fmt.Errorf("write %s: %w", s.file, err)
	}
	return result, nil
}

// transact runs a transaction. A file that turns out to be broken is moved aside, so that
// the next use finds a sound one.
func (s *stateFile) transact(ctx context.Context, care Care, lock string, change func(*transaction) error) error {
	err := s.retry(ctx, func() error {
		db, err := s.connected()
		if err != nil {
			return err
		}
		if s.Shared() {
			err = db.transactServer(context.WithoutCancel(ctx), care, lock, change)
		} else if err = db.transact(context.WithoutCancel(ctx), care, change); err != nil {
			s.repair(db, err)
		}
		return wrap("write", s.Name(), err)
	})
	if err == nil && care == Announced {
		s.announce()
	}
	return err
}

// retry repeats an operation of a shared database that has not changed anything, because
// the server could not be reached or undid it, for [patience].
func (s *stateFile) retry(ctx context.Context, do func() error) error {
	began := time.Now()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second/2) {
		err := do()
		if !isLost(err) {
			s.awaySince.Store(0)
			return err
		}
		limit, now := patience, time.Now()
		if s.opened() == nil {
			limit = firstPatience
		}
		s.awaySince.CompareAndSwap(0, now.UnixNano())
		if since := s.awaySince.Load(); since != 0 && now.Sub(time.Unix(0, since)) >= limit || now.Sub(began) >= limit {
			return fmt.Errorf("%w; start the database, or correct the setting store", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

// announce writes the stamp, by which other processes of this machine learn of a decision.
func (s *stateFile) announce() {
	if err := writeStamp(s.Stamp()); err != nil {
		s.logger.Warn("running servers learn of a decision a second late", "error", err)
	}
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
// is the same, that takes a few microseconds. It is 0 while there is no file. Decisions on
// other machines are noticed after at most [sharedAge].
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
	age := generationAge
	if s.Shared() {
		age = sharedAge
	}
	n, err := db.generation.get(s.Stamp(), age, func() (int64, error) {
		return one(collect(ctx, s, scanOne[int64], selectGeneration))
	})
	if err != nil {
		s.repair(db, err)
	}
	return n, err
}

const selectGeneration = "SELECT coalesce(max(n), 0) FROM generation"

// one returns the only row of a statement.
func one[T any](all []T, err error) (row T, _ error) {
	if err == nil && len(all) > 0 {
		row = all[0]
	}
	return row, err
}

// text returns the text that a statement selects; "" while there is no file.
func text(ctx context.Context, s *Store, statement string, values ...any) (string, error) {
	return one(collect(ctx, s.stateFile, scanOne[string], statement, values...))
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
	err = s.retry(ctx, func() error {
		db, err := s.connected()
		if err != nil {
			return err
		}
		rows, err := db.query(context.WithoutCancel(ctx), statement, values...)
		if all, err = scanAll(rows, err, scan); s.Shared() {
			err = lost(err)
		}
		return wrap("read", s.Name(), err)
	})
	return all, err
}

// selectIn returns the rows of a statement in a transaction.
func selectIn[T any](tx *transaction, scan func(scanner) (T, error), statement string, values ...any) ([]T, error) {
	rows, err := tx.Query(statement, values...)
	return scanAll(rows, err, scan)
}

// scanAll reads the rows of a statement that did not fail, and closes them.
func scanAll[T any](rows *sql.Rows, err error, scan func(scanner) (T, error)) (all []T, _ error) {
	if err != nil {
		return nil, err
	}
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
