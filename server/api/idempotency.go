package api

import (
	"context"
	"crypto/sha256"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
)

// Bounds of the idempotency keys.
const (
	maxKeys   = 1000 // the oldest is forgotten
	maxKey    = 255  // bytes
	keyExpiry = 24 * time.Hour
)

// idempotency remembers the runs of requests with an Idempotency-Key: who sends one again
// gets the same run.
type idempotency struct {
	mu    sync.Mutex // guards the fields below
	runs  map[ownedKey]*keyedRun
	order []*keyedRun // the oldest first
}

type ownedKey struct {
	owner identity.Key
	key   string
}

// A keyedRun is the run of a key.
type keyedRun struct {
	ownedKey
	at      time.Time
	request [sha256.Size]byte

	mu sync.Mutex // held while it starts
	id string     // guarded by mu; "" did not start
}

func newIdempotency() *idempotency { return &idempotency{runs: map[ownedKey]*keyedRun{}} }

// start returns the run of the key of a request, which start starts the first time. ""
// is no key. The error of start leaves the key free, as does a run that ended with an error
// after which the same request may succeed.
func (i *idempotency) start(ctx context.Context, key, path string, body []byte, s *Service, start func() (*jobs.Job, error)) (*jobs.Job, error) {
	if key == "" {
		return start()
	}
	if len(key) > maxKey {
		return nil, refuse(http.StatusBadRequest, "Idempotency-Key has more than %d bytes", maxKey)
	}
	of := i.find(ownedKey{identity.FromContext(ctx).Key(), key}, sha256.Sum256(append([]byte(path+"\n"), body...)))
	if of == nil {
		return nil, refuse(http.StatusUnprocessableEntity, "this Idempotency-Key was sent with another request; take a new key for each")
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.id != "" {
		job, err := s.Job(ctx, of.id)
		if err != nil {
			return nil, refuse(http.StatusGone, "the run of this Idempotency-Key has ended, and its result is no longer kept: see %sruns/%s", Path, of.id)
		}
		if !again(job) {
			return job, nil
		}
	}
	job, err := start()
	if err == nil {
		of.id = job.ID
	}
	return job, err
}

// again reports whether a run has not begun, and may do so at another time.
func again(job *jobs.Job) bool {
	s := job.Snapshot(math.MaxInt)
	return s.State == jobs.Ended && s.Result == nil && s.Err != nil && s.Err.Retryable
}

// find returns the run of a key, or nil if the key is that of another request.
func (i *idempotency) find(key ownedKey, request [sha256.Size]byte) *keyedRun {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	for len(i.order) > 0 && (len(i.order) > maxKeys || now.Sub(i.order[0].at) > keyExpiry) {
		delete(i.runs, i.order[0].ownedKey)
		i.order = i.order[1:]
	}
	of := i.runs[key]
	if of == nil {
		of = &keyedRun{ownedKey: key, at: now, request: request}
		i.runs[key], i.order = of, append(i.order, of)
	}
	if of.request != request {
		return nil
	}
	return of
}
