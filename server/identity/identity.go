// Package identity defines who makes a request: a [Principal], whichever way the request
// came in. A listener authenticates it and puts it into the request's context with
// [NewContext]; its [Key] owns the objects that the request creates.
package identity

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A Kind is the way in which a principal is proved.
type Kind string

const (
	Anonymous Kind = ""       // nothing is proved: the server asks for no credentials, and it for no yes
	Person    Kind = "person" // the person at this machine's command line
	Model     Kind = "model"  // the client that started this process, and speaks for a model
	Token     Kind = "token"  // the holder of a bearer token of the configuration
	Subject   Kind = "oidc"   // the subject of an OpenID Connect issuer's token
)

// A Principal is the party that a request acts for. The zero Principal is the
// anonymous one: everybody who reaches a server that asks for no credentials.
//
// Principals are compared by their [Key].
type Principal struct {
	Kind Kind

	// ID is unique within the kind: a token's name, or an issuer and its subject.
	// It is "" where a kind has one principal only.
	ID string

	// Name is for people: a user name or an address that its issuer asserts; "" is ID. It
	// identifies nobody.
	Name string

	// Profile names the part of the configuration that says which skills exist for
	// this principal; "" is the default profile.
	Profile string

	// Profiles are the profiles that its requests may choose by path or header, Profile
	// among them; nil are all of the configuration and the store.
	Profiles []string

	// ReadOnly bounds its profile further, to the skills of the class safe.
	ReadOnly bool

	// Scopes are the scopes of its token; see [Principal.May]. nil is a principal that no
	// token limits.
	Scopes []Scope

	// Expires is the end of its credential, and of its streams; zero is never.
	Expires time.Time

	// Session is the connection that the principal's tasks, outputs and sandboxes
	// end with. It is "" for a principal that has no lasting connection: over
	// modern HTTP each request stands alone.
	Session string

	// Agents are the qualified names of the agents whose profiles bound the principal, the
	// outermost first: it is a subagent, whose run ID is Session. nil is none.
	Agents []string

	// Remote says that it is not on this machine, or may not be: paths of this one mean
	// nothing to it, and are not for it to know.
	Remote bool
}

// A Key identifies a principal: it owns tasks, outputs, sandboxes kept between calls,
// and a share of slots. Equal keys are the same principal of the same profile and
// session, read-only or not. The anonymous principal's is "". A key is no secret, and no credential.
type Key string

// A Scope is an OAuth scope of a token: a bound of its requests.
type Scope string

// The scopes. Admin includes Run, and Run includes Read.
const (
	ScopeRead    Scope = "skills:read"    // find, describe and read skills
	ScopeRun     Scope = "skills:run"     // call them
	ScopeAdmin   Scope = "skills:admin"   // manage profiles and see the runs of all
	ScopeApprove Scope = "skills:approve" // answer questions for a person; no other scope includes it
)

// Scopes returns all scopes.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeRun, ScopeAdmin, ScopeApprove} }

// May reports whether the principal's token has a scope, or none limits it.
func (p Principal) May(s Scope) bool {
	if p.Scopes == nil || slices.Contains(p.Scopes, s) {
		return true
	}
	switch s {
	case ScopeRead:
		return p.May(ScopeRun)
	case ScopeRun:
		return slices.Contains(p.Scopes, ScopeAdmin)
	}
	return false
}

// Key returns the principal's key. Scopes are no part of it: a token that was renewed
// with others still finds its objects.
func (p Principal) Key() Key {
	parts := []string{string(p.Kind), p.ID, p.Profile, p.Session}
	for i, part := range parts {
		parts[i] = url.PathEscape(part) // no part holds a separator
	}
	if p.ReadOnly {
		parts[2] += ";readonly"
	}
	return Key(strings.TrimRight(strings.Join(parts, "/"), "/"))
}

// Within returns p within the profile of a server, unless its credential names profiles. Such
// a principal may choose other profiles only if the server has none, and the operator made
// its credential: whoever an issuer knows may not.
func (p Principal) Within(profile string) Principal {
	if p.Profiles == nil && (profile != "" || p.Kind == Subject) {
		p.Profile = cmp.Or(p.Profile, profile)
		p.Profiles = []string{p.Profile}
	}
	return p
}

// In returns p as the principal of a session.
func (p Principal) In(session string) Principal {
	p.Session = session
	return p
}

// contextKey is the key of a context's principal.
type contextKey struct{}

// NewContext returns a context that carries p.
func NewContext(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext returns the principal that ctx carries, or the anonymous one.
func FromContext(ctx context.Context) Principal {
	p, _ := ctx.Value(contextKey{}).(Principal)
	return p
}
