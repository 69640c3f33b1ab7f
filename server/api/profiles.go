package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A ProfileQuery selects a page of the skills of a profile.
type ProfileQuery struct {
	Cursor string `json:"cursor,omitempty" jsonschema_description:"next of the page before"`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500" jsonschema_description:"skills of one page; 100 by default"`
}

// A ProfilePage is one page of the skills of a profile, those of the highest priority first,
// then by name.
type ProfilePage struct {
	Items []ProfileSkill `json:"items"`
	Total int            `json:"total"` // on all pages
	Next  string         `json:"next,omitempty"`
}

// A ProfileSkill is a skill under a profile of the configuration, which bounds it: the
// person can only take skills out, and order them.
type ProfileSkill struct {
	Name     string       `json:"name"` // qualified
	Class    skills.Class `json:"class"`
	Assigned bool         `json:"assigned"`
	Enabled  bool         `json:"enabled"`
	Priority int          `json:"priority"` // 0 is none
	// Why says why the skill does not exist for the profile; "" is that it does.
	Why string `json:"why,omitempty"`
}

// A ProfileChange changes a skill of a profile. A nil field stays as it is.
type ProfileChange struct {
	Assigned *bool `json:"assigned,omitempty" jsonschema_description:"whether the skill is one of the profile's"`
	Enabled  *bool `json:"enabled,omitempty" jsonschema_description:"whether it exists for clients of the profile"`
	Priority *int  `json:"priority,omitempty" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"skills of a higher one are tools first; 0 is none"`
}

// maxPriority bounds the priorities of skills.
const maxPriority = 1000

// Profiles returns the names of the profiles of the configuration, for a person.
func (s *Service) Profiles(ctx context.Context) ([]string, error) {
	if err := onlyPersons(ctx); err != nil {
		return nil, err
	}
	return s.options.Policy.Profiles(), nil
}

// profile returns an error unless ctx is of a person and a profile has the name.
func (s *Service) profile(ctx context.Context, name string) error {
	known, err := s.Profiles(ctx)
	switch {
	case err != nil || slices.Contains(known, name):
		return err
	case len(known) == 0:
		return &run.Error{Code: run.NotFound, Message: fmt.Sprintf("there is no profile %q: the configuration has no policy.profiles", name)}
	}
	return &run.Error{Code: run.NotFound, Message: fmt.Sprintf("there is no profile %q; the configuration has %s", name, strings.Join(known, ", "))}
}

// ProfileSkills returns a page of the skills of a profile, for a person: also those that are
// not assigned to it, or not there for another reason.
func (s *Service) ProfileSkills(ctx context.Context, profile string, q ProfileQuery) (*ProfilePage, error) {
	if err := s.profile(ctx, profile); err != nil {
		return nil, err
	}
	view, err := s.options.Directory.View(ctx)
	if err != nil {
		return nil, err
	}
	all, _, err := s.find(ctx, view, &SkillQuery{})
	if err != nil {
		return nil, err
	}
	s.prioritize(ctx, profile, all)
	found, next, err := pageOf(listing{of: []any{"profile", profile}, cursor: q.Cursor, most: limit(q.Limit, 100, 500)}, all, found.name)
	page := &ProfilePage{Items: []ProfileSkill{}, Total: len(all), Next: next}
	for _, f := range found {
		page.Items = append(page.Items, s.profileSkill(ctx, profile, f.skill))
	}
	return page, err
}

// prioritize orders skills, which are sorted by name, by their priority for a profile.
func (s *Service) prioritize(ctx context.Context, profile string, all []found) {
	priority := map[string]int{}
	for _, a := range s.options.Policy.Assignments(ctx, profile) {
		priority[a.Name] = a.Priority
	}
	if len(priority) > 0 {
		slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(priority[b.name()], priority[a.name()]) })
	}
}

// profileSkill describes a skill under a profile.
func (s *Service) profileSkill(ctx context.Context, profile string, skill *skills.Skill) ProfileSkill {
	a, bounded := s.options.Policy.Assignment(ctx, profile, skill), s.options.Policy.Bounded(profile, skill)
	p := ProfileSkill{Name: skill.QualifiedName(), Class: skill.Class, Assigned: bounded == "" && !a.Unassigned, Priority: a.Priority}
	p.Enabled = p.Assigned && !a.Disabled
	p.Why = s.options.Policy.Missing(ctx, identity.Principal{Kind: identity.Model, Profile: profile}, skill)
	return p
}

// ProfileSkill describes a skill under a profile, for a person.
func (s *Service) ProfileSkill(ctx context.Context, profile, name string) (*ProfileSkill, error) {
	return s.SetProfileSkill(ctx, profile, name, ProfileChange{})
}

// SetProfileSkill changes a skill under a profile, which only a person may, and describes
// it. Servers whose clients have the profile follow.
func (s *Service) SetProfileSkill(ctx context.Context, profile, name string, c ProfileChange) (*ProfileSkill, error) {
	if err := s.profile(ctx, profile); err != nil {
		return nil, err
	}
	f, _, err := s.one(ctx, name)
	if err != nil {
		return nil, err
	}
	if c != (ProfileChange{}) {
		if err := s.assign(ctx, profile, f.skill, c); err != nil {
			return nil, err
		}
		_, _ = s.options.Directory.Find(ctx, f.name()) // it publishes
	}
	p := s.profileSkill(ctx, profile, f.skill)
	return &p, ctx.Err()
}

// assign writes a change.
func (s *Service) assign(ctx context.Context, profile string, skill *skills.Skill, c ProfileChange) error {
	a := s.options.Policy.Assignment(ctx, profile, skill)
	if c.Assigned != nil {
		a.Unassigned = !*c.Assigned
	}
	if c.Enabled != nil {
		a.Disabled = !*c.Enabled
	}
	if c.Priority != nil {
		if a.Priority = *c.Priority; a.Priority < 0 || a.Priority > maxPriority {
			return &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf(`"priority" is %d; give 0 to %d`, a.Priority, maxPriority)}
		}
	}
	why := s.options.Policy.Bounded(profile, skill)
	if why != "" && (c.Assigned != nil && *c.Assigned || c.Enabled != nil && *c.Enabled) {
		return &run.Error{Code: run.PermissionDenied, Message: fmt.Sprintf("%s cannot be one of the profile %s: %s; change that first", skill.QualifiedName(), profile, why)}
	}
	return s.options.Policy.Assign(ctx, a)
}

// TestProfile returns the decisions about calls of a skill under a profile, for a person.
// Nothing is run, and nobody is asked.
func (s *Service) TestProfile(ctx context.Context, profile, name string) ([]describe.Outlook, error) {
	if err := s.profile(ctx, profile); err != nil {
		return nil, err
	}
	f, _, err := s.one(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.options.Outlook(ctx, f.skill, profile)
}
