package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// pinsSchema holds the accepted state of each skill, by origin. Only a skill that is
// blocked, or accepted again, changes what others see: the first use of one does not.
const pinsSchema = `
CREATE TABLE pins (
	origin TEXT PRIMARY KEY,
	name TEXT NOT NULL,
	digest TEXT NOT NULL,
	surface BLOB NOT NULL,
	ancestors TEXT NOT NULL,       -- digests, separated by blanks
	accepted_digest TEXT NOT NULL,
	accepted_at INTEGER NOT NULL,  -- ms since 1970
	by_person INTEGER NOT NULL,
	moved_at INTEGER NOT NULL,     -- 0: never
	grown_digest TEXT NOT NULL,    -- '': nothing is blocked
	grown BLOB NOT NULL,
	mac BLOB                       -- of the rest, by package pins
) STRICT;
CREATE TRIGGER pins_blocked AFTER UPDATE ON pins WHEN old.grown_digest <> new.grown_digest BEGIN UPDATE generation SET n = n + 1; END;
CREATE TRIGGER pins_removed AFTER DELETE ON pins WHEN old.grown_digest <> '' BEGIN UPDATE generation SET n = n + 1; END;`

// A Pin is the state of a skill that counts as accepted.
type Pin struct {
	// Origin is the skill's, as [github.com/skillsmcp/skills-mcp/skills.Origin.String]
	// writes it, and Name its qualified name, for people.
	Origin, Name string
	// Digest is the digest of the files, and Surface their capability surface, encoded.
	Digest  string
	Surface []byte
	// Ancestors are the digests that the skill had before without gaining anything since,
	// the newest first.
	Ancestors []string
	// AcceptedDigest is the digest that was accepted, at the time Accepted: by a person
	// if ByPerson says so, else by the first use.
	AcceptedDigest string
	Accepted       time.Time
	ByPerson       bool
	// Moved is the time of the last change that gained nothing; zero for none.
	Moved time.Time
	// GrownDigest is the digest of files that gained something, for which the skill is
	// blocked, and Grown encodes that; "" and nil for none.
	GrownDigest string
	Grown       []byte
	// MAC signs the other fields.
	MAC []byte
}

const pinColumns = "origin, name, digest, surface, ancestors, accepted_digest, accepted_at, by_person, moved_at, grown_digest, grown, mac"

// Pin returns the pin of an origin; nil if there is none.
func (s *Store) Pin(ctx context.Context, origin string) (*Pin, error) {
	all, err := s.pins(ctx, pinColumns, "WHERE origin = ?", origin)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// Pins returns all pins without their surfaces, sorted by origin. Without them no MAC is
// valid: read a pin that is to count with [Store.Pin].
func (s *Store) Pins(ctx context.Context) ([]Pin, error) {
	return s.pins(ctx, strings.Replace(pinColumns, "surface", "x''", 1), "ORDER BY origin")
}

// BlockedPins returns the pins of the skills that are blocked, sorted by origin.
func (s *Store) BlockedPins(ctx context.Context) ([]Pin, error) {
	return s.pins(ctx, pinColumns, "WHERE grown_digest <> '' ORDER BY origin")
}

func (s *Store) pins(ctx context.Context, columns, which string, args ...any) (all []Pin, err error) {
	if !s.Exists() {
		return nil, nil
	}
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(context.WithoutCancel(ctx), "SELECT "+columns+" FROM pins "+which, args...)
	if err != nil {
		return nil, fmt.Errorf("read pins: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		p, err := scanPin(rows)
		if err != nil {
			return nil, fmt.Errorf("read pins: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}

// scanPin reads a row of pinColumns.
func scanPin(rows *sql.Rows) (p Pin, err error) {
	var ancestors string
	var accepted, moved int64
	err = rows.Scan(&p.Origin, &p.Name, &p.Digest, &p.Surface, &ancestors, &p.AcceptedDigest, &accepted, &p.ByPerson, &moved, &p.GrownDigest, &p.Grown, &p.MAC)
	p.Ancestors, p.Accepted = strings.Fields(ancestors), time.UnixMilli(accepted)
	if moved > 0 {
		p.Moved = time.UnixMilli(moved)
	}
	return p, err
}

// PutPin writes a pin in place of the one with the digest was, "" for none. It reports
// false, and writes nothing, if another process has written meanwhile. It is a decision,
// of which others learn, if the skill is blocked before or after.
func (s *Store) PutPin(ctx context.Context, p Pin, was string) (done bool, err error) {
	write := s.write
	if before, err := s.Pin(ctx, p.Origin); err == nil && (p.GrownDigest != "" || before != nil && before.GrownDigest != "") || p.ByPerson {
		write = s.decide
	}
	err = write(ctx, func(tx *sql.Tx) error {
		var found string
		if err := tx.QueryRow("SELECT digest FROM pins WHERE origin = ?", p.Origin).Scan(&found); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if found != was {
			return nil
		}
		done = true
		return putPin(tx, p)
	})
	return done && err == nil, err
}

// putPin inserts or updates a pin. It does not replace the row, which would be a deletion
// for the triggers.
func putPin(tx *sql.Tx, p Pin) error {
	var moved int64
	if !p.Moved.IsZero() {
		moved = p.Moved.UnixMilli()
	}
	if p.Grown == nil {
		p.Grown = []byte{}
	}
	_, err := tx.Exec("INSERT INTO pins ("+pinColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (origin) DO UPDATE SET
		name = excluded.name, digest = excluded.digest, surface = excluded.surface, ancestors = excluded.ancestors,
		accepted_digest = excluded.accepted_digest, accepted_at = excluded.accepted_at, by_person = excluded.by_person,
		moved_at = excluded.moved_at, grown_digest = excluded.grown_digest, grown = excluded.grown, mac = excluded.mac`,
		p.Origin, p.Name, p.Digest, p.Surface, strings.Join(p.Ancestors, " "), p.AcceptedDigest, p.Accepted.UnixMilli(), p.ByPerson, moved, p.GrownDigest, p.Grown, p.MAC)
	return err
}
