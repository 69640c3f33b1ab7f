package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	// pruneRows is the number of rows that one step of [Runs.Prune] deletes at most: a
	// call that is recorded meanwhile waits for one step.
	pruneRows = 100
	// vacuumPages is the number of pages that one step gives back at most.
	vacuumPages = 256
)

// Prune deletes the oldest rows that ended before a time, and those without which the
// file is larger than most bytes; 0 does not bound it. The newest row stays, so that
// numbers grow for ever. It does one short step, and reports whether there are more.
func (t Runs) Prune(ctx context.Context, before time.Time, most int64) (more bool, err error) {
	if !t.store.Exists() {
		return false, nil
	}
	err = t.store.write(ctx, "runs", func(tx *transaction) error {
		used, err := used(tx)
		if err != nil {
			return err
		}
		// A sixteenth is for the rows that come until the next time.
		if over := most > 0 && used > most-most/16; over {
			before = time.Now().AddDate(1000, 0, 0)
		}
		deleted, err := pruneOldest(tx, before)
		more = deleted == pruneRows
		return err
	})
	if err != nil || more || most <= 0 || t.store.Shared() {
		return more, err
	}
	return t.store.shrink(ctx, most)
}

// pruneOldest deletes those of the oldest rows that ended before a time.
func pruneOldest(tx *transaction, before time.Time) (deleted int64, err error) {
	result, err := tx.Exec(`DELETE FROM runs WHERE seq IN (SELECT seq FROM (SELECT seq, ended FROM runs ORDER BY seq LIMIT ?) AS oldest WHERE ended < ?)
		AND seq < (SELECT max(seq) FROM runs)`, pruneRows, before.UnixMilli())
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// shrink gives free pages of the file back, a few at a time, while it is larger than most
// bytes. It reports whether there are more.
func (s *stateFile) shrink(ctx context.Context, most int64) (more bool, err error) {
	err = s.write(ctx, "", func(tx *transaction) error {
		p, err := pagesOf(tx.tx)
		if err != nil || p.all*p.size <= most || p.free == 0 {
			return err
		}
		more = p.free > vacuumPages
		_, err = tx.Exec(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages))
		return err
	})
	return more, err
}

// used returns the bytes that are in use: of a file, or of the rows of a shared record, whose
// number and size are estimated. PostgreSQL gives the space of deleted rows to new ones.
func used(tx *transaction) (bytes int64, err error) {
	if tx.db.shared {
		return bytes, tx.tx.QueryRow(`SELECT coalesce((SELECT max(seq) - min(seq) FROM runs) *
			(SELECT avg(pg_column_size(r.*)) FROM (SELECT * FROM runs ORDER BY seq DESC LIMIT 100) AS r), 0)::bigint`).Scan(&bytes)
	}
	p, err := pagesOf(tx.tx)
	return (p.all - p.free) * p.size, err
}

// pages describes the pages of a file.
type pages struct{ all, free, size int64 }

func pagesOf(tx *sql.Tx) (p pages, err error) {
	err = tx.QueryRow("SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&p.all, &p.free, &p.size)
	return p, err
}

// Checkpoint copies the write-ahead log into the file, beside calls that read and write.
// Without it a write does so at some time, and waits for the disk.
func (s *stateFile) Checkpoint(ctx context.Context) error {
	if s.Shared() {
		return nil
	}
	db, err := s.open()
	if err != nil {
		return err
	}
	var busy, log, copied int
	return db.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &log, &copied)
}

// Check reads the whole file, and returns an error if it is not sound. Of a shared database
// it checks whether it can be reached.
func (s *stateFile) Check(ctx context.Context) error {
	if s.Shared() {
		_, err := s.Generation(ctx)
		return err
	}
	db, err := s.open()
	if err != nil {
		return err
	}
	var found string
	if err := db.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return fmt.Errorf("check %s: %w", s.file, err)
	}
	if found != "ok" {
		return fmt.Errorf("check %s: %s: %w", s.file, found, errDamaged)
	}
	return nil
}
