package store

import (
	"context"
	"database/sql"
	"errors"
)

// rulesSchema holds the person's rules about skills.
const rulesSchema = `
CREATE TABLE rules (
	key     TEXT PRIMARY KEY,
	content BLOB NOT NULL,
	mac     BLOB NOT NULL
) WITHOUT ROWID, STRICT;`

// A Rule is a rule of the person about skills. The store reads neither its content nor its
// MAC.
type Rule struct {
	Key     string
	Content []byte
	MAC     []byte // of the other fields
}

// Rules returns all rules, by key.
func (s *Store) Rules(ctx context.Context) (all []Rule, err error) {
	if !s.Exists() {
		return nil, nil
	}
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(context.WithoutCancel(ctx), "SELECT key, content, mac FROM rules ORDER BY key")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r Rule
		if err := rows.Scan(&r.Key, &r.Content, &r.MAC); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// ChangeRule replaces the rule of a key by the result of change, in one transaction. nil
// is no rule. An error of change changes nothing.
func (s *Store) ChangeRule(ctx context.Context, key string, change func(now *Rule) (*Rule, error)) error {
	return s.decide(ctx, func(tx *sql.Tx) error {
		now := &Rule{Key: key}
		err := tx.QueryRow("SELECT content, mac FROM rules WHERE key = ?", key).Scan(&now.Content, &now.MAC)
		if errors.Is(err, sql.ErrNoRows) {
			now, err = nil, nil
		}
		if err != nil {
			return err
		}
		next, err := change(now)
		if err != nil {
			return err
		}
		if next == nil {
			_, err = tx.Exec("DELETE FROM rules WHERE key = ?", key)
		} else {
			_, err = tx.Exec("INSERT OR REPLACE INTO rules VALUES (?, ?, ?)", key, next.Content, next.MAC)
		}
		return err
	})
}
