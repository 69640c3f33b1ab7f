package egress

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// maxEntries is how many connections of one sandbox are told apart.
const maxEntries = 1000

// A journal holds what a sandbox connected to. The zero journal is usable.
type journal struct {
	mu      sync.Mutex
	entries []*entry
	more    int   // connections beyond entries
	rest    entry // all of those
}

// An entry is one connection.
type entry struct {
	host      string
	start     time.Time
	sent, got atomic.Int64

	mu      sync.Mutex
	address string
	refused string
	time    time.Duration // 0 while it lasts
}

// begin notes that a sandbox wants to connect to a host.
func (j *journal) begin(host string) *entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.entries) >= maxEntries {
		j.more++
		return &j.rest
	}
	e := &entry{host: host, start: time.Now()}
	j.entries = append(j.entries, e)
	return e
}

func (e *entry) connected(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.address = address
}

// end notes the end of a connection, or that it was not made, and why.
func (e *entry) end(refused string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused = refused
	e.time = time.Since(e.start)
}

// Connections returns the connections that were made or refused, in the order
// of their beginning: the first 1000, and then one for all others, whose host is
// such as "(12 more)" and whose bytes are theirs. After Close nothing of it changes any more.
func (p *Proxy) Connections() []sandbox.Connection {
	j := &p.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []sandbox.Connection
	for _, e := range j.entries {
		all = append(all, e.connection())
	}
	if j.more > 0 {
		all = append(all, sandbox.Connection{
			Host: fmt.Sprintf("(%d more)", j.more),
			Sent: j.rest.sent.Load(),
			Got:  j.rest.got.Load(),
		})
	}
	return all
}

func (e *entry) connection() sandbox.Connection {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := sandbox.Connection{
		Host: e.host, Address: e.address, Refused: e.refused,
		Sent: e.sent.Load(), Got: e.got.Load(), Time: e.time,
	}
	if c.Time == 0 {
		c.Time = time.Since(e.start)
	}
	return c
}
