package policy

import (
	"context"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Missing returns why a skill does not exist for a principal, or "".
func (p *Policy) Missing(ctx context.Context, who identity.Principal, skill *skills.Skill) string {
	return p.missing(p.matches(p.options.Book.read(ctx), subject{skill: skill}), who.Profile, skill)
}

// Offers reports whether a tool without a skill, run_code or open_sandbox, exists for a
// principal.
func (p *Policy) Offers(ctx context.Context, who identity.Principal, tool run.Way) bool {
	return p.Missing(ctx, who, &skills.Skill{Name: string(tool)}) == ""
}

// A Filter removes the skills from catalogs that do not exist for a principal.
type Filter struct {
	policy *Policy
	who    identity.Principal

	before, after *skills.Catalog // of the last Apply
	gone          []string        // names of the skills that it removed
}

// NewFilter returns the filter of a policy for a principal.
func NewFilter(p *Policy, who identity.Principal) *Filter { return &Filter{policy: p, who: who} }

// Apply returns the catalog without the skills that do not exist: the catalog itself, if
// all do, and the result of the last call, if nothing has changed since. Calls must not
// overlap.
func (f *Filter) Apply(ctx context.Context, catalog *skills.Catalog) *skills.Catalog {
	gone := f.missing(ctx, catalog)
	if catalog != f.before || !slices.Equal(gone, f.gone) {
		f.before, f.after, f.gone = catalog, without(catalog, gone), gone
	}
	return f.after
}

// missing returns the qualified names of the skills that do not exist, sorted.
func (f *Filter) missing(ctx context.Context, catalog *skills.Catalog) []string {
	page := f.policy.options.Book.read(ctx)
	if f.policy.open(page, f.who.Profile) {
		return nil
	}
	missing := func(skill *skills.Skill) bool {
		return f.policy.missing(f.policy.matches(page, subject{skill: skill}), f.who.Profile, skill) != ""
	}
	var gone []string
	for _, skill := range catalog.Skills {
		if missing(skill) || skill.Of != nil && missing(skill.Of) {
			gone = append(gone, skill.QualifiedName())
		}
	}
	return gone
}

// open reports whether no rule could make a skill missing for a profile.
func (p *Policy) open(page *page, profile string) bool {
	disables := func(r Rule) bool { return r.Enabled != nil }
	if slices.ContainsFunc(p.options.Rules, disables) || slices.ContainsFunc(page.rules, disables) {
		return false
	}
	for _, name := range []string{"", profile} {
		bounds, known := p.options.Profiles[name]
		if !known && name != "" || bounds.Allow != nil || bounds.Deny != nil || bounds.Capabilities != nil {
			return false
		}
	}
	return true
}

// without returns a catalog without the skills with names, which are sorted. Skills that
// lose some of their tools are copies.
func without(catalog *skills.Catalog, names []string) *skills.Catalog {
	if len(names) == 0 {
		return catalog
	}
	next := *catalog
	next.Skills = nil
	next.Shadowed = slices.DeleteFunc(slices.Clone(catalog.Shadowed), func(s skills.Shadow) bool {
		_, found := slices.BinarySearch(names, s.Skill.QualifiedName())
		return found
	})
	copies := map[*skills.Skill]*skills.Skill{}
	removed := func(s *skills.Skill) bool {
		_, found := slices.BinarySearch(names, s.QualifiedName())
		return found
	}
	for _, skill := range catalog.Skills {
		if removed(skill) {
			continue
		}
		if owner := skill.Owner(); slices.ContainsFunc(owner.Tools, removed) {
			if copies[owner] == nil {
				withoutTools(owner, removed, copies)
			}
			skill = copies[skill]
		}
		next.Skills = append(next.Skills, skill)
	}
	return &next
}

// withoutTools adds copies of a skill and its tools, but for the removed ones, to copies.
func withoutTools(owner *skills.Skill, removed func(*skills.Skill) bool, copies map[*skills.Skill]*skills.Skill) {
	next := *owner
	next.Tools = nil
	for _, tool := range owner.Tools {
		if removed(tool) {
			continue
		}
		copied := *tool
		copied.Of = &next
		next.Tools = append(next.Tools, &copied)
		copies[tool] = &copied
	}
	copies[owner] = &next
}
