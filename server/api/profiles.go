package api

import (
	"context"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
)

// ProfileFields are the fields of a profile. All of them may be left out: a list of nothing
// says something else than none.
type ProfileFields struct{ policy.Profile }

// JSONSchemaExtend requires no field of a profile, for the document.
func (ProfileFields) JSONSchemaExtend(s *jsonschema.Schema) {
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name != "name" && name != "configured" })
}

// A NewProfile is a profile that is made.
type NewProfile struct {
	Name string `json:"name"`
	ProfileFields
}

// A Profile describes a [policy.NamedProfile] to the document.
type Profile struct {
	NewProfile
	Configured bool `json:"configured"`
}

// A ProfileService has the operations on profiles, which are for those who oversee others.
type ProfileService struct{ service *Service }

// ProfilesOf returns the operations of a service on profiles.
func ProfilesOf(s *Service) ProfileService { return ProfileService{s} }

// onlyOverseers returns an error unless ctx is of a principal that oversees others.
func onlyOverseers(ctx context.Context) error {
	if identity.FromContext(ctx).Oversees() {
		return nil
	}
	return denied("only the person who runs this server, or a principal with the scope skills:admin, may do this")
}

// List returns the profiles by name.
func (s ProfileService) List(ctx context.Context) ([]policy.NamedProfile, error) {
	if err := onlyOverseers(ctx); err != nil {
		return nil, err
	}
	return s.service.options.Profiles.List(ctx), nil
}

// Find returns the profile of a name.
func (s ProfileService) Find(ctx context.Context, name string) (policy.NamedProfile, error) {
	if err := onlyOverseers(ctx); err != nil {
		return policy.NamedProfile{}, err
	}
	return s.service.options.Profiles.Find(ctx, name)
}

// Put writes a profile: a new one with add, or else in place of the one of its name.
func (s ProfileService) Put(ctx context.Context, name string, to policy.Profile, add bool) (policy.NamedProfile, error) {
	if err := onlyOverseers(ctx); err != nil {
		return policy.NamedProfile{}, err
	}
	return s.service.options.Profiles.Put(ctx, policy.NamedProfile{Name: name, Profile: to}, add)
}

// Remove removes a profile.
func (s ProfileService) Remove(ctx context.Context, name string) error {
	if err := onlyOverseers(ctx); err != nil {
		return err
	}
	return s.service.options.Profiles.Remove(ctx, name)
}

// Try returns what the calls of a model would meet with a profile, for each skill.
func (s ProfileService) Try(ctx context.Context, name string) ([]manage.Trial, error) {
	if err := onlyOverseers(ctx); err != nil {
		return nil, err
	}
	view, err := s.service.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	all := append([]*skills.Skill{}, view.Catalog.Skills...)
	for _, off := range s.service.options.Rules.Off(ctx) {
		all = append(all, off.Skill)
	}
	return s.service.options.Profiles.Try(ctx, name, all)
}
