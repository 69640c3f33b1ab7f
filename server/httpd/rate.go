package httpd

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A Rate bounds the requests of each principal that has proved who it is. The zero Rate
// bounds none.
type Rate struct {
	PerSecond float64
	Burst     int // requests at once, after a pause
}

// rates count the requests of principals.
type rates struct {
	Rate
	mu sync.Mutex // guards by
	by map[identity.Key]*rate.Limiter
}

// maxRates bounds the principals that are remembered: who has the whole burst is forgotten.
const maxRates = 10_000

// wait returns after which time a request of p would be in time, and counts one that is; 0 is
// now.
func (r *rates) wait(p identity.Principal) time.Duration {
	if r.PerSecond <= 0 || p.Kind != identity.Token && p.Kind != identity.Subject {
		return 0
	}
	reserved := r.of(p).Reserve()
	wait := reserved.Delay()
	if wait > 0 {
		reserved.Cancel() // what is refused costs nothing
	}
	return wait
}

// of returns the limiter of a principal, whatever its profile.
func (r *rates) of(p identity.Principal) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := p.Owner()
	l := r.by[key]
	if l == nil {
		if len(r.by) >= maxRates {
			maps.DeleteFunc(r.by, func(_ identity.Key, l *rate.Limiter) bool { return l.Tokens() >= float64(l.Burst()) })
		}
		l = rate.NewLimiter(rate.Limit(r.PerSecond), max(r.Burst, 1))
		r.by[key] = l
	}
	return l
}
