package serving

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/identity/tokens"
)

// An authenticator proves clients by their bearer tokens: the machine's, and named ones.
type authenticator struct {
	open    bool             // everybody is let in, without a token
	machine *identity.Bearer // nil has none
	tokens  *tokens.Tokens
	profile string // of those whose token names none
}

// Authenticate implements [httpd.Authenticator]. Nothing in a refusal tells which kind of
// token was wrong, or how.
func (a *authenticator) Authenticate(r *http.Request) (identity.Principal, error) {
	if a.open {
		return identity.Principal{Profile: a.profile}, nil
	}
	text, err := identity.BearerToken(r)
	if err != nil {
		return identity.Principal{}, err
	}
	p, err := a.holder(r, text)
	p.Profile = cmp.Or(p.Profile, a.profile)
	return p, err
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
	return identity.Principal{}, identity.Unauthorized(identity.WrongToken)
}
