package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/redact"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Vault has the values of secrets. Its methods must return when ctx is done, and may be
// called concurrently.
type Vault interface {
	// Has reports whether a principal's secret of a name was set.
	Has(p identity.Principal, name string) bool
	// Value returns its value.
	Value(ctx context.Context, p identity.Principal, name string) (string, error)
	// Sentinel returns a new text of the shape of a value.
	Sentinel(value string) (string, error)
}

// noVault is the [Vault] without secrets.
type noVault struct{}

func (noVault) Has(identity.Principal, string) bool { return false }
func (noVault) Value(context.Context, identity.Principal, string) (string, error) {
	return "", errors.New("there are no secrets here")
}
func (noVault) Sentinel(string) (string, error) { return "", errors.New("there are no secrets here") }

// A SecretGrant gives a run one secret. Package policy checks it.
type SecretGrant struct {
	Name string `json:"name"`
	// Hosts are those that a masked secret is sent to, with their ports.
	Hosts []string `json:"hosts,omitempty"`
	// Methods and Paths, which are patterns, are those of the requests; none is all.
	Methods []string `json:"methods,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	// In are the parts of requests in which the sentinel is exchanged: header, query, path
	// and body; none is header and query.
	In []string `json:"in,omitempty"`
	// Header is a header field, with what comes before the value, that is added to each of
	// the requests, as "Authorization: Bearer"; "" where the skill has a sentinel.
	Header string `json:"header,omitempty"`
	// As is the variable that holds the sentinel, or the plain value; "" is Name.
	As string `json:"as,omitempty"`
	// Plain gives the skill the value itself.
	Plain bool `json:"plain,omitempty"`
}

// Variable returns the variable that holds the secret, or its sentinel; "" is none.
func (g *SecretGrant) Variable() string {
	if g.Header != "" {
		return ""
	}
	return cmp.Or(g.As, g.Name)
}

// String returns the grant in one line, for people.
func (g SecretGrant) String() string {
	if g.Plain {
		return g.Name + ", plain: the skill sees it, in the variable " + g.Variable()
	}
	method, path := cmp.Or(strings.Join(g.Methods, " or "), "any method"), cmp.Or(strings.Join(g.Paths, " or "), "any path")
	where := "in header and query"
	if len(g.In) > 0 {
		where = "in " + strings.Join(g.In, " and ")
	}
	if where += ", for what the skill has in the variable " + g.Variable(); g.Header != "" {
		where = "added as " + g.Header + " …"
	}
	return fmt.Sprintf("%s, masked: to %s, %s, %s, %s", g.Name, strings.Join(g.Hosts, " or "), method, path, where)
}

// secret returns the grant for the proxy.
func (g *SecretGrant) secret(value, sentinel string) sandbox.Secret {
	s := sandbox.Secret{
		Name: g.Name, Value: value, Sentinel: sentinel, Hosts: g.Hosts, Methods: g.Methods, Paths: g.Paths,
		InPath: slices.Contains(g.In, "path"), InBody: slices.Contains(g.In, "body"),
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

// SecretLines returns a line for each grant of a secret.
func (d *Decision) SecretLines() []string {
	var lines []string
	for _, g := range d.Secrets {
		lines = append(lines, g.String())
	}
	return lines
}

// secretVariables returns the variables that hold secrets or their sentinels.
func (d *Decision) secretVariables() (names []string) {
	for _, g := range d.Secrets {
		names = append(names, g.Variable())
	}
	return names
}

// SecretRemedy returns the commands by which the person gives a skill a secret that it asks
// for. The second one asks on a terminal.
func SecretRemedy(skill *skills.Skill, name string) string {
	return fmt.Sprintf("skills-mcp secret set %s and then skills-mcp secret grant %s %s --host HOST", name, shellWord(skill.QualifiedName(), "NAME"), name)
}

// missingSecret returns the error of a run that is granted a secret without a value.
func missingSecret(v Vault, p identity.Principal, d *Decision) error {
	for _, g := range d.Secrets {
		if !v.Has(p, g.Name) {
			return (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s, which it is granted, has no value; set it with: skills-mcp secret set %s", g.Name, g.Name)}).Told("only the person can do so")
		}
	}
	return nil
}

// reveal returns the command of a proposal with its secrets. They are nowhere else: neither
// the proposal nor its record has their values.
func reveal(ctx context.Context, v Vault, p *Proposal) (*sandbox.Command, error) {
	if p.Decision == nil || len(p.Decision.Secrets) == 0 {
		return p.Command, nil
	}
	command, named := *p.Command, map[string]string{}
	command.Env = slices.Clone(command.Env)
	for _, g := range p.Decision.Secrets {
		value, err := v.Value(ctx, p.Principal, g.Name)
		if err != nil {
			return nil, (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s cannot be had: %v", g.Name, err), Retryable: true, Err: err}).Told("tell the person")
		}
		named[value] = "[secret " + g.Name + "]"
		shown := value
		if !g.Plain {
			if shown, err = v.Sentinel(value); err != nil {
				return nil, (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s: %v", g.Name, err), Err: err}).Told("tell the person")
			}
			if command.Grant.Secrets == nil {
				command.Grant.Secrets = &sandbox.Secrets{}
			}
			command.Grant.Secrets.List = append(command.Grant.Secrets.List, g.secret(value, shown))
		}
		if variable := g.Variable(); variable != "" {
			command.Env = append(command.Env, variable+"="+shown)
		}
	}
	command.Redact = redact.New(named)
	return egress.Equip(&command)
}

// redacted returns an error without secrets.
func redacted(r sandbox.Redactor, err error) error {
	if err == nil || r == nil {
		return err
	}
	if text := r.String(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}
