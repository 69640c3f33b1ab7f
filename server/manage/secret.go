package manage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/secrets"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// SecretOptions connect [Secrets] to the program.
type SecretOptions struct {
	Store *secrets.Store
	// Rules has the configuration's rules, with the book of the person's own.
	Rules *policy.Options
	// Configured returns which key of the configuration sets what a rule gives its skill; ""
	// is none.
	Configured func(r *policy.Rule) string
	// Pins returns the accepted versions of skills.
	Pins func() (*pins.Pins, error)
}

// Secrets are the secrets of this machine, by owner as [secrets.Owner] names them, and the
// grants by which skills use them. Nothing here returns a value. Errors that the caller can
// mend are a [*run.Error].
type Secrets struct{ SecretOptions }

// A Secret describes a secret of one owner.
type Secret struct {
	Name   string        `json:"name"`
	Kind   string        `json:"kind"`                   // "value", "no value", "command: " with the command, or "damaged: " with the remedy
	Set    time.Time     `json:"set,omitempty,omitzero"` // zero is not set
	Grants []SecretGrant `json:"grants"`
}

// GrantedTo reports whether a skill has the secret, by its name.
func (s Secret) GrantedTo(skill *skills.Skill) bool {
	return slices.ContainsFunc(s.Grants, func(g SecretGrant) bool {
		match, err := path.Match(g.Skill, skill.QualifiedName())
		return err == nil && match
	})
}

// A SecretGrant says on which terms a skill has a secret.
type SecretGrant struct {
	Skill      string `json:"skill"` // or the pattern of a rule
	Terms      string `json:"terms"` // in words
	Plain      bool   `json:"plain"` // the skill sees the value
	Configured bool   `json:"configured"`
}

// List returns the secrets of an owner by name, and those that skills are granted without a
// value.
func (s *Secrets) List(ctx context.Context, owner string) ([]Secret, error) {
	entries, err := s.Store.List()
	if err != nil {
		return nil, err
	}
	var all []Secret
	for _, e := range entries {
		if e.Owner != owner {
			continue
		}
		kind := "value"
		if e.Command != "" {
			kind = "command: " + e.Command
		}
		if e.Damaged != "" {
			kind = "damaged: remove " + e.Damaged + ", and set the secret again"
		}
		all = append(all, Secret{e.Name, kind, e.Set, []SecretGrant{}})
	}
	for _, r := range slices.Concat(s.Rules.Rules, s.Rules.Book.Rules(ctx)) {
		for _, g := range r.Secrets {
			at := slices.IndexFunc(all, func(known Secret) bool { return known.Name == g.Name })
			if at < 0 {
				at, all = len(all), append(all, Secret{Name: g.Name, Kind: "no value"})
			}
			_, terms, _ := strings.Cut(g.String(), ", ")
			all[at].Grants = append(all[at].Grants, SecretGrant{r.Pattern, terms, g.Plain, !r.Stored})
		}
	}
	slices.SortFunc(all, func(a, b Secret) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Set keeps a value, in place of an earlier one or of a command.
func (s *Secrets) Set(owner, name, value string) error {
	if err := cmp.Or(secrets.CheckName(name), secrets.Check(value)); err != nil {
		return invalidSecret(err)
	}
	return s.Store.Set(owner, name, value)
}

// Remove removes a value. Its grants stay.
func (s *Secrets) Remove(owner, name string) error {
	err := s.Store.Remove(owner, name)
	if errors.Is(err, secrets.ErrNone) {
		return &run.Error{Code: run.NotFound, Message: fmt.Sprintf("there is no secret %.70q", name)}
	}
	return err
}

// A SecretProposal is the person's rule about a skill with one more secret.
type SecretProposal struct {
	Skill *skills.Skill
	Rule  policy.Rule // with the digest of the skill's files
}

// Propose returns the rule that grants a secret. Nothing is granted before a person has seen
// its lines, and [Secrets.Grant].
func (s *Secrets) Propose(ctx context.Context, skill *skills.Skill, g run.SecretGrant) (*SecretProposal, error) {
	if err := policy.CheckSecret(&g); err != nil {
		return nil, invalidSecret(err)
	}
	p := &SecretProposal{skill, s.Rules.Book.RuleOf(ctx, skill)}
	p.Rule.AddSecret(g)
	by := s.Configured(&policy.Rule{Pattern: p.Rule.Pattern, Secrets: []run.SecretGrant{g}})
	switch {
	case !policy.PublicSecret(g):
		return nil, invalidSecret(errors.New("one of the hosts is not public; such addresses are granted in the configuration: policy.skills"))
	case by != "":
		return nil, invalidSecret(fmt.Errorf("%s already; change it there, as the configuration comes first", by))
	case skill.Untrusted():
		return nil, &run.Error{Code: run.PermissionDenied, Message: fmt.Sprintf("%s is of the workspace %s, which is not trusted, and is given nothing", p.Rule.Pattern, skill.Workspace)}
	}
	var err error
	p.Rule.Digest, err = snapshot.Digest(ctx, skill.Files)
	return p, err
}

// Grant writes a rule that a person has confirmed.
func (s *Secrets) Grant(ctx context.Context, p *SecretProposal) error {
	if err := s.Rules.Book.Put(ctx, p.Rule); err != nil {
		return fmt.Errorf("write the rule: %w", err)
	}
	all, err := s.Pins()
	if err != nil {
		return err
	}
	return all.Granted(ctx, p.Skill)
}

// Revoke takes a secret away from the skills of a name, whatever their origin.
func (s *Secrets) Revoke(ctx context.Context, skill, name string) error {
	found := false
	for _, r := range s.Rules.Book.Rules(ctx) {
		left := slices.DeleteFunc(slices.Clone(r.Secrets), func(g run.SecretGrant) bool { return g.Name == name })
		if r.Pattern != skill || len(left) == len(r.Secrets) {
			continue
		}
		if r.Secrets = left; len(left) == 0 {
			r.Secrets = nil
		}
		if err := s.Rules.Book.Put(ctx, r); err != nil {
			return fmt.Errorf("write the rule: %w", err)
		}
		found = true
	}
	if !found {
		return &run.Error{Code: run.NotFound, Message: fmt.Sprintf("%q has no grant of yours for %.70q; those of the configuration are changed there", skill, name)}
	}
	return nil
}

func invalidSecret(err error) error {
	return &run.Error{Code: run.InvalidParam, Message: err.Error(), Err: err}
}
