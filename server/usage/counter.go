// Package usage counts how often skills are called, in the store that all servers of one
// person share, so that the skills which are used most can be offered first. Its errors
// never fail a call: counts that cannot be read are none, and those that cannot be written
// are tried again.
//
// Start with [Open].
package usage

import (
	"cmp"
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

// Options configure a [Counter]. A nil *Options means the defaults.
type Options struct {
	// Logger gets the errors of writing. The default discards them.
	Logger *slog.Logger
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// A Counter counts the calls of one process. It may be used concurrently.
type Counter struct {
	store  Store
	logger *slog.Logger
	before map[string]int // counts in the store when the counter was opened

	mu      sync.Mutex
	pending map[string]int // not yet written; under mu

	wake chan struct{} // holds one message while there is something to write
	stop chan struct{} // closed by Close
	done chan struct{} // closed by the goroutine that writes
}

// Open reads the counts in a store, and returns a counter that adds to them until it is
// closed. Options may be nil.
func Open(s Store, options *Options) *Counter {
	c := &Counter{
		store: s, logger: options.withDefaults().Logger, pending: map[string]int{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	var err error
	if c.before, err = s.Uses(context.Background()); err != nil {
		c.logger.Info("the calls of skills cannot be read", "error", err)
	}
	go c.run()
	return c
}

// Uses returns how often each skill had been called when the counter was opened, so
// that an order by use is stable until the next start.
func (c *Counter) Uses() map[string]int { return maps.Clone(c.before) }

// Used counts one call of the skill with that qualified name. It does not wait for the
// store.
func (c *Counter) Used(name string) {
	c.mu.Lock()
	c.pending[name]++
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Close writes the pending counts and ends the counter. It is called once.
func (c *Counter) Close() {
	close(c.stop)
	<-c.done
}

// run writes the pending counts saveDelay after a call, until the counter is closed.
func (c *Counter) run() {
	defer close(c.done)
	defer c.save()
	for {
		select {
		case <-c.stop:
			return
		case <-c.wake:
		}
		select {
		case <-c.stop:
			return
		case <-time.After(saveDelay):
			c.save()
		}
	}
}

// save adds the pending counts to the store. After an error they stay pending.
func (c *Counter) save() {
	c.mu.Lock()
	pending := c.pending
	c.pending = map[string]int{}
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
