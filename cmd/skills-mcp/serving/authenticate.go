package serving

import (
	"errors"
	"net/http"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/identity/oauth"
	"github.com/skillsmcp/skills-mcp/server/identity/tokens"
)

// An authenticator proves clients by their bearer tokens: the machine's, named ones, and
// those of an issuer.
type authenticator struct {
	open     bool             // everybody is let in, without a token
	machine  *identity.Bearer // nil has none
	tokens   *tokens.Tokens
	issuer   *oauth.Issuer // nil is none
	resource *oauth.Resource
	profile  string // of those whose token names none
}

// Authenticate implements [httpd.Authenticator]. Nothing in a refusal tells which kind of
// token was wrong, or how.
func (a *authenticator) Authenticate(r *http.Request) (identity.Principal, error) {
	if a.open {
		return identity.Principal{}.Within(a.profile), nil
	}
	text, err := identity.BearerToken(r)
	var p identity.Principal
	if err == nil {
		p, err = a.holder(r, text)
	}
	if c, refused := errors.AsType[*identity.Challenge](err); refused && c.Status == http.StatusUnauthorized {
		failed := ""
		if c.Reason != identity.NoToken {
			failed = "invalid_token"
		}
		c.Authenticate = a.resource.Challenge(r, failed, identity.ScopeRun)
	}
	return p.Within(a.profile), err
}

// holder returns the holder of a token.
func (a *authenticator) holder(r *http.Request, text string) (identity.Principal, error) {
	if a.machine.Is(text) {
		return identity.Principal{Kind: identity.Token}, nil
	}
	if strings.HasPrefix(text, tokens.Prefix) {
		if p, ok, err := a.tokens.Principal(r.Context(), text); ok || err != nil {
			return p, err
		}
	}
	if a.issuer != nil && oauth.IsToken(text) {
		return a.issuer.Principal(r.Context(), text)
	}
	return identity.Principal{}, identity.Unauthorized(identity.WrongToken)
}
