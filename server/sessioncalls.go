package server

import (
	"maps"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// sessionCalls records which skills the client that started this process has called. The
// lists are the same for all clients of a server, so the calls of those that share it do
// not count: one would learn of another's. It may be used concurrently.
type sessionCalls struct {
	mu     sync.Mutex
	called map[string]bool // by qualified name; guarded by mu
}

// add records a call of p of the skill with that qualified name.
func (c *sessionCalls) add(p identity.Principal, name string) {
	if p.Kind != identity.Model {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.called == nil || len(c.called) > maxPast {
		c.called = map[string]bool{}
	}
	c.called[name] = true
}

// names returns the qualified names of the called skills.
func (c *sessionCalls) names() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.called)
}
