package approval

import (
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A memory holds the parts of approvals that end with the process.
type memory struct {
	mu       sync.Mutex                       // guards the fields below
	sessions map[identity.Key]map[string]bool // the IDs of approvals that a session may use
	spent    map[string]time.Time             // used here, until they expire: a row that is put back does not count
}

func newMemory() *memory {
	return &memory{sessions: map[identity.Key]map[string]bool{}, spent: map[string]time.Time{}}
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

// leave ends the approvals of a principal's session.
func (m *memory) leave(owner identity.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, owner)
}

// spend remembers that an approval is used.
func (m *memory) spend(id string, expires time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for id, expires := range m.spent {
		if now.After(expires) {
			delete(m.spent, id)
		}
	}
	m.spent[id] = expires
}

// isSpent reports whether an approval was used here.
func (m *memory) isSpent(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, spent := m.spent[id]
	return spent
}
