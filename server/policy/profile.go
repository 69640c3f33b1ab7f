package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Profile bounds the calls of some principals: which skills exist for them, and what
// these may do at most. The stricter of it and of the policy counts; its variables alone
// give something. The zero Profile bounds nothing.
type Profile struct {
	// Mode is the mode of the calls, where it is the stricter one; "" is that of the policy.
	// In [ReadOnly] only safe skills exist.
	Mode Mode
	// Allow and Deny are patterns of the skills that exist. Where both match one, the
	// narrower pattern counts, and Deny if they are equal. nil Allow is every skill.
	Allow, Deny []string
	// Capabilities lists the capabilities that skills may require; nil is any.
	Capabilities []string
	// Class is the highest class of the skills that exist; "" is any.
	Class skills.Class
	// MaxConcurrent bounds the calls that run at once; 0 does not.
	MaxConcurrent int
	// Timeout bounds each call; 0 does not.
	Timeout time.Duration
	// Pin are patterns of the skills that are shown first, in this order.
	Pin []string
	// Workspace is an absolute folder in place of the workspaces of the server; "" is none.
	Workspace string
	// Env has values of variables, by name, for the skills that name them.
	Env map[string]string
	// Secrets are the names of the secrets that calls may have, of those that rules grant;
	// nil is any.
	Secrets []string
}

// A bound is a profile that bounds a principal.
type bound struct {
	Profile
	key string // begins messages for people: "policy.profiles.ci"
}

// highest returns the highest class of the skills that exist; "" is any.
func (p *Profile) highest() skills.Class {
	if p.Mode == ReadOnly {
		return skills.Safe
	}
	return p.Class
}

// bounds returns the profiles that bound a principal: that of all, its own, and the one of
// read-only principals. why says that its own does not exist.
func (p *settler) bounds(page *page, who identity.Principal) (all []bound, why string) {
	all = []bound{{p.current().Profiles[""], "policy"}}
	if who.Profile != "" {
		own, known := p.profile(page, who.Profile)
		if !known {
			return nil, fmt.Sprintf("there is no profile %q", who.Profile)
		}
		all = append(all, own)
	}
	if who.ReadOnly {
		all = append(all, bound{Profile{Mode: ReadOnly}, "the read-only access of the client"})
	}
	return all, ""
}

// profile returns a profile by its name. That of the configuration comes first.
func (p *settler) profile(_ *page, name string) (own bound, known bool) {
	own.key = "policy.profiles." + name
	own.Profile, known = p.current().Profiles[name]
	return own, known
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
