package httpd

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	maxRefusals = 20  // logged one by one in a minute
	maxLogged   = 200 // bytes of a field that the client chose
)

// refusals logs refused requests. Anybody can be refused as often as they like, so of
// many only the number is logged.
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

// rest logs the number of refusals that are not logged yet. The caller holds mu.
func (f *refusals) rest() {
	if f.count > maxRefusals {
		f.log.Warn("refused more requests", "requests", f.count-maxRefusals, "since", f.since)
	}
}

// close logs the number of refusals that are not logged yet.
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
