package sandbox

import (
	"context"
	"sync"
)

// A Meter stops what a command uses up while it waits for somebody: its slot,
// which others get meanwhile, and its time. It is for one command, whose
// [Runner.Run] starts and ends it; before and after, and in a kept sandbox, its
// methods do nothing. The zero value is ready.
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

// Resume waits for a slot, as a new command does, and lets the time go on. The
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

// time says which clock measures the command.
func (m *Meter) time(c *clock) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = c
}

// end gives back what the command has.
func (m *Meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acquire = nil
	if m.release != nil {
		m.release()
		m.release = nil
	}
}
