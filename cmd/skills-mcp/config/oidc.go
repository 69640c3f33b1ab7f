package config

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/identity/oauth"
)

// OIDC names the issuer whose access tokens are accepted. An empty one is none.
type OIDC struct {
	Issuer     string        `yaml:"issuer"`
	Audience   Words         `yaml:"audience"`
	Algorithms []string      `yaml:"algorithms"`
	Skew       time.Duration `yaml:"skew"`

	Scopes        map[string]identity.Scope `yaml:"scopes"` // ours, by the issuer's names
	DefaultScopes []identity.Scope          `yaml:"default_scopes"`

	ProfileClaim   string            `yaml:"profile_claim"`
	Profiles       map[string]string `yaml:"profiles"` // by values of the claim
	DefaultProfile string            `yaml:"default_profile"`
	NameClaim      string            `yaml:"name_claim"`

	Page OIDCPage `yaml:"page"`
}

// OIDCPage is the page as a client of the issuer. An empty one is known by the URL of its
// metadata, where the issuer reads that.
type OIDCPage struct {
	ClientID         string `yaml:"client_id"`
	ClientSecretFile string `yaml:"client_secret_file"` // "" is a public client
}

// validate checks the issuer of a server with a URL, if there is one.
func (o OIDC) validate(url string) error {
	scopes := append(slices.Collect(maps.Values(o.Scopes)), o.DefaultScopes...)
	unknown := slices.IndexFunc(scopes, func(scope identity.Scope) bool { return !slices.Contains(identity.Scopes(), scope) })
	weak := slices.IndexFunc(o.Algorithms, func(a string) bool { return !slices.Contains(oauth.Algorithms(), a) })
	switch {
	case o.Page.ClientSecretFile != "" && o.Page.ClientID == "":
		return errors.New("serve.oidc.page: client_secret_file needs client_id")
	case o.Issuer == "":
		return nil
	case url == "":
		return errors.New("serve.oidc needs serve.url, by which clients reach the server: its /mcp is the audience of their tokens")
	case !isSafe(o.Issuer):
		return errors.New("serve.oidc: issuer must be a URL of https, or of http on this machine")
	case weak >= 0:
		return fmt.Errorf("serve.oidc.algorithms has %q; write some of %s", o.Algorithms[weak], strings.Join(oauth.Algorithms(), ", "))
	case o.Skew < 0 || o.Skew > 10*time.Minute:
		return fmt.Errorf("serve.oidc.skew is %s; write at most 10m", o.Skew)
	case unknown >= 0:
		return fmt.Errorf("serve.oidc has the scope %q; ours are %q", scopes[unknown], identity.Scopes())
	case len(o.Profiles) > 0 != (o.ProfileClaim != ""):
		return errors.New("serve.oidc: profile_claim and profiles need each other")
	}
	return nil
}

// isSafe reports whether a URL is read without a stranger in between.
func isSafe(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery+u.Fragment != "" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}
