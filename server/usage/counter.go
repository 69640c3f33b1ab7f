// Package usage counts how often skills are called, in a small file that all
// servers of one person share, so that the skills which are used most can be
// offered first. Its errors never fail a call: a file that cannot be read is empty,
// and one that cannot be written is tried again.
//
// Start with [Open], or with [Read] where nothing is counted.
package usage

import (
	"cmp"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// saveDelay is how long calls are collected before they are written.
const saveDelay = 2 * time.Second

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
	file   string
	logger *slog.Logger
	before map[string]int // counts in the file when it was opened

	mu      sync.Mutex
	pending map[string]entry // not yet written; under mu

	wake chan struct{} // holds one message while there is something to write
	stop chan struct{} // closed by Close
	done chan struct{} // closed by the goroutine that writes
}

// Open reads the file, which need not exist, and returns a counter that adds
// to it until it is closed. Options may be nil.
func Open(file string, options *Options) *Counter {
	c := &Counter{
		file: file, logger: options.withDefaults().Logger, before: Read(file), pending: map[string]entry{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go c.run()
	return c
}

// Read returns how often each skill was called, by qualified name.
func Read(file string) map[string]int {
	uses := map[string]int{}
	for name, e := range load(file) {
		uses[name] = e.Uses
	}
	return uses
}

// Uses returns how often each skill had been called when the counter was opened, so
// that an order by use is stable until the next start.
func (c *Counter) Uses() map[string]int { return maps.Clone(c.before) }

// Used counts one call of the skill with that qualified name. It does not wait
// for the file.
func (c *Counter) Used(name string) {
	if len(name) > maxName {
		return
	}
	c.mu.Lock()
	e := c.pending[name]
	c.pending[name] = entry{e.Uses + 1, time.Now().UTC().Truncate(time.Second)}
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

// save adds the pending counts to the file. After an error they stay pending.
func (c *Counter) save() {
	c.mu.Lock()
	pending := c.pending
	c.pending = map[string]entry{}
	c.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	if err := add(c.file, pending); err != nil {
		c.logger.Info("calls of skills were not counted", "error", err)
		c.mu.Lock()
		c.pending = merge(pending, c.pending)
		c.mu.Unlock()
	}
}
