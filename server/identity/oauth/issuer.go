// Package oauth makes the server a resource server of OAuth 2.1: it verifies the access
// tokens of one issuer, and tells clients where they get them (RFC 9728).
//
// Start with [NewIssuer] and [NewResource].
package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Bounds of the verified tokens that are remembered: of their number, and of the time after
// which a key that the issuer has withdrawn counts no more.
const (
	maxVerified = 4096
	verifiedAge = 5 * time.Minute
)

// An Issuer verifies the tokens of one issuer. It may be used concurrently.
type Issuer struct {
	options  Options
	keys     *keys
	verifier *oidc.IDTokenVerifier

	mu       sync.Mutex // guards verified
	verified map[[sha256.Size]byte]verified
}

// verified is the subject of a token, until a time.
type verified struct {
	identity.Principal
	until time.Time
}

// NewIssuer returns the verifier of an issuer's tokens. It asks the issuer for nothing before
// the first token.
func NewIssuer(o Options) *Issuer {
	if len(o.Algorithms) == 0 {
		o.Algorithms = Algorithms()
	}
	o.Skew = cmp.Or(o.Skew, time.Minute)
	k := newKeys(o)
	return &Issuer{
		options: o, keys: k, verified: map[[sha256.Size]byte]verified{},
		// Times are checked with the skew of the options, and one of several audiences.
		verifier: oidc.NewVerifier(o.Issuer, k, &oidc.Config{SupportedSigningAlgs: o.Algorithms, SkipClientIDCheck: true, SkipExpiryCheck: true}),
	}
}

// Reach asks the issuer for its keys, unless that was tried just now.
func (i *Issuer) Reach(ctx context.Context) error { return i.keys.fetch(ctx, true) }

// IsToken reports whether a text has the look of a token of an issuer: a JWT in its compact
// form.
func IsToken(text string) bool { return strings.Count(text, ".") == 2 }

// ErrAway is returned while the issuer cannot be asked for the key of a token.
var ErrAway = errors.New("the issuer cannot be asked for its keys")

// Principal returns the subject of a token. The error is [ErrAway], or a
// [*identity.Challenge] for a token that does not count.
func (i *Issuer) Principal(ctx context.Context, text string) (identity.Principal, error) {
	sum := sha256.Sum256([]byte(text))
	i.mu.Lock()
	found, ok := i.verified[sum]
	i.mu.Unlock()
	if ok && time.Now().Before(found.until) {
		return found.Principal, nil
	}
	p, err := i.verify(ctx, text)
	if err == nil {
		i.remember(sum, p)
	}
	return p, err
}

// remember keeps a verified token. Those that have ended make room, or all do.
func (i *Issuer) remember(sum [sha256.Size]byte, p identity.Principal) {
	now := time.Now()
	until := now.Add(verifiedAge)
	if p.Expires.Before(until) {
		until = p.Expires
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.verified) >= maxVerified {
		for sum, one := range i.verified {
			if !now.Before(one.until) {
				delete(i.verified, sum)
			}
		}
		if len(i.verified) >= maxVerified {
			clear(i.verified)
		}
	}
	i.verified[sum] = verified{p, until}
}

// verify checks a token, and returns its subject.
func (i *Issuer) verify(ctx context.Context, text string) (p identity.Principal, err error) {
	token, claims, err := i.claims(ctx, text)
	if err != nil {
		return p, err
	}
	return i.principal(token, claims)
}

// claims checks a token, and returns its claims.
func (i *Issuer) claims(ctx context.Context, text string) (token *oidc.IDToken, claims map[string]any, err error) {
	jws, err := jose.ParseSignedCompact(text, i.keys.algorithms)
	if err != nil {
		return nil, nil, identity.Unauthorized("its token is malformed, or has another signature than is accepted")
	}
	if typ, _ := jws.Signatures[0].Header.ExtraHeaders[jose.HeaderType].(string); !slices.Contains([]string{"", "jwt", "at+jwt"}, strings.TrimPrefix(strings.ToLower(typ), "application/")) {
		return nil, nil, identity.Unauthorized("its token is of another type")
	}
	var away error
	token, err = i.verifier.Verify(context.WithValue(ctx, awayKey{}, &away), text)
	if away != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrAway, away)
	}
	if err == nil {
		err = token.Claims(&claims)
	}
	if err != nil {
		return nil, nil, identity.Unauthorized("its token is not the issuer's: " + err.Error())
	}
	if reason := i.reject(token, claims); reason != "" {
		return nil, nil, identity.Unauthorized(reason)
	}
	return token, claims, nil
}

// maxSubject bounds the name of a subject, in bytes, as OpenID Connect does.
const maxSubject = 255

// reject returns why a token of the issuer is not for this server now, or "".
func (i *Issuer) reject(token *oidc.IDToken, claims map[string]any) string {
	now := time.Now()
	notBefore, _ := claims["nbf"].(float64)
	switch {
	case !now.Before(token.Expiry.Add(i.options.Skew)): // without one it is in 1970
		return "its token has expired"
	case notBefore > float64(now.Add(i.options.Skew).Unix()):
		return "its token does not count yet"
	case !slices.ContainsFunc(token.Audience, i.isAudience):
		return "its token is for another audience"
	case token.Subject == "" || len(token.Subject) > maxSubject:
		return "its token has no subject"
	}
	return ""
}

// isAudience reports whether an audience is this server.
func (i *Issuer) isAudience(audience string) bool {
	if len(i.options.Audience) > 0 {
		return slices.Contains(i.options.Audience, audience)
	}
	path, own := strings.CutPrefix(audience, i.options.URL)
	return own && (path == "" || path == "/" || isResource(path))
}

// principal returns the subject of a verified token.
func (i *Issuer) principal(token *oidc.IDToken, claims map[string]any) (identity.Principal, error) {
	o := &i.options
	p := identity.Principal{Kind: identity.Subject, ID: token.Issuer + " " + token.Subject, Scopes: o.scopes(claims), Expires: token.Expiry.Add(o.Skew)}
	for _, claim := range []string{o.NameClaim, "preferred_username", "email", "name"} {
		if name, _ := claims[claim].(string); p.Name == "" && len(name) <= maxSubject {
			p.Name = name
		}
	}
	for _, value := range list(claims[o.ProfileClaim]) {
		if profile := o.Profiles[value]; profile != "" && !slices.Contains(p.Profiles, profile) {
			p.Profiles = append(p.Profiles, profile)
		}
	}
	if len(p.Profiles) == 0 && o.DefaultProfile != "" {
		p.Profiles = []string{o.DefaultProfile}
	}
	switch {
	case len(p.Profiles) > 0:
		p.Profile = p.Profiles[0]
	case o.ProfileClaim != "":
		const none = "no profile of the server is for you"
		return p, &identity.Challenge{Status: http.StatusForbidden, Message: none, Reason: none}
	}
	return p, nil
}
