package server

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// A readiness holds requests until the first catalog is published and the workspaces
// are searched for the files that its skills are for: some clients list once, and ignore
// notices. Clients give up on requests, too, many after a minute: lists are answered in
// time, with what there is, and clients are notified of the rest. A call waits for its
// skill.
type readiness struct {
	lists, calls         chan struct{} // closed when lists are answered, and calls
	openLists, openCalls func()        // close one, once

	published atomic.Bool
	scan      *time.Timer // bounds the wait of lists for the catalog; nil if nothing waits
	search    *time.Timer // bounds the wait for the search; begins with the first catalog
}

// searchTime bounds the wait for the search of the workspaces, which takes up to 2 s.
const searchTime = 100 * time.Millisecond

// newReadiness returns a readiness that holds lists for at most a time before the first
// catalog; 0 holds nothing. It must be closed.
func newReadiness(most time.Duration, logger *slog.Logger) *readiness {
	r := &readiness{lists: make(chan struct{}), calls: make(chan struct{})}
	r.openLists = sync.OnceFunc(func() { close(r.lists) })
	r.openCalls = sync.OnceFunc(func() { close(r.calls) })
	if most == 0 {
		r.open()
		return r
	}
	r.search = time.AfterFunc(most, r.open)
	r.search.Stop()
	r.scan = time.AfterFunc(most, func() {
		logger.Warn("the first scan of the skills takes long; lists lack skills until it has ended", "waited", most)
		r.openLists()
	})
	return r
}

func (r *readiness) open() {
	r.openLists()
	r.openCalls()
}

// scanned is called after each publication of a catalog.
func (r *readiness) scanned() {
	if !r.published.Swap(true) && r.scan != nil {
		r.scan.Stop()
		r.search.Reset(searchTime)
	}
}

// searched is called after each search of the workspaces.
func (r *readiness) searched() {
	if r.published.Load() {
		r.close()
		r.open()
	}
}

// err returns an error before the first publication.
func (r *readiness) err() error {
	if !r.published.Load() {
		return errors.New("the skills are being read")
	}
	return nil
}

// close stops the timers.
func (r *readiness) close() {
	if r.scan != nil {
		r.scan.Stop()
		r.search.Stop()
	}
}
