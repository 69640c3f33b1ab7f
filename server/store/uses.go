package store

import (
	"context"
	"database/sql"
	"time"
)

// maxUses is the number of skills whose calls are counted: those used last.
const maxUses = 1000

// AddUses counts calls of skills, by qualified name.
func (s *Store) AddUses(ctx context.Context, calls map[string]int) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for skill, n := range calls {
			if _, err := tx.Exec(`INSERT INTO uses VALUES (?, ?, ?) ON CONFLICT (skill) DO UPDATE SET calls = calls + excluded.calls, last = excluded.last`,
				skill, n, time.Now().UnixMilli()); err != nil {
				return err
			}
		}
		_, err := tx.Exec("DELETE FROM uses WHERE skill IN (SELECT skill FROM uses ORDER BY last DESC, skill LIMIT -1 OFFSET ?)", maxUses)
		return err
	})
}

// Uses returns how often each skill was called, by qualified name.
func (s *Store) Uses(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	_, err := collect(ctx, s.stateFile, func(rows scanner) (struct{}, error) {
		var skill string
		var n int
		err := rows.Scan(&skill, &n)
		all[skill] = n
		return struct{}{}, err
	}, "SELECT skill, calls FROM uses")
	return all, err
}
