package identity

import "context"

// challengeKey is the key of a context's challenge.
type challengeKey struct{}

// WithChallenge returns a context whose requests are refused with the header
// WWW-Authenticate that challenge returns, for a scope that their token lacks.
func WithChallenge(ctx context.Context, challenge func(Scope) string) context.Context {
	return context.WithValue(ctx, challengeKey{}, challenge)
}

// Lacks returns the refusal of a request whose principal lacks a scope (RFC 6750), or nil.
func Lacks(ctx context.Context, scope Scope) *Challenge {
	if FromContext(ctx).May(scope) {
		return nil
	}
	c := &Challenge{Status: 403, Authenticate: `Bearer error="insufficient_scope", scope="` + string(scope) + `"`, Message: "this needs a token with the scope " + string(scope), Reason: "its token lacks the scope " + string(scope)}
	if challenge, ok := ctx.Value(challengeKey{}).(func(Scope) string); ok {
		c.Authenticate = challenge(scope)
	}
	return c
}
