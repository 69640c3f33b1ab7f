package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// pinsSchema holds the accepted state of each skill, by origin.
const pinsSchema = `
CREATE TABLE pins (
	origin TEXT PRIMARY KEY,
	name TEXT NOT NULL,
	digest TEXT NOT NULL,
	surface BLOB NOT NULL,
	accepted_digest TEXT NOT NULL,
	accepted_at INTEGER NOT NULL,
	by_person INTEGER NOT NULL,
	moved_at INTEGER NOT NULL
) STRICT;`

// A Pin is the state of a skill that counts as accepted.
type Pin struct {
	// Origin is the skill's, as [github.com/skillsmcp/skills-mcp/skills.Origin.String]
	// writes it, and Name its qualified name, for people.
	Origin, Name string
	// Digest is the digest of the files, and Surface their capability surface, encoded.
	Digest  string
	Surface []byte
	// AcceptedDigest is the digest that was accepted, at the time Accepted: by a person
	// if ByPerson says so, else by the first use. The files have changed since if Digest
	// is another, and have gained nothing.
	AcceptedDigest string
	Accepted       time.Time
	ByPerson       bool
	// Moved is the time of the last such change; zero for none.
	Moved time.Time
}

const pinColumns = "origin, name, digest, surface, accepted_digest, accepted_at, by_person, moved_at"

// Pin returns the pin of an origin; nil if there is none.
func (s *Store) Pin(ctx context.Context, origin string) (*Pin, error) {
	if !s.Exists() {
		return nil, nil
	}
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	p, err := scanPin(db.QueryRowContext(context.WithoutCancel(ctx), "SELECT "+pinColumns+" FROM pins WHERE origin = ?", origin))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return p, err
}

// Pins returns all pins, sorted by origin.
func (s *Store) Pins(ctx context.Context) (all []Pin, err error) {
	if !s.Exists() {
		return nil, nil
	}
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(context.WithoutCancel(ctx), "SELECT "+pinColumns+" FROM pins ORDER BY origin")
	if err != nil {
		return nil, fmt.Errorf("read pins: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		p, err := scanPin(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, *p)
	}
	return all, rows.Err()
}

// scanPin reads a row of pinColumns.
func scanPin(row interface{ Scan(...any) error }) (*Pin, error) {
	var p Pin
	var accepted, moved int64
	err := row.Scan(&p.Origin, &p.Name, &p.Digest, &p.Surface, &p.AcceptedDigest, &accepted, &p.ByPerson, &moved)
	if err != nil {
		return nil, fmt.Errorf("read pin: %w", err)
	}
	p.Accepted = time.UnixMilli(accepted)
	if moved > 0 {
		p.Moved = time.UnixMilli(moved)
	}
	return &p, nil
}

// PutPin writes a pin in place of the one with the digest was, "" for none. It reports
// false, and writes nothing, if another process has written meanwhile.
func (s *Store) PutPin(ctx context.Context, p Pin, was string) (done bool, err error) {
	var moved int64
	if !p.Moved.IsZero() {
		moved = p.Moved.UnixMilli()
	}
	err = s.decide(ctx, func(tx *sql.Tx) error {
		var found string
		if err := tx.QueryRow("SELECT digest FROM pins WHERE origin = ?", p.Origin).Scan(&found); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("read pin: %w", err)
		}
		if found != was {
			return nil
		}
		_, err := tx.Exec("INSERT OR REPLACE INTO pins ("+pinColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			p.Origin, p.Name, p.Digest, p.Surface, p.AcceptedDigest, p.Accepted.UnixMilli(), p.ByPerson, moved)
		if err != nil {
			return fmt.Errorf("write pin: %w", err)
		}
		done = true
		return nil
	})
	return done, err
}
