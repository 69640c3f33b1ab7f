package approval

import (
	"maps"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A memory holds the parts of approvals that end with the process.
type memory struct {
	mu       sync.Mutex                       // guards the fields below
	sessions map[identity.Key]map[string]bool // the IDs of approvals that a session may use
	noes     map[questionKey]time.Time        // the ends of the person's noes
}

func newMemory() *memory {
	return &memory{sessions: map[identity.Key]map[string]bool{}, noes: map[questionKey]time.Time{}}
}

// allow lets a principal's session use an approval.
func (m *memory) allow(owner identity.Key, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[owner] == nil {
		m.sessions[owner] = map[string]bool{}
	}
	m.sessions[owner][id] = true
}

// allows reports whether a principal's session may use an approval.
func (m *memory) allows(owner identity.Key, id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[owner][id]
}

const (
	// noStands is the time for which a no stands.
	noStands = 10 * time.Minute
	// maxNoes bounds those that are remembered; the oldest are forgotten first.
	maxNoes = 1 << 10
)

// refuse remembers that a person has said no to a call.
func (m *memory) refuse(key questionKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noes[key] = time.Now().Add(noStands)
	if len(m.noes) <= maxNoes {
		return
	}
	oldest := key
	for key, ends := range m.noes {
		if ends.Before(m.noes[oldest]) {
			oldest = key
		}
	}
	delete(m.noes, oldest)
}

// refused returns when the no to a call ends; ok is false without one.
func (m *memory) refused(key questionKey) (ends time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ends = m.noes[key]
	return ends, time.Now().Before(ends)
}

// leave ends the approvals of a principal's session, and the noes.
func (m *memory) leave(owner identity.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, owner)
	maps.DeleteFunc(m.noes, func(key questionKey, _ time.Time) bool { return key.client == owner })
}
