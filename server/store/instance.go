package store

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// interruptRuns is the statement that interrupts the runs of servers that are gone.
const interruptRuns = "UPDATE runs SET outcome = 'interrupted' WHERE outcome = 'running' AND pid NOT IN (SELECT n FROM instances)"

const (
	// renewal is the time between two heartbeats of a server.
	renewal = 2 * time.Second
	// lifetimeMS is the time after which a server that was not renewed is gone, in ms.
	lifetimeMS = 15_000
)

// Instance returns the number of this server among those that share the database. The
// first call registers it, and has it renewed until Close. One that is not renewed for 15 s
// is gone, unless the others could not reach the database either.
func (s *Store) Instance(ctx context.Context) (int, error) {
	i := &s.instance
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.n != 0 {
		return i.n, nil
	}
	if err := makeItems(ctx, s.stateFile); err != nil {
		return 0, err
	}
	n := 1 + rand.IntN(1<<31-1)
	seen, err := renew(ctx, s.stateFile, n, 0)
	if err != nil {
		return 0, err
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() { keepRenewed(background, s.stateFile, n, seen) })
	i.n, i.stop = n, func() { cancel(); done.Wait() }
	return n, nil
}

// keepRenewed renews an instance until ctx is done.
func keepRenewed(ctx context.Context, s *stateFile, n int, seen int64) {
	tick := time.NewTicker(renewal)
	defer tick.Stop()
	for away := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := renew(ctx, s, n, seen)
		if err == nil {
			seen = now
		} else if !away && ctx.Err() == nil {
			s.logger.Warn("other servers cannot see that this one is there", "error", err)
		}
		away = err != nil
	}
}

// renew renews an instance, and removes others that are gone, with their traces. It returns
// the generation. One that differs from that seen before is announced on this machine.
func renew(ctx context.Context, s *stateFile, n int, seen int64) (generation int64, err error) {
	err = s.write(ctx, "instances", func(tx *transaction) error {
		steps := []string{
			"INSERT INTO instances VALUES (?1, " + nowMS + ", " + nowMS + `) ON CONFLICT (n) DO UPDATE SET renewed = excluded.renewed,
				since = CASE WHEN instances.renewed < excluded.renewed - ?2 THEN excluded.renewed ELSE instances.since END`,
			// Who could not renew itself in time does not know whether others could.
			"DELETE FROM instances WHERE renewed < " + nowMS + " - ?2 AND EXISTS (SELECT 1 FROM instances AS own WHERE own.n = ?1 AND own.since <= " + nowMS + " - ?2)",
			"DELETE FROM items WHERE NOT " + isCurrent,
		}
		if s.Shared() {
			steps = append(steps, interruptRuns, "DELETE FROM commits WHERE at < "+nowMS+" - 60000")
		}
		for i, step := range steps {
			values := []any{n, lifetimeMS}
			if i > 1 {
				values = nil
			}
			if _, err := tx.Exec(step, values...); err != nil {
				return err
			}
		}
		generation, err = one(selectIn(tx, scanOne[int64], selectGeneration))
		return err
	})
	if err == nil && seen != 0 && seen != generation && s.Shared() {
		s.announce()
	}
	return generation, err
}
