package policy

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Offers reports whether a tool without a skill, run_code or open_sandbox, exists for a
// principal.
func (p *Policy) Offers(ctx context.Context, who identity.Principal, tool run.Way) bool {
	return p.absent(ctx, subject{skill: &skills.Skill{Name: string(tool)}, who: who, tool: true}) == ""
}

// Knows reports whether the profile of a principal exists, and those of its agents do.
func (p *Policy) Knows(ctx context.Context, who identity.Principal) bool {
	_, why := p.current().bounds(p.current().Book.read(ctx), who)
	return why == ""
}

// A Filter removes the skills from catalogs that do not exist for a principal, and marks
// those that the person has pinned. Its other methods change such
// decisions; they may be used concurrently.
type Filter struct {
	policy *Policy
	who    identity.Principal
	last   atomic.Pointer[filtered]
}

// filtered is the result of one Apply. It is immutable.
type filtered struct {
	before, after *skills.Catalog
	gone          []Off // by qualified name
	pinned        []mark
	traces        traces
}

// A mark says that a skill is shown before others.
type mark struct {
	name     string
	person   bool // the person has pinned it
	priority int  // among the pins of a profile, from 1; 0 is none
}

// NewFilter returns the filter of a policy for a principal.
func NewFilter(p *Policy, who identity.Principal) *Filter {
	f := &Filter{policy: p, who: who}
	f.last.Store(&filtered{before: &skills.Catalog{}})
	return f
}

// Apply returns the catalog without the skills that do not exist: the catalog itself, if
// all do, and the result of the last call, if nothing has changed since. Calls must not
// overlap.
func (f *Filter) Apply(ctx context.Context, catalog *skills.Catalog) *skills.Catalog {
	page, last := f.policy.current().Book.read(ctx), f.last.Load()
	gone := f.missing(page, catalog)
	pinned := f.marks(page, catalog)
	lost := make([]*skills.Skill, len(gone))
	for i, off := range gone {
		lost[i] = off.Skill
	}
	left := tracesFor(f.policy, page, f.who, catalog, lost)
	if catalog != last.before || !slices.Equal(gone, last.gone) || !slices.Equal(pinned, last.pinned) || !left.equal(last.traces) {
		after := marked(left.in(without(catalog, gone), lost), pinned)
		if f.policy.current().PersonOnly {
			after = opened(after)
		}
		last = &filtered{catalog, after, gone, pinned, left}
		f.last.Store(last)
	}
	return last.after
}

// An Off is a skill that does not exist for the principal of a [Filter], with the reason.
type Off struct {
	Skill *skills.Skill
	Why   string
}

// Off returns the skills that the last Apply has removed, by qualified name. The list must
// not be changed.
func (f *Filter) Off(context.Context) []Off { return f.last.Load().gone }

// Generation returns a number that differs after each decision of the person. It is fast.
func (f *Filter) Generation(ctx context.Context) (int64, error) {
	return f.policy.current().Book.store.Generation(ctx)
}

// Enable enables or disables a skill by the rule of the person. The error is a
// [*run.Error] where something else disables it.
func (f *Filter) Enable(ctx context.Context, skill *skills.Skill, enabled bool) error {
	_, err := f.policy.Enable(ctx, f.who, skill, enabled)
	return err
}

// Pin keeps the tool of a skill, or no longer.
func (f *Filter) Pin(ctx context.Context, skill *skills.Skill, pinned bool) error {
	return f.policy.Pin(ctx, skill, pinned)
}

// missing returns the skills that do not exist, by qualified name.
func (f *Filter) missing(page *page, catalog *skills.Catalog) (gone []Off) {
	p := f.policy
	if p.open(page, f.who) {
		return nil
	}
	for _, skill := range catalog.Skills {
		s := subject{skill: skill, who: f.who}
		if why := p.missing(page, p.matches(page, s), s); why != "" {
			gone = append(gone, Off{skill, why})
		}
	}
	return gone
}

