package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

const (
	linkLife    = 10 * time.Minute
	idleLife    = 12 * time.Hour // of a session
	maxLinks    = 16
	maxSessions = 32 // of one person
)

// secrets are values that a random text gives access to, for a time. Only the sums of the
// texts are held, so that a lookup's time tells nothing about them.
type secrets[V any] struct {
	name  func(string) string  // of a new secret, as it is known outside; nil is the secret
	most  int                  // of one group: the oldest goes for one more
	life  time.Duration        // since the last use
	group func(V) identity.Key // nil has one group
	held  map[[sha256.Size]byte]*held[V]
}

// A held value belongs to one secret.
type held[V any] struct {
	value   V
	expires time.Time
	life    context.Context // done when the secret is gone
	end     context.CancelFunc
}

// drop ends the value of a sum, if there is one.
func (s *secrets[V]) drop(sum [sha256.Size]byte) {
	if h := s.held[sum]; h != nil {
		h.end()
		delete(s.held, sum)
	}
}

// add returns a new secret, of 128 bits or more, for a value.
func (s *secrets[V]) add(value V) string {
	if s.held == nil {
		s.held = map[[sha256.Size]byte]*held[V]{}
	}
	s.makeRoom(value)
	secret := rand.Text()
	if s.name != nil {
		secret = s.name(secret)
	}
	h := &held[V]{value: value}
	h.life, h.end = context.WithCancel(context.Background())
	s.renew(h)
	s.held[sha256.Sum256([]byte(secret))] = h
	return secret
}

// makeRoom drops what has expired, and the oldest value of a full group.
func (s *secrets[V]) makeRoom(value V) {
	var oldest [sha256.Size]byte
	var found *held[V]
	n := 0
	for sum, h := range s.held {
		if !time.Now().Before(h.expires) {
			s.drop(sum)
			continue
		}
		if s.group != nil && s.group(h.value) != s.group(value) {
			continue
		}
		if n++; found == nil || h.expires.Before(found.expires) {
			oldest, found = sum, h
		}
	}
	if n >= s.most {
		s.drop(oldest)
	}
}

// renew begins the life of a value again.
func (s *secrets[V]) renew(h *held[V]) { h.expires = time.Now().Add(s.life) }

// find returns the value of a secret, or nil.
func (s *secrets[V]) find(secret string) *held[V] {
	h := s.held[sha256.Sum256([]byte(secret))]
	if h == nil || !time.Now().Before(h.expires) {
		return nil
	}
	return h
}

// take is find for the last time.
func (s *secrets[V]) take(secret string) *held[V] {
	h := s.find(secret)
	s.drop(sha256.Sum256([]byte(secret)))
	return h
}

// maxFailures is the number of wrong tokens and passphrases in a minute.
const maxFailures = 10

// A throttle bounds guesses, of all senders together: those of one machine have one
// address. One guess is checked at a time, as a passphrase's check is made expensive.
type throttle struct {
	mu       sync.Mutex // guards the fields below, and is held during a check
	since    time.Time  // of the minute
	failures int        // in it
}

// try makes a check, unless too many have failed. tried is false then.
func (t *throttle) try(check func() bool) (right, tried bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.Sub(t.since) >= time.Minute {
		t.since, t.failures = now, 0
	}
	if t.failures >= maxFailures {
		return false, false
	}
	if right = check(); !right {
		t.failures++
	}
	return right, true
}
