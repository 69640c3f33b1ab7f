package agents

import (
	"encoding/json"
	"time"
)

// following is the interval of reports to other processes, and of reads of their requests.
const following = time.Second

// follow reports the usage of sessions to other processes of the same store, and ends the
// sessions that they ask for, and those of clients whose credential was revoked.
func (r *registry) follow() {
	used, watched, running := r.changed()
	if !running {
		return
	}
	stop, err := r.table.Follow(r.ctx, used)
	if err != nil { // and nobody knows what else is in it
		r.logger.Debug("the usage of subagents is not stored", "error", err)
		return
	}
	for _, l := range watched {
		if counts, err := l.counts(r.ctx); err == nil && !counts {
			l.cancel(errRevoked)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range stop {
		if l := r.live[id]; l != nil {
			l.cancel(errKilled)
		}
	}
}

// changed returns the usage of sessions that the store does not have yet, by run ID, the
// sessions whose credential can be revoked, and whether one runs.
func (r *registry) changed() (used map[string]string, watched []*live, running bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	used = map[string]string{}
	for id, l := range r.live {
		if l.hasEnded() {
			continue
		}
		running = true
		if l.counts != nil {
			watched = append(watched, l)
		}
		if spent := l.ledger.spent(); spent != l.followed {
			l.followed = spent
			text, _ := json.Marshal(spent) // numbers can be encoded
			used[id] = string(text)
		}
	}
	return used, watched, running
}
