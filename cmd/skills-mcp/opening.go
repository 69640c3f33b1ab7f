package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/lookup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/spf13/cobra"
)

// settings reads the settings.
func (a *app) settings() (*setup.Settings, error) {
	logger, err := a.logger()
	if err != nil {
		return nil, err
	}
	s, err := setup.New(&a.flags, logger, a.state, a.recorder)
	if err == nil {
		a.state, a.recorder, a.passphrase = s.Store, s.Recorder, s.Policy.Passphrase
	}
	return s, err
}

// with returns the action of a command that opens something first, such as the settings.
func with[T any](open func() (T, error), do func(ctx context.Context, opened T, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		opened, err := open()
		if err != nil {
			return err
		}
		return do(cmd.Context(), opened, args)
	}
}

// catalog reads the settings and scans the roots.
func (a *app) catalog(ctx context.Context) (*setup.Settings, *skills.Catalog, error) {
	s, err := a.settings()
	if err != nil {
		return nil, nil, err
	}
	catalog, err := s.Scan(ctx)
	return s, catalog, err
}

// skill returns the skill that a person calls name, with the settings and the catalog that it
// counts in.
func (a *app) skill(ctx context.Context, name string) (*setup.Settings, *skills.Skill, *skills.Catalog, error) {
	s, catalog, err := a.catalog(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	skill, own, err := lookup.Skill(catalog, name, s.Gate)
	return s, skill, own, err
}

// learnTime bounds the time in which a command that only lists skills looks for
// programs in sandboxes.
const learnTime = 10 * time.Second

// learned returns the catalog, checked against the programs in the sandboxes of its
// skills or of the named one. Programs that remain unknown count as installed.
func (a *app) learned(ctx context.Context, names ...string) (_ *setup.Settings, _ *skills.Catalog, err error) {
	s, catalog, err := a.catalog(ctx)
	if err != nil {
		return nil, nil, err
	}
	wanted := catalog.Skills
	if len(names) > 0 {
		wanted = nil
		if skill, _, err := lookup.Skill(catalog, names[0], s.Gate); err == nil {
			wanted = []*skills.Skill{skill}
		}
	}
	roles := requirements.Wants(wanted...)
	if len(roles) == 0 {
		return s, catalog, nil
	}
	s.Sandboxes.Single = true
	runner := s.Sandboxes.Runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	limited, cancel := context.WithTimeout(ctx, learnTime)
	defer cancel()
	if !s.Learn(limited, runner, roles) {
		return s, catalog, nil
	}
	catalog, err = s.Scan(ctx)
	return s, catalog, err
}

// completeNames completes the names of skills.
func (a *app) completeNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_, catalog, err := a.catalog(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, skill := range catalog.Skills {
		names = append(names, skill.QualifiedName()+"\t"+plain.OneLine(skill.Description, 80))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// workspaceOf returns the settings for one workspace, and its path: the named folder, or
// else the only workspace there is.
func (a *app) workspaceOf(args []string) (*setup.Settings, string, error) {
	if len(args) > 0 {
		a.flags.Workspaces = args
	}
	s, err := a.settings()
	if err != nil {
		return nil, "", err
	}
	switch len(s.Workspaces.Folders) {
	case 0:
		return nil, "", exitcode.Usage(errors.New("there is no workspace here; name its folder"))
	case 1:
		return s, s.Workspaces.Folders[0], nil
	}
	return nil, "", exitcode.Usage(fmt.Errorf("there are %d workspaces; name the folder of one", len(s.Workspaces.Folders)))
}

// completeProfiles completes the names of profiles.
func completeProfiles(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		s, err := a.settings()
		if err != nil || len(args) > 0 && !strings.HasPrefix(cmd.Use, "add ") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, p := range s.Profiles.List(cmd.Context()) {
			names = append(names, p.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
