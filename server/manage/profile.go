package manage

import (
	"context"
	"errors"
	"fmt"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/skills"
)

// ProfileOptions connect [Profiles] to the program.
type ProfileOptions struct {
	// Rules has the profiles of the configuration, with the book of the others.
	Rules *policy.Options
	// Resolve follows the links in the path of a profile's workspace. Its error says why that
	// cannot be one.
	Resolve func(p *policy.Profile) error
	// Decider returns the policy that decides about calls.
	Decider func() *policy.Policy
}

// Profiles are the profiles of this machine. Errors that the caller can mend are a
// [*run.Error].
type Profiles struct{ ProfileOptions }

// List returns the profiles by name.
func (p *Profiles) List(ctx context.Context) []policy.NamedProfile {
	return p.Rules.NamedProfiles(ctx)
}

// Find returns the profile of a name.
func (p *Profiles) Find(ctx context.Context, name string) (policy.NamedProfile, error) {
	for _, one := range p.List(ctx) {
		if one.Name == name {
			return one, nil
		}
	}
	return policy.NamedProfile{}, &run.Error{Code: run.NotFound, Message: fmt.Sprintf("there is no profile %.70q", name)}
}

// Check returns a profile as it would be written: as a new one with add, or else in place of
// the one of its name.
func (p *Profiles) Check(ctx context.Context, to policy.NamedProfile, add bool) (policy.NamedProfile, error) {
	now, err := p.Find(ctx, to.Name)
	switch {
	case add && err == nil:
		return to, invalidProfile(fmt.Errorf("there is a profile %s already", to.Name))
	case !add && err != nil:
		return to, err
	case now.Configured:
		return to, configured(to.Name)
	}
	if err := policy.CheckProfileName(to.Name); err != nil {
		return to, invalidProfile(err)
	}
	if err := to.Check(to.Name); err != nil {
		return to, invalidProfile(err)
	}
	if err := p.Resolve(&to.Profile); err != nil {
		return to, invalidProfile(err)
	}
	return to, nil
}

// Put writes a profile that [Profiles.Check] accepts, and returns it.
func (p *Profiles) Put(ctx context.Context, to policy.NamedProfile, add bool) (policy.NamedProfile, error) {
	to, err := p.Check(ctx, to, add)
	if err != nil {
		return to, err
	}
	return to, written(p.Rules.Book.PutProfile(ctx, to))
}

// Remove removes a profile. No skill exists then for the clients that have it.
func (p *Profiles) Remove(ctx context.Context, name string) error {
	now, err := p.Find(ctx, name)
	switch {
	case err != nil:
		return err
	case now.Configured:
		return configured(name)
	}
	return written(p.Rules.Book.RemoveProfile(ctx, name))
}

// A Trial says what a call of a skill meets for the clients of a profile.
type Trial struct {
	Skill string `json:"skill"`
	State string `json:"state"` // in words; "off: " with the reason where it does not exist
}

// Try returns what a model's calls of skills would meet with a profile. Nothing is run.
func (p *Profiles) Try(ctx context.Context, name string, all []*skills.Skill) ([]Trial, error) {
	if _, err := p.Find(ctx, name); err != nil {
		return nil, err
	}
	decider, who := p.Decider(), identity.Principal{Kind: identity.Model, Profile: name}
	trials := make([]Trial, len(all))
	for i, skill := range all {
		trials[i] = Trial{skill.QualifiedName(), StateOf(ctx, decider, who, skill, func(*skills.Skill) string { return "" })}
	}
	return trials, nil
}

// StateOf returns whether a principal can use a skill under a policy, in a few words. approved
// returns the calls that approvals cover, in words, or "".
func StateOf(ctx context.Context, p *policy.Policy, who identity.Principal, skill *skills.Skill, approved func(*skills.Skill) string) string {
	if why := p.Missing(ctx, who, skill); why != "" {
		return "off: " + why
	}
	proposal := run.Proposal{Action: run.ActionSkill, Skill: skill, Principal: who, DryRun: true}
	if skill.OfHooks() {
		proposal.Way = run.WayHook
	}
	d, err := p.Decide(ctx, &proposal)
	return describe.StateUnder(skill, d, err, approved)
}

// written returns the error of a profile that could not be written.
func written(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, seal.ErrLocked):
		return &run.Error{Code: run.PermissionDenied, Message: err.Error(), Err: err}
	}
	return fmt.Errorf("write the profile: %w", err)
}

func configured(name string) error {
	return &run.Error{Code: run.PermissionDenied, Message: fmt.Sprintf("the configuration has policy.profiles.%s; change it there", name)}
}

func invalidProfile(err error) error {
	return &run.Error{Code: run.InvalidParam, Message: err.Error(), Err: err}
}