// open reports whether no rule could make a skill missing for a principal.
func (p *Policy) open(page *page, who identity.Principal) bool {
	disables := func(r Rule) bool { return r.Enabled != nil }
	if slices.ContainsFunc(p.current().Rules, disables) || slices.ContainsFunc(page.rules, disables) {
		return false
	}
	all, unknown := p.current().bounds(page, who)
	return unknown == "" && !slices.ContainsFunc(all, func(b bound) bool {
		return b.Allow != nil || b.Deny != nil || b.Capabilities != nil || b.highest() != ""
	})
}

// without returns a catalog without skills that are gone. Skills that lose some of their
// tools are copies.
func without(catalog *skills.Catalog, gone []Off) *skills.Catalog {
	if len(gone) == 0 {
		return catalog
	}
	names := make(map[string]bool, len(gone))
	for _, off := range gone {
		names[off.Skill.QualifiedName()] = true
	}
	removed := func(s *skills.Skill) bool { return names[s.QualifiedName()] }
	copies := map[*skills.Skill]*skills.Skill{}
	for _, skill := range catalog.Skills {
		if owner := skill.Owner(); copies[owner] == nil && slices.ContainsFunc(owner.Tools, removed) {
			owner.CloneTo(copies)
			copies[owner].Tools = slices.DeleteFunc(copies[owner].Tools, removed)
		}
	}
	next := *catalog.Replace(copies)
	next.Skills = slices.DeleteFunc(slices.Clone(next.Skills), removed)
	next.Shadowed = slices.DeleteFunc(slices.Clone(next.Shadowed), func(s skills.Shadow) bool { return removed(s.Skill) })
	return &next
}

// marks returns the marks of the skills of a catalog by the pins of the person and those of
// the profile.
func (f *Filter) marks(page *page, catalog *skills.Catalog) []mark {
	all := page.pinnedIn(catalog)
	own, _ := f.policy.current().profile(page, f.who.Profile)
	if own.Pin == nil {
		return all
	}
	for _, skill := range catalog.Skills {
		if at := slices.IndexFunc(own.Pin, func(pattern string) bool { return width(pattern, skill) >= 0 }); at >= 0 {
			all = append(all, mark{name: skill.QualifiedName(), priority: at + 1})
		}
	}
	return all
}

// pinnedIn returns the marks of the skills of a catalog that the person has pinned, by name.
func (p *page) pinnedIn(catalog *skills.Catalog) (all []mark) {
	for _, tool := range p.pinned {
		if at, there := catalog.Place(tool.Name); there && catalog.Skills[at].Origin().String() == tool.Origin {
			all = append(all, mark{name: tool.Name, person: true})
		}
	}
	slices.SortFunc(all, func(a, b mark) int { return strings.Compare(a.name, b.name) })
	return all
}

// marked returns the catalog with copies of those of its skills that have marks.
func marked(catalog *skills.Catalog, marks []mark) *skills.Catalog {
	copies := map[*skills.Skill]*skills.Skill{}
	for _, m := range marks {
		at, there := catalog.Place(m.name)
		if !there {
			continue
		}
		skill := catalog.Skills[at]
		if owner := skill.Owner(); copies[owner] == nil {
			owner.CloneTo(copies)
		}
		copies[skill].PinnedByPerson = m.person || copies[skill].PinnedByPerson
		copies[skill].Priority = max(m.priority, copies[skill].Priority)
	}
	return catalog.Replace(copies)
}

// opened returns the catalog with copies of the skills that only a person may call, which
// models may call too. Those of untrusted workspaces stay.
func opened(catalog *skills.Catalog) *skills.Catalog {
	copies := map[*skills.Skill]*skills.Skill{}
	for _, skill := range catalog.Skills {
		if skill.ModelInvocable || skill.Unavailable != "" || skill.Untrusted() {
			continue
		}
		if owner := skill.Owner(); copies[owner] == nil {
			owner.CloneTo(copies)
		}
		copies[skill].ModelInvocable = true
	}
	return catalog.Replace(copies)
}

// Apply returns the catalog with the skills marked that the person has pinned.
func (b *Book) Apply(ctx context.Context, catalog *skills.Catalog) *skills.Catalog {
	return marked(catalog, b.read(ctx).pinnedIn(catalog))
}
