package api

import (
	"context"
	"slices"

	"github.com/invopop/jsonschema"

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

// ProfilesOf returns the profiles of the machine of a service. The caller checks that the principal oversees
// others.
func ProfilesOf(s *Service) *manage.Profiles { return s.options.Profiles }

// TryProfile returns what the calls of a model would meet with a profile, for each skill. The
// caller checks that the principal oversees others.
func TryProfile(ctx context.Context, s *Service, name string) ([]manage.Trial, error) {
	view, err := s.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	all := append([]*skills.Skill{}, view.Catalog.Skills...)
	for _, off := range s.options.Rules.Off(ctx) {
		all = append(all, off.Skill)
	}
	return s.options.Profiles.Try(ctx, name, all)
}
