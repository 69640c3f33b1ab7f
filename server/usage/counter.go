// Package usage counts how often skills are called, in the store that all servers of one
// person share, so that the skills which are used most can be offered first. Its errors
// never fail a call: counts that cannot be read are none, and those that cannot be written
// are tried again.
//
// Start with [Open].
package usage

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// saveDelay is how long calls are collected before they are written.
const saveDelay = 2 * time.Second

// A Store holds counts, as [github.com/skillsmcp/skills-mcp/server/store.Store] does.
type Store interface {
	// Uses returns how often each skill was called, by qualified name.
	Uses(ctx context.Context) (map[string]int, error)
	// AddUses counts calls of skills.
	AddUses(ctx context.Context, calls map[string]int) error
}

// A Counter counts the calls of one process. It may be used concurrently.
type Counter struct {
	store  Store
	logger *slog.Logger
	before map[string]int // counts in the store when the counter was opened

	mu      sync.Mutex     // guards pending and timer
	pending map[string]int // not yet written
	timer   *time.Timer    // of the next save; nil where nothing is pending

	saving sync.Mutex // held by a save, so that Close waits for it
}

// Open reads the counts in a store, and returns a counter that adds to them until it is
// closed. The logger gets the errors of writing.
func Open(s Store, logger *slog.Logger) *Counter {
	c := &Counter{store: s, logger: logger, pending: map[string]int{}}
	var err error
	if c.before, err = s.Uses(context.Background()); err != nil {
		c.logger.Info("the calls of skills cannot be read", "error", err)
	}
	return c
}

// Uses returns how often each skill had been called when the counter was opened, so
// that an order by use is stable until the next start.
func (c *Counter) Uses() map[string]int { return maps.Clone(c.before) }

// Used counts one call of the skill with that qualified name. It does not wait for the
// store.
func (c *Counter) Used(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[name]++
	if c.timer == nil {
		c.timer = time.AfterFunc(saveDelay, c.save)
	}
}

// Close writes the pending counts. It is called once, after the last call.
func (c *Counter) Close() {
	c.mu.Lock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.mu.Unlock()
	c.save()
}

// save adds the pending counts to the store. After an error they stay pending.
func (c *Counter) save() {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	pending := c.pending
	c.pending, c.timer = map[string]int{}, nil
	c.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	if err := c.store.AddUses(context.Background(), pending); err != nil {
		c.logger.Info("calls of skills were not counted", "error", err)
		c.mu.Lock()
		defer c.mu.Unlock()
		for name, n := range pending {
			c.pending[name] += n
		}
	}
}
