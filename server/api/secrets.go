package api

import (
	"context"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/secrets"
	"github.com/skillsmcp/skills-mcp/skills"
)

// SecretTerms grant a skill a secret, while its files have the digest that the person was
// shown.
type SecretTerms struct {
	run.SecretGrant
	Digest string `json:"digest"`
}

// A SecretRequest is a skill that asks for a secret which it does not have.
type SecretRequest struct{ Skill, Name string }

// A SecretService has the operations on secrets.
type SecretService struct{ service *Service }

// Secrets returns the operations on secrets.
func (s *Service) Secrets() SecretService { return SecretService{s} }

// secretOwner returns the owner of a principal's secrets. Whoever holds a token that answers
// no questions may be a model, and has none.
func secretOwner(ctx context.Context) (string, error) {
	return secrets.Owner(identity.FromContext(ctx)), onlyAnswering(ctx)
}

// List returns the principal's secrets, without values. Only the person of this machine sees
// which skills have them; others see those without a value that skills of theirs have.
func (s SecretService) List(ctx context.Context) ([]manage.Secret, error) {
	owner, err := secretOwner(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.service.options.Secrets.List(ctx, owner)
	if err != nil || isPerson(ctx) {
		return all, err
	}
	view, err := s.service.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(one manage.Secret) bool {
		return one.Set.IsZero() && !slices.ContainsFunc(view.Catalog.Skills, one.GrantedTo)
	})
	for i := range all {
		all[i].Grants = nil
	}
	return all, nil
}

// Set keeps a value of the principal's. It is for the page: REST has no operation for
// it, as programs of models would use that.
func (s SecretService) Set(ctx context.Context, name, value string) error {
	owner, err := secretOwner(ctx)
	if err != nil {
		return err
	}
	return s.service.options.Secrets.Set(owner, name, value)
}

// Remove removes a value of the principal's.
func (s SecretService) Remove(ctx context.Context, name string) error {
	owner, err := secretOwner(ctx)
	if err != nil {
		return err
	}
	return s.service.options.Secrets.Remove(owner, name)
}

// Requests returns the skills that ask for secrets which they do not have; none to others
// than a person.
func (s SecretService) Requests(ctx context.Context) (all []SecretRequest, err error) {
	if !isPerson(ctx) {
		return nil, nil
	}
	view, err := s.service.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	for _, skill := range view.Catalog.Skills {
		if view.Plan == nil || len(skill.MissingSecrets(func(string) bool { return false })) == 0 { // most, and fast
			continue
		}
		for _, name := range skill.MissingSecrets(view.Plan(ctx, skill).Has) {
			all = append(all, SecretRequest{skill.QualifiedName(), name})
		}
	}
	return all, nil
}

// Propose returns the rule that would grant a skill a secret, for a person to confirm.
func (s SecretService) Propose(ctx context.Context, skill string, g run.SecretGrant) (p *manage.SecretProposal, err error) {
	if err := onlyPersons(ctx); err != nil {
		return nil, err
	}
	f, _, err := s.service.one(ctx, skill)
	if err != nil {
		return nil, err
	}
	return s.service.options.Secrets.Propose(ctx, f.skill, g)
}

// Grant grants a skill a secret, which only a person may.
func (s SecretService) Grant(ctx context.Context, skill string, terms SecretTerms) error {
	return s.service.decide(ctx, skill, func(skill *skills.Skill) error {
		p, err := s.service.options.Secrets.Propose(ctx, skill, terms.SecretGrant)
		if err != nil {
			return err
		}
		if p.Rule.Digest != terms.Digest {
			return &run.Error{Code: run.InvalidParam, Message: "the skill has another digest than you were shown; look at it again"}
		}
		return s.service.options.Secrets.Grant(ctx, p)
	})
}

// Revoke takes a secret away from a skill, which may be gone. Only a person may.
func (s SecretService) Revoke(ctx context.Context, skill, name string) error {
	if err := onlyPersons(ctx); err != nil {
		return err
	}
	err := s.service.options.Secrets.Revoke(ctx, skill, name)
	if err == nil {
		_, _ = s.service.options.Directory.Find(ctx, skill) // it publishes
	}
	return err
}
