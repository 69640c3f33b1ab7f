package agents

import (
	"encoding/json"
	"time"
)

// following is the time between two looks at what other processes ask for.
const following = time.Second

// A follower tells other processes of the same store what sessions have used, and ends those
// that they ask for.
type follower struct{ sessions *Sessions }

// run returns when no session runs.
func (f follower) run() {
	s := f.sessions
	tick := time.NewTicker(following)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		used, running := f.changed()
		if !running {
			return
		}
		stop, err := s.table.Follow(s.ctx, used)
		if err != nil {
			s.logger.Debug("what subagents have used is not stored", "error", err)
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

// changed returns what sessions have used that the store does not have yet, by run ID, and
// whether one runs.
func (f follower) changed() (used map[string]string, running bool) {
	s := f.sessions
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
