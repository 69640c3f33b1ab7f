package egress

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// maxEntries bounds the connections of one sandbox that have an entry of their own.
const maxEntries = 1000

// A journal records the connections of a sandbox. The zero journal is usable.
type journal struct {
	mu      sync.Mutex
	entries []*entry
	more    int   // connections beyond entries
	rest    entry // their bytes
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

// begin records the start of a connection to a host.
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

// connected records the address that was connected to.
func (e *entry) connected(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.address = address
}

// refuse records why a connection was ended.
func (e *entry) refuse(reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused = reason
}

// end records the end of a connection; refused is the reason why it was not made, or "".
func (e *entry) end(refused string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if refused != "" {
		e.refused = refused
	}
	e.time = time.Since(e.start)
}

// connections returns the entries, and one more for all beyond them.
func (j *journal) connections() []sandbox.Connection {
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

// connection returns e as it is now.
func (e *entry) connection() sandbox.Connection {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := sandbox.Connection{
		Host: e.host, Address: e.address, Refused: e.refused,
		Sent: e.sent.Load(), Got: e.got.Load(), Time: e.time,
	}
	c.Time = cmp.Or(c.Time, time.Since(e.start))
	return c
}
