package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/httpd"
	"github.com/skillsmcp/skills-mcp/server/identity/oauth"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Serve configures how clients reach the server.
type Serve struct {
	Transport string `yaml:"transport"`  // stdio, http or sse
	Listen    string `yaml:"listen"`     // address and port, of http and sse
	TokenFile string `yaml:"token_file"` // holds the bearer token that clients must send
	NoToken   bool   `yaml:"no_token"`   // ask for no token, whatever the address
	UI        bool   `yaml:"ui"`         // also serve the page, over HTTP
	URL       string `yaml:"url"`        // by which clients reach the server, without a path; "" is Listen
	Replica   string `yaml:"replica"`    // URL by which other servers of the same store reach this one; "" is a server alone
	OIDC      OIDC   `yaml:"oidc"`       // whose access tokens are accepted
	AccessLog bool   `yaml:"access_log"` // log each request and each call
	Rate      Rate   `yaml:"rate"`       // of the requests of each principal
	// AllowHosts are names that clients may call the server by, and AllowOrigins
	// the web pages that may use it.
	AllowHosts   []string `yaml:"allow_hosts"`
	AllowOrigins []string `yaml:"allow_origins"`
	TLS          TLS      `yaml:"tls"`
	// TrustedProxies are the networks of proxies that tell who the client is.
	TrustedProxies []Prefix      `yaml:"trusted_proxies"`
	Drain          time.Duration `yaml:"drain"` // for running calls when the server stops
	Name           string        `yaml:"name"`  // of the server, for programs
	Title          string        `yaml:"title"` // likewise, for people
}

// TLS names PEM files; without them HTTP is served.
type TLS struct {
	Cert string `yaml:"cert"` // the server's certificate and its chain
	Key  string `yaml:"key"`
}

// Access returns the access of the HTTP server.
func (s Serve) Access() httpd.Access {
	a := httpd.Access{Hosts: s.Hosts(), Origins: s.AllowOrigins}
	for _, p := range s.TrustedProxies {
		a.Proxies = append(a.Proxies, p.Prefix)
	}
	return a
}

// serverName matches the names that a Server Card may have, too.
var serverName = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$`)

// Rate bounds the requests of each principal. Zero fields are the defaults: 50 a second and
// 200 at once where other machines reach the server, and no bound where none does. A negative
// RequestsPerSecond is no bound.
type Rate struct {
	RequestsPerSecond float64 `yaml:"requests_per_second"`
	Burst             int     `yaml:"burst"`
}

// DefaultListen is the default address and port of the server.
const DefaultListen = "127.0.0.1:8765"

// Transports returns the values of serve.transport: sse is http with the deprecated
// transport beside it.
func Transports() []string { return []string{"stdio", "http", "sse"} }

// Hosts returns the names by which clients may call the server.
func (s Serve) Hosts() []string {
	hosts := slices.Clone(s.AllowHosts)
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
		hosts = append(hosts, u.Hostname())
	}
	return hosts
}

// Validate returns an error for the first invalid value.
func (s Serve) Validate() error {
	if !slices.Contains(Transports(), s.Transport) {
		return fmt.Errorf("serve.transport is %q; write one of %s", s.Transport, strings.Join(Transports(), ", "))
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		return fmt.Errorf("serve.listen is %q; write an address and a port, such as %s", s.Listen, DefaultListen)
	}
	if s.Rate.Burst < 0 {
		return errors.New("serve.rate.burst is too small; write at least 1")
	}
	if s.NoToken && s.TokenFile != "" {
		return errors.New("serve.no_token asks for no token, and serve.token_file names one; leave one of them out")
	}
	if u, err := url.Parse(s.URL); s.URL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path+u.RawQuery+u.Fragment != "" || u.User != nil) {
		return fmt.Errorf("serve.url is %q; write a scheme and a host, such as https://skills.example.com", s.URL)
	}
	if u, err := url.Parse(s.Replica); s.Replica != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path+u.RawQuery+u.Fragment != "" || u.User != nil) {
		return fmt.Errorf("serve.replica is %q; write a scheme and an address, such as http://10.1.2.3", s.Replica)
	}
	if err := s.OIDC.validate(s.URL); err != nil {
		return err
	}
	if s.NoToken && s.OIDC.Issuer != "" {
		return errors.New("serve.no_token asks for no token, and serve.oidc names their issuer; leave one of them out")
	}
	switch {
	case (s.TLS.Cert == "") != (s.TLS.Key == ""):
		return errors.New("serve.tls needs both cert and key (--tls-cert and --tls-key)")
	case s.Drain < 0:
		return fmt.Errorf("serve.drain is %s; write a time such as 30s, or 0s to end running calls at once", s.Drain)
	case !serverName.MatchString(s.Name):
		return fmt.Errorf("serve.name is %q; write up to 63 letters, digits, dots, - and _, such as acme-skills", s.Name)
	case s.Title == "" || len(s.Title) > 100 || s.Title != termtext.Visible(s.Title):
		return fmt.Errorf("serve.title is %q; write up to 100 bytes of visible text, such as Skills of Acme", s.Title)
	}
	for _, origin := range s.AllowOrigins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("serve.allow_origins has %q; write a scheme and a host, such as https://app.example.com", origin)
		}
	}
	for _, host := range s.AllowHosts {
		if host == "" || strings.ContainsAny(host, "/: ") {
			return fmt.Errorf("serve.allow_hosts has %q; write a name without scheme and port, such as skills.example.com", host)
		}
	}
	return nil
}

// OAuth returns the options of the issuer, for a server.
func (s Serve) OAuth() oauth.Options {
	o := s.OIDC
	return oauth.Options{
		URL: s.URL, Issuer: o.Issuer, Audience: o.Audience, Algorithms: o.Algorithms, Skew: o.Skew, Scopes: o.Scopes, DefaultScopes: o.DefaultScopes,
		ProfileClaim: o.ProfileClaim, Profiles: o.Profiles, DefaultProfile: o.DefaultProfile, NameClaim: o.NameClaim,
	}
}

// Expose selects the skills that are tools of their own.
type Expose struct {
	Mode         string      `yaml:"mode"`          // auto, all or search
	As           ClientForms `yaml:"as"`            // the form for clients: one, or by name
	MaxTools     int         `yaml:"max_tools"`     // in auto
	CatalogChars int         `yaml:"catalog_chars"` // of all descriptions together, in auto
	Pin          []string    `yaml:"pin"`           // names and patterns of skills that come first
}

// ClientForms has the form in which clients get skills, by name, for all others by "*".
type ClientForms map[string]exposure.Form

// UnmarshalYAML implements yaml.Unmarshaler. One form is that of all clients.
func (f *ClientForms) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*f = ClientForms{"*": exposure.Form(node.Value)}
		return nil
	}
	return node.Decode((*map[string]exposure.Form)(f))
}

func (e Expose) validate() error {
	for client, form := range e.As {
		if !slices.Contains(exposure.Forms(), string(form)) {
			return fmt.Errorf("expose.as has %q for %q; write one of %s", form, client, strings.Join(exposure.Forms(), ", "))
		}
	}
	if !slices.Contains(exposure.Modes(), e.Mode) {
		return fmt.Errorf("expose.mode is %q; write one of %s", e.Mode, strings.Join(exposure.Modes(), ", "))
	}
	for _, pattern := range e.Pin {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("expose.pin has %q; write the name of a skill, or a pattern such as plugin/*", pattern)
		}
	}
	return nil
}
