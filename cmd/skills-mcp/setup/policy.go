package setup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// newRules returns the rules of a configuration with those of a book.
func newRules(c *config.Config, book *policy.Book, workspaces policy.Workspaces) (policy.Options, error) {
	options := c.Policy.Options()
	for name, profile := range options.Profiles {
		if err := ResolveWorkspace(&profile); err != nil {
			return options, exitcode.Usage(fmt.Errorf("policy.profiles.%s: %w", name, err))
		}
		options.Profiles[name] = profile
	}
	options.Hosts, options.Variables = c.Hosts(), entryNames(c.Sandbox.Env)
	options.Book, options.Workspaces = book, workspaces
	return options, nil
}

// ResolveWorkspace follows the links in the path of a profile's workspace, which must be a
// folder.
func ResolveWorkspace(p *policy.Profile) error {
	if p.Workspace == "" {
		return nil
	}
	real, err := resolveWorkspaces([]string{p.Workspace})
	if err == nil {
		p.Workspace = real[0]
	}
	return err
}

// CheckProfile returns an error for a profile that the configuration does not have.
func CheckProfile(p config.Policy, flag, name string) error {
	if _, known := p.Profiles[name]; known || name == "" {
		return nil
	}
	known := slices.Sorted(maps.Keys(p.Profiles))
	if len(known) == 0 {
		return exitcode.Usage(fmt.Errorf("%s is %q, and the configuration has no policy.profiles", flag, name))
	}
	return exitcode.Usage(fmt.Errorf("%s is %q; the configuration has %s", flag, name, strings.Join(known, ", ")))
}

// stateUnder returns whether a skill can be used under a policy, in a few words.
func stateUnder(ctx context.Context, p *policy.Policy, skill *skills.Skill, approved func(*skills.Skill) string) string {
	client := identity.Principal{Kind: identity.Model}
	if why := p.Missing(ctx, client, skill); why != "" {
		return "off: " + why
	}
	proposal := run.Proposal{Action: run.ActionSkill, Skill: skill, Principal: client, DryRun: true}
	if skill.OfHooks() {
		proposal.Way = run.WayHook
	}
	d, err := p.Decide(ctx, &proposal)
	return describe.StateUnder(skill, d, err, approved)
}
