package audit

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/server/store"
)

const (
	// writesBetween is the number of rows between two rounds of the keeper: they fill
	// some 1,000 pages of the write-ahead log.
	writesBetween = 200
	// timeBetween is the longest time between two rounds while there are rows.
	timeBetween = time.Hour
)

// A keeper bounds the record by age and size, beside the calls: it copies the write-ahead
// log into the file, and deletes the oldest rows. Its goroutine starts at the first row.
type keeper struct {
	store  *store.Store
	keep   time.Duration
	max    int64
	logger *slog.Logger

	start sync.Once
	mu    sync.Mutex
	rows  int           // since the last round; under mu
	wake  chan struct{} // holds one message when a round is due
	stop  context.CancelFunc
	ctx   context.Context // done when the keeper is closed
	ended sync.WaitGroup  // the goroutine
}

func newKeeper(s *store.Store, keep time.Duration, most int64, logger *slog.Logger) *keeper {
	k := &keeper{store: s, keep: keep, max: most, logger: logger, wake: make(chan struct{}, 1)}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// wrote counts a row.
func (k *keeper) wrote() {
	k.start.Do(func() { k.ended.Go(k.run) })
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows++; k.rows < writesBetween {
		return
	}
	k.rows = 0
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// close ends the goroutine and waits for it.
func (k *keeper) close() {
	k.start.Do(func() {}) // no row comes any more
	k.stop()
	k.ended.Wait()
}

// run does a round at once, and then when one is due.
func (k *keeper) run() {
	if err := store.NewRuns(k.store).Interrupt(k.ctx, Alive); err != nil {
		k.logger.Info("interrupted runs are not marked", "error", err)
	}
	tick := time.NewTicker(timeBetween)
	defer tick.Stop()
	for {
		if err := k.round(); err != nil {
			k.logger.Info("the record was not pruned", "error", err)
		}
		select {
		case <-k.ctx.Done():
			return
		case <-k.wake:
		case <-tick.C:
		}
	}
}

// round prunes the record in short steps, between which calls are recorded.
func (k *keeper) round() error {
	err := k.store.Checkpoint(k.ctx)
	for more := err == nil; more && k.ctx.Err() == nil; {
		more, err = store.NewRuns(k.store).Prune(k.ctx, time.Now().Add(-k.keep), k.max)
	}
	return err
}

// Alive reports whether there is a process with an ID.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	if runtime.GOOS == "windows" { // which finds those alone that run
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
