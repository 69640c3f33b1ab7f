package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/policy"
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
	options.Live, options.Book, options.Workspaces = &policy.Live{}, book, workspaces
	return options, nil
}

// CheckProfile returns an error for a profile that does not exist.
func CheckProfile(profiles *manage.Profiles, flag, name string) error {
	var known []string
	for _, p := range profiles.List(context.Background()) {
		known = append(known, p.Name)
	}
	switch {
	case name == "" || slices.Contains(known, name):
		return nil
	case len(known) == 0:
		return exitcode.Usage(fmt.Errorf("%s is %q, and there are no profiles; skills-mcp profile add NAME makes one", flag, name))
	}
	return exitcode.Usage(fmt.Errorf("%s is %q; the profiles are %s", flag, name, strings.Join(known, ", ")))
}
