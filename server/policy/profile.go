package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A Profile bounds the calls of some principals: which skills exist for them, and what
// these may do at most. The zero Profile bounds nothing.
type Profile struct {
	// Allow and Deny are patterns of the skills that exist. Where both match one, the
	// narrower pattern counts, and Deny if they are equal. nil Allow is every skill.
	Allow, Deny []string
	// Capabilities lists the capabilities that skills may require; nil is any.
	Capabilities []string
	// Class is the highest class that a call may have; "" is any.
	Class skills.Class
	// MaxConcurrent bounds the calls that run at once; 0 does not.
	MaxConcurrent int
	// Timeout bounds each call; 0 does not.
	Timeout time.Duration
}

// excludes returns why a skill does not exist for a profile, or "". key is that of the
// profile in the configuration.
func (p *Profile) excludes(skill *skills.Skill, key string) string {
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

// profileKey returns the key of a profile in the configuration, for people.
func profileKey(name string) string {
	if name == "" {
		return "policy"
	}
	return "policy.profiles." + name
}
