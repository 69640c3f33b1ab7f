package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// NamedProfiles returns the profiles of the configuration and of the book, by name. Of two of a
// name it returns the former.
func (o *Options) NamedProfiles(ctx context.Context) []NamedProfile {
	all, configured := []NamedProfile{}, o.Profiles
	if o.Live != nil && o.Live.now.Load() != nil {
		configured = o.Live.now.Load().Profiles
	}
	for name, p := range configured {
		if name != "" {
			all = append(all, NamedProfile{name, true, p})
		}
	}
	for name, p := range o.Book.read(ctx).profiles {
		if _, taken := configured[name]; !taken {
			all = append(all, NamedProfile{name, false, p})
		}
	}
	slices.SortFunc(all, func(a, b NamedProfile) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// A bound is a profile that bounds a principal.
type bound struct {
	Profile
	key string // begins messages for people: "policy.profiles.ci"
}

// bounds returns the profiles that bound a principal: that of all, its own, the one of
// read-only principals, and those of its agents. why says that one does not exist.
func (o *Options) bounds(page *page, who identity.Principal) (all []bound, why string) {
	all = []bound{{o.Profiles[""], "policy"}}
	if who.Profile != "" {
		own, known := o.profile(page, who.Profile)
		if !known {
			return nil, fmt.Sprintf("there is no profile %q", who.Profile)
		}
		all = append(all, own)
	}
	if who.ReadOnly {
		all = append(all, bound{Profile{Mode: ReadOnly}, "the read-only access of the client"})
	}
	for _, name := range who.Agents {
		if o.Agents == nil {
			return nil, fmt.Sprintf("there is no agent %q", name)
		}
		agent, known := o.Agents(name)
		if !known {
			return nil, fmt.Sprintf("there is no agent %q", name)
		}
		all = append(all, bound{agent, "the agent " + name})
	}
	return all, ""
}

// profile returns a profile by its name. That of the configuration comes first.
func (o *Options) profile(page *page, name string) (own bound, known bool) {
	own.key = "policy.profiles." + name
	if own.Profile, known = o.Profiles[name]; !known {
		own.key = "the profile " + name
		own.Profile, known = page.profiles[name]
	}
	return own, known
}

// own returns the profile of a principal; the zero one without one.
func (o *Options) own(ctx context.Context, who identity.Principal) Profile {
	own, _ := o.profile(o.Book.read(ctx), who.Profile)
	return own.Profile
}

// excludes returns why a skill does not exist for a profile, whatever its class is, or "".
func (p *bound) excludes(skill *skills.Skill) string {
	key := p.key
	denied, pattern := narrowest(p.Deny, skill)
	allowed, _ := narrowest(p.Allow, skill)
	switch {
	case denied >= 0 && denied >= allowed:
		return fmt.Sprintf("%s.deny has %q", key, pattern)
	case allowed < 0 && p.Allow != nil:
		return fmt.Sprintf("%s.allow does not have it", key)
	case p.Capabilities == nil:
		return ""
	}
	for _, capability := range skill.Requires.Capabilities {
		if !slices.Contains(p.Capabilities, capability) {
			return fmt.Sprintf("it requires the capability %q, which %s.capabilities does not have", capability, key)
		}
	}
	return ""
}
