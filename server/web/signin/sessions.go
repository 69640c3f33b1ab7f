package signin

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
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

// A Provider signs people in elsewhere, as [oauth.Login] does.
type Provider interface {
	// Name names it, for people.
	Name() string
	// Start returns the URL at which a person signs in. State and secret are random.
	Start(ctx context.Context, state, secret string) (string, error)
	// Finish returns the person whom it has sent back with a query. The error is an
	// [*identity.Challenge] for one who may not use the server.
	Finish(ctx context.Context, query url.Values, secret string) (identity.Principal, error)
	// Document returns the JSON of the page's metadata as a client; nil is none.
	Document() []byte
}

// Paths of the sign-in at a provider. The provider knows the last two.
const (
	startPath    = signinPath + "/start"
	CallbackPath = signinPath + "/callback"
	DocumentPath = signinPath + "/client.json"
)

// Options configure [Sessions].
type Options struct {
	// Passphrase reports whether a text is the person's passphrase; nil asks for none.
	Passphrase func(text string) bool
	// Tokens authenticates a bearer token, whose holder may do what the token may; nil is
	// none.
	Tokens func(r *http.Request) (identity.Principal, error)
	// Links uses up the link of a named token; nil is none.
	Links func(ctx context.Context, text string) (p identity.Principal, ok bool)
	// Watch returns a function that reports whether the token of a name, as it is now, still
	// counts; nil is that all do. An error refuses a request, and ends no session.
	Watch func(ctx context.Context, name string) (counts func(context.Context) (bool, error))
	// Provider signs people in elsewhere; nil is none.
	Provider Provider
	// Profile bounds the calls of the sessions whose principal has none; "" is the default
	// profile.
	Profile string
	// Name returns a session's secret with the name of this server, to which others pass its
	// requests; nil returns it as it is.
	Name   func(secret string) string
	Logger *slog.Logger // nil discards
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
	proofs   secrets[int] // of used links that wait for the passphrase: failed attempts
	sessions secrets[session]
}

// A session is that of a signed-in browser.
type session struct {
	identity.Principal
	counts func(context.Context) (bool, error) // its token does; nil is that none can end it
}

// owner returns the principal whose sessions are counted together.
func (s session) owner() identity.Key { return s.Owner() }

// New returns no sessions yet.
func New(o Options) *Sessions {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return &Sessions{
		options: o, origins: http.NewCrossOriginProtection(),
		links:    secrets[struct{}]{most: maxLinks, life: linkLife},
		proofs:   secrets[int]{most: maxLinks, life: linkLife},
		sessions: secrets[session]{name: o.Name, most: maxSessions, life: idleLife, group: session.owner},
	}
}

// endSession ends the session of a secret.
func (s *Sessions) endSession(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions.take(secret)
}

// Link returns the path of a new link, below [Path], that signs a person in once, within
// ten minutes.
func (s *Sessions) Link() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return LinkPath + s.links.add(struct{}{})
}
