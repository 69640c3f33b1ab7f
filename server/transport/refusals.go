package transport

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// maxRefusals bounds the refused requests that are logged one by one in a minute,
// and maxLogged a request's description of itself, in bytes.
const (
	maxRefusals = 20
	maxLogged   = 200
)

// refusals logs who was not let in. Anybody can be refused as often as they like,
// so of many only the number is told.
type refusals struct {
	log *slog.Logger

	mu    sync.Mutex // guards the fields below
	since time.Time  // of the minute
	count int        // refused in it
}

// note logs a refused request. The entry never has a token, nor the text in place of
// one.
func (f *refusals) note(r *http.Request, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.since) >= time.Minute {
		f.rest()
		f.since, f.count = now, 0
	}
	if f.count++; f.count > maxRefusals {
		return
	}
	f.log.Warn("refused a request", "reason", cut(reason), "from", r.RemoteAddr, "method", cut(r.Method), "path", cut(r.URL.Path), "host", cut(r.Host), "origin", cut(r.Header.Get("Origin")))
	if f.count == maxRefusals {
		f.log.Warn("refused many requests: more of this minute are only counted")
	}
}

// rest logs the number of those that were not. The caller holds mu.
func (f *refusals) rest() {
	if f.count > maxRefusals {
		f.log.Warn("refused more requests", "requests", f.count-maxRefusals, "since", f.since)
	}
}

// close logs the refusals that are not logged yet.
func (f *refusals) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rest()
	f.count = 0
}

func cut(s string) string {
	if len(s) > maxLogged {
		return s[:maxLogged] + "…"
	}
	return s
}
