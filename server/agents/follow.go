package agents

import (
	"encoding/json"
	"time"
)

// following is the interval of reports to other processes, and of reads of their requests.
const following = time.Second

// follow reports the usage of sessions to other processes of the same store, and ends the
// sessions that they ask for.
func (r *registry) follow() {
	used, running := r.changed()
	if !running {
		return
	}
	stop, err := r.table.Follow(r.ctx, used)
	if err != nil {
		r.logger.Debug("the usage of subagents is not stored", "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range stop {
		if l := r.live[id]; l != nil {
			l.cancel(errKilled)
		}
	}
}

// changed returns the usage of sessions that the store does not have yet, by run ID, and
// whether one runs.
func (r *registry) changed() (used map[string]string, running bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	used = map[string]string{}
	for id, l := range r.live {
		if l.hasEnded() {
			continue
		}
		if spent := l.ledger.spent(); spent != l.followed {
			l.followed = spent
			text, _ := json.Marshal(spent) // numbers can be encoded
			used[id] = string(text)
		}
	}
	return used, r.running > 0
}
