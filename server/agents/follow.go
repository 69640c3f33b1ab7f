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
	used, running := r.changed()
	if !running {
		return
	}
	stop, err := r.table.Follow(r.ctx, used)
	if err != nil {
		r.logger.Debug("the usage of subagents is not stored", "error", err)
	}
	var watched []*live
	r.mu.Lock()
	for _, id := range stop {
		if l := r.live[id]; l != nil {
			l.cancel(errKilled)
		}
	}
	for _, l := range r.live {
		if err == nil && l.counts != nil && !l.hasEnded() { // else the store cannot be read
			watched = append(watched, l)
		}
	}
	r.mu.Unlock()
	for _, l := range watched {
		if !l.counts(r.ctx) {
			l.cancel(errRevoked)
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
