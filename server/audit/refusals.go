package audit

import (
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

const (
	// repeatTime is the time in which equal refusals share one row.
	repeatTime = time.Minute
	// maxRefusals is the number of refusals that get rows of their own in that time.
	maxRefusals = 100
)

// refusals bounds the rows of calls that did not run: a client that repeats them in a
// loop must neither fill the file nor displace the runs in it.
type refusals struct {
	mu    sync.Mutex
	since time.Time
	rows  map[refusal]int64 // the row of each kind, since then
}

// A refusal is a kind of refused call.
type refusal struct {
	principal                  identity.Key
	skill, way, outcome, error string
}

// kindOf returns the kind of a refused call; ok is false for a call that ran.
func kindOf(key identity.Key, r *store.Run) (_ refusal, ok bool) {
	if r.Outcome != Refused && r.Outcome != Invalid {
		return refusal{}, false
	}
	return refusal{key, r.Skill, r.Way, r.Outcome, r.Error}, true
}

// repeated returns the row of an earlier refusal that stands for this one, too; 0 is
// none. When there are too many kinds, one row stands for all others of a principal.
func (f *refusals) repeated(now time.Time, kind *refusal) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows == nil || now.Sub(f.since) > repeatTime {
		f.since, f.rows = now, map[refusal]int64{}
	}
	if seq, known := f.rows[*kind]; known || len(f.rows) < maxRefusals {
		return seq
	}
	*kind = refusal{}
	return f.rows[*kind]
}

// recorded notes the row of a kind.
func (f *refusals) recorded(kind refusal, seq int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows != nil {
		f.rows[kind] = seq
	}
}
