package agents

import (
	"encoding/json"
	"time"
)

// following is the time between two looks at what other processes ask for.
const following = time.Second

// follow writes what sessions have used, for other processes of the same store, and ends
// those that they ask for, as long as a session runs.
func (s *Sessions) follow() {
	tick := time.NewTicker(following)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		used, running := s.unfollowed()
		if !running {
			return
		}
		stop, err := s.table.Follow(s.ctx, used)
		if err != nil {
			s.options.Logger.Debug("what subagents have used is not stored", "error", err)
		}
		s.mu.Lock()
		for _, id := range stop {
			if l := s.live[id]; l != nil {
				l.cancel(errKilled)
			}
		}
		s.mu.Unlock()
	}
}

// unfollowed returns what sessions have used that the store does not have yet, by run ID, and
// whether one runs. If none does, follow ends.
func (s *Sessions) unfollowed() (used map[string]string, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follows = s.running > 0
	used = map[string]string{}
	for id, l := range s.live {
		if l.session.Status != Running {
			continue
		}
		if spent := l.ledger.spent(); spent != l.followed {
			l.followed = spent
			text, _ := json.Marshal(spent) // numbers can be encoded
			used[id] = string(text)
		}
	}
	return used, s.follows
}
