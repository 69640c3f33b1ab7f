// Package signin proves the person at a browser: by a link that works once, or by a
// bearer token, for a session of which the browser keeps a cookie.
package signin

import (
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/identity"
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

// Sessions are the signed-in browsers of one server, in memory.
type Sessions struct{ options Options }

// New returns no sessions yet.
func New(o Options) *Sessions { return &Sessions{o} }

// Link returns the path of a new link, below the page's, that signs a person in once.
func (s *Sessions) Link() string { panic("TODO") }

// Authenticate returns the principal of the session whose cookie a request has; ok is false
// without one. It is a person for a session that a link began.
func (s *Sessions) Authenticate(r *http.Request) (p identity.Principal, ok bool) { panic("TODO") }

// Guard returns a handler that serves h to signed-in browsers, with their principal in the
// context, and the sign-in screen to others. It sets the headers that protect the page.
func (s *Sessions) Guard(h http.Handler) http.Handler { panic("TODO") }
