package oauth

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Options describe an issuer and its tokens.
type Options struct {
	// URL is that of this server, without a path: with the path of MCP it is the audience
	// of tokens.
	URL string
	// Issuer is the issuer's URL, exactly as it is in its metadata and tokens.
	Issuer string
	// Audience are the audiences of which a token must have one; the default is URL and
	// what is below its path of MCP.
	Audience []string
	// Algorithms are the accepted signatures; the default is [Algorithms].
	Algorithms []string
	// Skew is the accepted difference of clocks; 1 min.
	Skew time.Duration
	// Scopes are ours by the issuer's name for them; the default is that it has our names.
	Scopes map[string]identity.Scope
	// DefaultScopes apply to tokens that have none of ours.
	DefaultScopes []identity.Scope
	// ProfileClaim is the claim whose values give profiles, by Profiles. Without a match
	// DefaultProfile counts, and without that the subject is refused.
	ProfileClaim   string
	Profiles       map[string]string
	DefaultProfile string
	// NameClaim is the claim with the name for people; the default is preferred_username,
	// email or name.
	NameClaim string
	// Client is the page as a client of the issuer.
	Client Client
	// Transport sends requests to the issuer; the default is [http.DefaultTransport].
	Transport http.RoundTripper
}

// A Client is the page of this server as a client of an issuer.
type Client struct {
	ID     string // "" is the URL of Document, for issuers that read it
	Secret string // "" is a public client
	// Redirect is the URL to which the issuer sends browsers back, and Document that of the
	// client's metadata (draft-ietf-oauth-client-id-metadata-document).
	Redirect, Document string
}

// id returns the ID by which the issuer knows the client.
func (c *Client) id() string {
	if c.ID == "" {
		return c.Document
	}
	return c.ID
}

// Algorithms returns the signatures that are accepted by default. None is symmetric.
func Algorithms() []string {
	return []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}
}

// scopes returns our scopes of a token; none is not nil.
func (o *Options) scopes(claims map[string]any) []identity.Scope {
	scopes := []identity.Scope{}
	for _, claim := range []string{"scope", "scp"} { // the latter is of Entra ID and Okta
		for _, value := range list(claims[claim]) {
			for _, word := range strings.Fields(value) {
				if scope := o.scope(word); scope != "" && !slices.Contains(scopes, scope) {
					scopes = append(scopes, scope)
				}
			}
		}
	}
	if len(scopes) == 0 {
		return append(scopes, o.DefaultScopes...)
	}
	return scopes
}

// scope returns our scope of a word in a token; "" is none. Clients of Entra ID ask for
// "api://ID/NAME", and their tokens have "NAME".
func (o *Options) scope(word string) identity.Scope {
	if len(o.Scopes) == 0 {
		if scope := identity.Scope(word); slices.Contains(identity.Scopes(), scope) {
			return scope
		}
		return ""
	}
	for name, scope := range o.Scopes {
		if name == word || strings.HasPrefix(name, "api://") && name[strings.LastIndexByte(name, '/')+1:] == word {
			return scope
		}
	}
	return ""
}

// list returns the texts of a claim, which may be one.
func list(claim any) (texts []string) {
	switch value := claim.(type) {
	case string:
		return []string{value}
	case []any:
		for _, one := range value {
			if text, ok := one.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
