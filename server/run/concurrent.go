package run

import (
	"fmt"
	"sync"
)

// A running counts the runs of each profile.
type running struct {
	mu     sync.Mutex
	counts map[string]int // guarded by mu; entries are never zero
}

// enter counts the run of a proposal until leave is called. The error, an [*Error], says
// that its profile has no room. A call that a running script makes is part of that run,
// as is a hook around a call.
func (r *running) enter(p *Proposal) (leave func(), err error) {
	most, profile := p.Decision.Concurrent, p.Principal.Profile
	if most == 0 || p.Parent != "" {
		return func() {}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts[profile] >= most {
		return nil, &Error{Code: Busy, Message: fmt.Sprintf("%d calls of the profile %q are running, as many as it may have at once; try again when one has ended", most, profile), Retryable: true}
	}
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[profile]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.counts[profile]--; r.counts[profile] == 0 {
			delete(r.counts, profile)
		}
	}, nil
}
