package store

import (
	"context"
	"time"
)

// maxUses is the number of skills whose calls are counted: those used last.
const maxUses = 1000

// AddUses counts calls of skills, by qualified name.
func (s *Store) AddUses(ctx context.Context, calls map[string]int) error {
	return s.write(ctx, "uses", func(tx *transaction) error {
		for skill, n := range calls {
			if _, err := tx.Exec(`INSERT INTO uses VALUES (?, ?, ?) ON CONFLICT (skill) DO UPDATE SET calls = uses.calls + excluded.calls, last = excluded.last`,
				skill, n, time.Now().UnixMilli()); err != nil {
				return err
			}
		}
		_, err := tx.Exec("DELETE FROM uses WHERE skill NOT IN (SELECT skill FROM uses ORDER BY last DESC, skill LIMIT ?)", maxUses)
		return err
	})
}

// month is the time without a call after which the calls of a skill count half.
const month = 30 * 24 * time.Hour

// Uses returns how often each skill was called, by qualified name. Calls of a skill count
// half, rounded up, for each month since the last one.
func (s *Store) Uses(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	_, err := collect(ctx, s.stateFile, func(rows scanner) (struct{}, error) {
		var skill string
		var n int
		var last int64
		err := rows.Scan(&skill, &n, &last)
		for age := time.Since(time.UnixMilli(last)); n > 1 && age > month; age -= month {
			n = (n + 1) / 2
		}
		all[skill] = n
		return struct{}{}, err
	}, "SELECT skill, calls, last FROM uses")
	return all, err
}
