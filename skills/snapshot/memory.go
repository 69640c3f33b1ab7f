package snapshot

import (
	"context"
	"sync"
)

// maxRemembered bounds the entries of all records; each takes some 200 bytes.
const maxRemembered = 1 << 16

// A memory holds the last record of each skill.
type memory struct {
	mu     sync.Mutex
	skills map[string]*remembered // guarded by mu, like the fields below
	clock  uint64                 // counts uses
	size   int                    // entries of all records
}

// remembered is the memory of one skill.
type remembered struct {
	turn chan struct{} // holds one token while a new record is made
	last *record       // nil for none
	used uint64        // by the memory's clock
	// taken reports that the last snapshot was taken since it was renewed.
	taken bool
}

func newMemory() *memory { return &memory{skills: map[string]*remembered{}} }

// of returns the memory of a skill, with its last record.
func (m *memory) of(skill string) (*remembered, *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.skills[skill]
	if r == nil {
		r = &remembered{turn: make(chan struct{}, 1)}
		m.skills[skill] = r
	}
	m.clock++
	r.used = m.clock
	return r, r.last
}

// taken notes that a skill's snapshot was taken.
func (m *memory) taken(skill string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.skills[skill]; r != nil {
		r.taken = true
	}
}

// renew reports whether a skill's snapshot was taken since the last call of renew.
func (m *memory) renew(skill string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.skills[skill]
	if r == nil || !r.taken {
		return false
	}
	r.taken = false
	return true
}

// begin waits for its turn to make a record; the caller calls end after it.
func (r *remembered) begin(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *remembered) end() { <-r.turn }

// put replaces the record of a skill. Beyond the bound it discards the records that
// were used the longest ago.
func (m *memory) put(r *remembered, last *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.discard(r)
	r.last = last
	m.size += len(last.tree)
	for m.size > maxRemembered {
		oldest := r
		for _, other := range m.skills {
			if other.last != nil && (oldest == r || other.used < oldest.used) && other != r {
				oldest = other
			}
		}
		if oldest == r {
			return
		}
		m.discard(oldest)
	}
}

func (m *memory) discard(r *remembered) {
	if r.last != nil {
		m.size -= len(r.last.tree)
		r.last = nil
	}
}
