package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// policyOptions returns the rules of the configuration, of the workspace's own file and of
// the person's commands.
func (s *settings) policyOptions() policy.Options {
	options := s.Policy.Options()
	options.Hosts, options.Variables = s.Hosts(), entryNames(s.Sandbox.Env)
	options.Workspaces = s.trust
	options.Book = policy.NewBook(s.store, newKey(s.store), s.logger)
	if project := s.workspaces.project; project != nil {
		if err := project.Policy.Narrow(&options); err != nil {
			s.workspaces.reject(err)
		}
	}
	return options
}

// newKey returns the key that signs the person's decisions. It is a file beside the store.
func newKey(s *store.Store) *seal.Key {
	return seal.New(filepath.Join(filepath.Dir(s.File()), "approvals.key"))
}

// decider returns the policy that decides about calls.
func (s *sandboxSettings) decider(approver policy.Approver) *policy.Policy {
	options := s.rules
	options.Approver = approver
	if s.pins != nil {
		options.Pins = s.pins
	}
	return policy.New(&options)
}

// checkProfile returns an error for a profile that the configuration does not have.
func (s *settings) checkProfile(flag, name string) error {
	if _, known := s.Policy.Profiles[name]; known || name == "" {
		return nil
	}
	known := slices.Sorted(maps.Keys(s.Policy.Profiles))
	if len(known) == 0 {
		return usageError(fmt.Errorf("%s is %q, and the configuration has no policy.profiles", flag, name))
	}
	return usageError(fmt.Errorf("%s is %q; the configuration has %s", flag, name, strings.Join(known, ", ")))
}

// stateUnder returns whether a skill can be used under a policy, in a few words.
func stateUnder(ctx context.Context, p *policy.Policy, skill *skills.Skill) string {
	client := (&serveFlags{}).principal()
	if why := p.Missing(ctx, client, skill); why != "" {
		return "off: " + why
	}
	d, err := p.Decide(ctx, &run.Proposal{Action: run.ActionSkill, Skill: skill, Principal: client, DryRun: true})
	return describe.StateUnder(skill, d, err)
}

// principal returns a client of the server, for what exists for all of them.
func (v *serveFlags) principal() identity.Principal {
	return identity.Principal{Kind: identity.Model, Profile: v.profile}
}

// filter returns the filter of the skills that exist for the clients of the server.
func (v *serveFlags) filter(s *settings) *policy.Filter {
	return policy.NewFilter(s.sandboxes.decider(nil), v.principal())
}

// offer turns off the tools that do not exist for the clients of the server.
func (v *serveFlags) offer(ctx context.Context, s *settings, options *server.Options) {
	decider := s.sandboxes.decider(nil)
	options.RunCode = options.RunCode && decider.Offers(ctx, v.principal(), run.WayCode)
	options.KeptSandboxes = options.KeptSandboxes && decider.Offers(ctx, v.principal(), run.WaySession)
}

// grantable are the variables that skills may be granted: those of the configuration,
// and those that a rule names, with the value of this program's environment.
type grantable []string

// Values implements [run.Secrets]. The policy decides which names it is asked for.
func (entries grantable) Values(_ context.Context, _ identity.Principal, names []string) ([]string, error) {
	configured := environ(entries)
	var values []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		at := slices.IndexFunc(configured, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if at >= 0 {
			values = append(values, configured[at])
		} else if value, set := os.LookupEnv(name); set && !slices.Contains(entryNames(entries), name) {
			values = append(values, name+"="+value)
		}
	}
	return values, nil
}
