package signin

import (
	"net/http"
	"sync"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Path is the beginning of the paths that [Sessions.Guard] guards.
const Path = "/ui/"

const (
	signinPath = Path + "signin"
	// LinkPath begins the path of a sign-in link, before its text.
	LinkPath    = signinPath + "?key="
	signoutPath = Path + "signout"
	staticPath  = Path + "static/" // needs no session: the sign-in screen uses it
)

// Options configure [Sessions].
type Options struct {
	// Passphrase reports whether a text is the person's passphrase; nil asks for none.
	Passphrase func(text string) bool
	// Tokens authenticates a bearer token, whose holder may look and call but decides
	// nothing; nil is none.
	Tokens func(r *http.Request) (identity.Principal, error)
	// Profile bounds the calls of the sessions; "" is the default profile.
	Profile string
}

// Sessions are the signed-in browsers of one server, in memory. They may be used
// concurrently.
type Sessions struct {
	options             Options
	origins             *http.CrossOriginProtection
	screen              screen
	tokens, passphrases throttle

	mu       sync.Mutex // guards the fields below
	links    secrets[struct{}]
	proofs   secrets[int]                // of used links that wait for the passphrase: failed attempts
	sessions secrets[identity.Principal] // of persons
	guests   secrets[identity.Principal] // of others, who end no session of a person
}

// New returns no sessions yet.
func New(o Options) *Sessions {
	return &Sessions{
		options: o, origins: http.NewCrossOriginProtection(),
		links:    secrets[struct{}]{most: maxLinks, life: linkLife},
		proofs:   secrets[int]{most: maxLinks, life: linkLife},
		sessions: secrets[identity.Principal]{most: maxSessions, life: idleLife},
		guests:   secrets[identity.Principal]{most: maxSessions, life: idleLife},
	}
}

// sessionsOf returns the sessions of a principal's kind. The mutex is held.
func (s *Sessions) sessionsOf(p identity.Principal) *secrets[identity.Principal] {
	if p.Kind == identity.Person {
		return &s.sessions
	}
	return &s.guests
}

// endSession ends the session of a secret. The mutex is held.
func (s *Sessions) endSession(secret string) {
	s.sessions.take(secret)
	s.guests.take(secret)
}

// Link returns the path of a new link, below [Path], that signs a person in once, within
// ten minutes.
func (s *Sessions) Link() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return LinkPath + s.links.add(struct{}{})
}
