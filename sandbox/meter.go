package sandbox

import (
	"context"
	"sync"
	"time"
)

// A Meter pauses a command's use of its slot and its time while the command waits
// for a person: others get the slot meanwhile. It is for one command, whose
// [Runner.Run] or [Runner.RunIn] starts and ends it; before and after, its methods do
// nothing. The zero value is ready.
type Meter struct {
	mu      sync.Mutex
	acquire func(context.Context) (release func(), err error) // nil unless the command runs
	release func()                                            // nil while the command has no slot
	clock   *clock                                            // nil until there is one
}

// Pause gives the command's slot back and stops its time.
func (m *Meter) Pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.release == nil {
		return
	}
	m.release()
	m.release = nil
	if m.clock != nil {
		m.clock.pause()
	}
}

// Resume waits for a slot, as a new command does, and restarts the time. The
// error is [ErrBusy], or the cause of ctx's end: the command cannot go on.
func (m *Meter) Resume(ctx context.Context) error {
	m.mu.Lock()
	acquire := m.acquire
	if m.release != nil {
		acquire = nil
	}
	m.mu.Unlock()
	if acquire == nil {
		return nil
	}
	release, err := acquire(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.acquire == nil { // the command has ended meanwhile
		release()
		return nil
	}
	m.release = release
	if m.clock != nil {
		m.clock.resume()
	}
	return nil
}

// begin takes the command's first slot.
func (m *Meter) begin(ctx context.Context, acquire func(context.Context) (func(), error)) error {
	release, err := acquire(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acquire, m.release = acquire, release
	return nil
}

// measure sets the clock of the command.
func (m *Meter) measure(c *clock) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = c
}

// end gives the command's slot back.
func (m *Meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acquire = nil
	if m.release != nil {
		m.release()
		m.release = nil
	}
}

// A clock measures a command from its start, and calls expired at its timeout. Pauses
// do not count.
type clock struct {
	timeout time.Duration
	expired func()

	mu     sync.Mutex
	timer  *time.Timer   // nil until started
	began  time.Time     // the present stretch
	wall   time.Duration // of the stretches before it
	paused bool
	done   bool
}

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil || c.done {
		return
	}
	c.began = time.Now()
	c.timer = time.AfterFunc(c.timeout, c.expired)
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil && !c.done && !c.paused {
		c.halt()
		c.paused = true
	}
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || !c.paused {
		return
	}
	c.paused = false
	c.began = time.Now()
	c.timer.Reset(max(0, c.timeout-c.wall))
}

// halt ends a stretch between pauses.
func (c *clock) halt() {
	c.timer.Stop()
	c.wall += time.Since(c.began)
}

// stop returns how long the clock ran, and whether it was ever started.
func (c *clock) stop() (wall time.Duration, ran bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.done = true
		return 0, false
	}
	if !c.done && !c.paused {
		c.halt()
	}
	c.done = true
	return c.wall, true
}
