package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Secrets has the values of secrets. Its methods must return when ctx is done, and may be
// called concurrently.
type Secrets interface {
	// Has reports whether a principal's secret of a name was set.
	Has(p identity.Principal, name string) bool
	// Value returns its value. With kept it runs no command of the person's, and returns ""
	// for a value that one prints.
	Value(ctx context.Context, p identity.Principal, name string, kept bool) (string, error)
	// Mask returns a value with a new text of the same shape in place of each secret in it,
	// and these texts by their secrets: what the group of a pattern matches, or all.
	Mask(value, pattern string) (text string, sentinels map[string]string, err error)
}

// A SecretGrant gives a run one secret. Package policy checks it.
type SecretGrant struct {
	Name string `json:"name"`
	// Hosts take a masked secret; each has its port.
	Hosts []string `json:"hosts,omitempty"`
	// Methods and Paths, by patterns, bound the requests; none is all.
	Methods []string `json:"methods,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	// In are the parts of requests in which the sentinel is exchanged: header, query, path
	// and body; none is header and query.
	In []string `json:"in,omitempty"`
	// Header is a header field with the beginning of its value, such as "Authorization:
	// Bearer", which is added to each of the requests; "" where the skill has a sentinel.
	Header string `json:"header,omitempty"`
	// As is the variable that holds the sentinel, or the plain value; "" is Name.
	As string `json:"as,omitempty"`
	// File is the file of the home folder that holds it instead, such as ~/.netrc; "" is none.
	File string `json:"file,omitempty"`
	// Extract is a regular expression whose group is the secret within the value; "" is the
	// whole value.
	Extract string `json:"extract,omitempty"`
	// Plain gives the skill the value itself.
	Plain bool `json:"plain,omitempty"`
}

// Variable returns the variable that holds the secret, or its sentinel; "" is none.
func (g *SecretGrant) Variable() string {
	if g.Header+g.File != "" {
		return ""
	}
	return cmp.Or(g.As, g.Name)
}

// holder names the place in the sandbox that holds the secret, for people.
func (g *SecretGrant) holder() string {
	place := "the variable " + g.Variable()
	if g.File != "" {
		place = "the file " + g.File
	}
	if g.Extract != "" {
		place += fmt.Sprintf(", by the group of %#q", g.Extract)
	}
	return place
}

// String returns the grant in one line, for people.
func (g SecretGrant) String() string {
	if g.Plain {
		return g.Name + ", plain: the skill sees it, in " + g.holder()
	}
	method, path := cmp.Or(strings.Join(g.Methods, " or "), "any method"), cmp.Or(strings.Join(g.Paths, " or "), "any path")
	where := "added as " + g.Header + " …"
	if g.Header == "" {
		where = fmt.Sprintf("in %s, for what the skill has in %s", cmp.Or(strings.Join(g.In, " and "), "header and query"), g.holder())
	}
	return fmt.Sprintf("%s, masked: to %s, %s, %s, %s", g.Name, strings.Join(g.Hosts, " or "), method, path, where)
}

// secret returns the grant for the proxy.
func (g *SecretGrant) secret(value, sentinel string) sandbox.Secret {
	s := sandbox.Secret{
		Name: g.Name, Value: value, Sentinel: sentinel, Hosts: g.Hosts, Methods: g.Methods, Paths: g.Paths, In: g.In,
	}
	if name, prefix, found := strings.Cut(g.Header, ":"); found {
		s.Header, s.Prefix = name, strings.TrimSpace(prefix)
		if s.Prefix != "" {
			s.Prefix += " "
		}
	} else {
		s.Header = g.Header
	}
	return s
}
