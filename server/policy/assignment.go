package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An Assignment is the decision of the person about the tool of a skill, or about the skill
// for the principals of a profile. It grants nothing: the zero Assignment leaves all to the
// configuration, and the others allow less.
type Assignment struct {
	Profile string `json:"profile,omitempty"` // "" is everybody
	Name    string `json:"name"`              // qualified, of the skill
	Origin  string `json:"origin"`            // of the skill

	// Pinned keeps the skill's tool, however many skills there are. It is for everybody.
	Pinned bool `json:"pinned,omitempty"`
	// Unassigned takes the skill out of the profile, and Disabled has it stay there, but
	// exist for nobody.
	Unassigned bool `json:"unassigned,omitempty"`
	Disabled   bool `json:"disabled,omitempty"`
	// Priority puts the skill before those of a lower one; 0 is none.
	Priority int `json:"priority,omitempty"`
}

func (a *Assignment) key() string { return rowKey(assignRow, a.Profile, a.Name, a.Origin) }

// narrows reports whether principals of a profile lack the skill.
func (a *Assignment) narrows(profile string) bool {
	return a.Profile == profile && profile != "" && (a.Unassigned || a.Disabled)
}

// assignmentOf returns the assignment without a decision.
func assignmentOf(profile string, skill *skills.Skill) Assignment {
	return Assignment{Profile: profile, Name: skill.QualifiedName(), Origin: skill.Origin().String()}
}

// assignment returns the decision about a skill for a profile.
func (p *page) assignment(profile string, skill *skills.Skill) Assignment {
	a := assignmentOf(profile, skill)
	if len(p.assignments) > 0 {
		if made, ok := p.assignments[a.key()]; ok {
			return made
		}
	}
	return a
}

// excludes returns why the person's decisions leave a skill out of a profile, or "". A
// decision about a skill is also one about its tools.
func (p *page) excludes(profile string, skill *skills.Skill) string {
	if profile == "" {
		return ""
	}
	for _, s := range slices.Compact([]*skills.Skill{skill, skill.Owner()}) {
		switch a := p.assignment(profile, s); {
		case a.Unassigned:
			return fmt.Sprintf("the person has taken it out of the profile %s", profile)
		case a.Disabled:
			return fmt.Sprintf("the person has disabled it for the profile %s", profile)
		}
	}
	return ""
}

// Assignment returns the person's decision about a skill for a profile; "" is everybody.
func (p *Policy) Assignment(ctx context.Context, profile string, skill *skills.Skill) Assignment {
	return p.options.Book.read(ctx).assignment(profile, skill)
}

// Assignments returns the person's decisions for a profile, in no order.
func (p *Policy) Assignments(ctx context.Context, profile string) (all []Assignment) {
	for _, a := range p.options.Book.read(ctx).assignments {
		if a.Profile == profile {
			all = append(all, a)
		}
	}
	return all
}

// Assign writes an assignment in place of the one of its profile and skill. One without a
// decision is removed.
func (p *Policy) Assign(ctx context.Context, a Assignment) error {
	b, key := p.options.Book, a.key()
	return b.store.ChangeRule(ctx, key, func(*store.Rule) (*store.Rule, error) {
		if a == (Assignment{Profile: a.Profile, Name: a.Name, Origin: a.Origin}) {
			return nil, nil
		}
		return b.row(key, &a)
	})
}

// Profiles returns the names of the profiles of the configuration, sorted.
func (p *Policy) Profiles() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.options.Profiles)), func(name string) bool { return name == "" })
}

// Bounded returns why a skill does not exist for a profile, whatever the person assigns to
// it, or "".
func (p *Policy) Bounded(ctx context.Context, profile string, skill *skills.Skill) string {
	return p.bounded(p.matches(p.options.Book.read(ctx), subject{skill: skill}), profile, skill)
}

// Enable removes the rule of the person that disables a skill, or writes it. changed is
// false if there was none, or was one already. The error is a [*run.Error] where a
// principal lacks the skill still.
func (p *Policy) Enable(ctx context.Context, who identity.Principal, skill *skills.Skill, enabled bool) (changed bool, err error) {
	r := Rule{Pattern: skill.QualifiedName(), Origin: skill.Origin().String()}
	if now := p.options.Book.Of(ctx, skill); now != nil {
		r = *now
	}
	if changed = (r.Enabled == nil) != enabled; changed {
		r.Enabled = nil
		if !enabled {
			r.Enabled = new(bool)
		}
		if err := p.options.Book.Put(ctx, r); err != nil {
			return false, fmt.Errorf("write the rule: %w", err)
		}
	}
	why := p.Missing(ctx, who, skill)
	switch {
	case !enabled || why == "":
		return changed, nil
	case changed:
		return true, denied("your rule is removed, but %s is still not available: %s", r.Pattern, why)
	}
	return false, denied("%s cannot be enabled here: %s", r.Pattern, why)
}

// A mark is what the person's decisions make of a skill that exists.
type mark struct {
	name     string // qualified
	pinned   bool
	priority int
}

// marks returns those of the skills of a catalog for a profile, by name.
func (p *page) marks(profile string, catalog *skills.Catalog) []mark {
	found := map[string]mark{}
	for _, a := range p.assignments {
		at, there := catalog.Place(a.Name)
		if !there || a.Profile != "" && a.Profile != profile || catalog.Skills[at].Origin().String() != a.Origin {
			continue
		}
		m := found[a.Name]
		m.name, m.pinned, m.priority = a.Name, m.pinned || a.Pinned, max(m.priority, a.Priority)
		if m.pinned || m.priority > 0 {
			found[a.Name] = m
		}
	}
	var all []mark
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[name])
	}
	return all
}

// marked returns the catalog with copies of those of its skills that have a mark.
func marked(catalog *skills.Catalog, marks []mark) *skills.Catalog {
	copies := map[*skills.Skill]*skills.Skill{}
	for _, m := range marks {
		at, there := catalog.Place(m.name)
		if !there {
			continue
		}
		skill := catalog.Skills[at]
		if owner := skill.Owner(); copies[owner] == nil {
			copies[owner] = owner.Clone()
			for i, tool := range owner.Tools {
				copies[tool] = copies[owner].Tools[i]
			}
		}
		copies[skill].PinnedByPerson, copies[skill].Priority = m.pinned, m.priority
	}
	return catalog.Replace(copies)
}

// Apply returns the catalog with the skills marked that the person has pinned.
func (b *Book) Apply(ctx context.Context, catalog *skills.Catalog) *skills.Catalog {
	return marked(catalog, b.read(ctx).marks("", catalog))
}
