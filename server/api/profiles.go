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

// Profiles returns the operations on profiles.
func (s *Service) Profiles() ProfileService { return ProfileService{s} }

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

func profileOperations() []operation {
	const example = `{"name":"ci","configured":false,"allow":["team/*"],"class":"safe","execution_timeout":"1m0s"}`
	return []operation{
		{
			method: "GET", path: "profiles", id: "listProfiles", does: "List the profiles of clients", who: overseers, result: List[Profile]{},
			answer: `{"items":[` + example + `]}`,
			serve:  func(x *exchange) (any, error) { return list(x.service.Profiles().List(x.request.Context())) },
		},
		{
			method: "POST", path: "profiles", id: "addProfile", does: "Make a profile", who: overseers, body: NewProfile{}, result: Profile{},
			ask: `{"name":"ci","allow":["team/*"],"class":"safe","execution_timeout":"1m"}`, answer: example,
			serve: func(x *exchange) (any, error) {
				var to NewProfile
				return take(x, &to, func() (policy.NamedProfile, error) {
					return x.service.Profiles().Put(x.request.Context(), to.Name, to.Profile, true)
				})
			},
		},
		{
			method: "PUT", path: "profiles/{name}", id: "setProfile", does: "Replace a profile. One of the configuration is changed there", who: overseers, body: ProfileFields{}, result: Profile{},
			ask: `{"allow":["team/*"],"class":"safe"}`, answer: example,
			serve: func(x *exchange) (any, error) {
				var to ProfileFields
				return take(x, &to, func() (policy.NamedProfile, error) {
					return x.service.Profiles().Put(x.request.Context(), x.request.PathValue("name"), to.Profile, false)
				})
			},
		},
		{
			method: "DELETE", path: "profiles/{name}", id: "removeProfile", does: "Remove a profile. No skill exists then for clients that have it", who: overseers, status: 204,
			serve: func(x *exchange) (any, error) {
				return nil, x.service.Profiles().Remove(x.request.Context(), x.request.PathValue("name"))
			},
		},
		{
			method: "GET", path: "profiles/{name}/skills", id: "tryProfile", does: "Say which skills exist for clients of a profile, and what their calls meet", who: overseers, result: List[manage.Trial]{},
			answer: `{"items":[{"skill":"hello","state":"ready"},{"skill":"deploy","state":"off: it is dangerous, and the profile ci allows at most safe"}]}`,
			serve: func(x *exchange) (any, error) {
				return list(x.service.Profiles().Try(x.request.Context(), x.request.PathValue("name")))
			},
		},
	}
}
