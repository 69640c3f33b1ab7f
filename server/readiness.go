package server

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// A readiness holds requests until the first catalog is published, or the time for it
// is over: clients give up on requests, many after a minute. From then on, requests
// are answered with the skills there are, and clients are notified of the others.
type readiness struct {
	held      chan struct{} // closed when requests are answered
	release   func()        // closes it, once
	timer     *time.Timer   // calls release; nil if requests never wait
	published atomic.Bool
}

// newReadiness returns a readiness that holds requests for at most a time; 0 holds none.
// It must be closed.
func newReadiness(most time.Duration, logger *slog.Logger) *readiness {
	r := &readiness{held: make(chan struct{})}
	r.release = sync.OnceFunc(func() { close(r.held) })
	if most == 0 {
		r.release()
		return r
	}
	r.timer = time.AfterFunc(most, func() {
		logger.Warn("the first scan of the skills takes long; lists lack skills until it has ended", "waited", most)
		r.release()
	})
	return r
}

// scanned is called after each publication.
func (r *readiness) scanned() {
	r.close()
	r.published.Store(true)
	r.release()
}

// err returns an error before the first publication.
func (r *readiness) err() error {
	if !r.published.Load() {
		return errors.New("the skills are being read")
	}
	return nil
}

func (r *readiness) close() {
	if r.timer != nil {
		r.timer.Stop()
	}
}
