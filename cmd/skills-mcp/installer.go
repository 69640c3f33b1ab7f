package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// An installer changes the skills of one target, and pins those that a person has
// accepted.
type installer struct {
	*install.Installer
	target   install.Target
	settings *settings
}

// openInstaller reads the settings, and returns the installer for a command.
func (a *app) openInstaller(project string) (*installer, error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	return newInstaller(s, project, isTerminal(a.stdin) && isTerminal(a.stderr))
}

// newInstaller returns the installer of the person's data folder, or of a project. With
// terminal, a source may ask the person for a password.
func newInstaller(s *settings, project string, terminal bool) (*installer, error) {
	target, err := newTarget(s.roots.data, project)
	if err != nil {
		return nil, err
	}
	// The home folder has the person's own skills, and no skills-lock.json to share.
	target.Project = target.Project && resolved(target.Dir) != resolved(s.home)
	return &installer{install.New(target, &install.Options{
		Fetchers: s.fetchers(terminal), Public: egress.Public, Limits: s.Install.Limits.Quarantine(),
	}), target, s}, nil
}

// newTarget returns the target of a project, or of the person's data folder.
func newTarget(data, project string) (install.Target, error) {
	if project == "" {
		if data == "" {
			return install.Target{}, errors.New("there is no folder to install to; set HOME or XDG_DATA_HOME")
		}
		return install.Target{Dir: data, Skills: filepath.Join(data, "skills"), Plugins: filepath.Join(data, "plugins"), State: filepath.Join(data, "state")}, nil
	}
	dir, err := filepath.Abs(project)
	if err != nil {
		return install.Target{}, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return install.Target{}, usageError(fmt.Errorf("--project: %s is no folder", dir))
	}
	agents := filepath.Join(dir, ".agents")
	return install.Target{
		Dir: dir, Skills: filepath.Join(agents, "skills"), Plugins: filepath.Join(agents, "plugins"), State: filepath.Join(agents, ".skills-mcp"), Project: true,
	}, nil
}

// commit makes the change of a plan, and pins its skills, as accepted if a person has done so.
func (i *installer) commit(ctx context.Context, plan *install.Plan, byPerson bool) error {
	if err := plan.Commit(ctx); err != nil {
		return err
	}
	for _, path := range plan.Kept {
		i.settings.logger.Warn("files that were edited are kept aside", "folder", path)
	}
	if err := i.pin(ctx, plan, byPerson); err != nil {
		i.settings.logger.Warn("the installed skills are not pinned; their first use accepts them", "error", err)
	}
	return nil
}

// pin accepts the skills of the items of a plan, so that a later growth of their files
// blocks them, or else compares them. Files that differ from the plan's are not accepted.
func (i *installer) pin(ctx context.Context, plan *install.Plan, byPerson bool) error {
	scanner, saved := i.settings.roots.scanner()
	defer saved()
	catalog, err := scanner.Scan(ctx)
	if err != nil {
		return err
	}
	pins := i.settings.sandboxes.pins
	if pins == nil { // no server runs
		if pins, err = i.settings.openPins(); err != nil {
			return err
		}
	}
	for _, item := range plan.Items {
		changed, err := i.Verify(ctx, item.Path)
		if err != nil || len(changed) > 0 {
			return errors.Join(err, fmt.Errorf("%s has changed since it was installed", item.Path))
		}
		var installed []*skills.Skill
		for _, skill := range all(catalog) {
			if skill.Of == nil && !skill.Untrusted() && skill.Dir != "" && skillfs.Inside(resolved(i.path(item.Path)), skill.Dir) {
				installed = append(installed, skill)
			}
		}
		if byPerson {
			pins.AcceptAll(ctx, installed)
			continue
		}
		for _, skill := range installed {
			pins.Recheck(ctx, skill)
		}
	}
	return nil
}

// has reports whether everything of a plan is installed as it is, so that there is nothing
// to do.
func (i *installer) has(ctx context.Context, plan *install.Plan) bool {
	for _, item := range plan.Items {
		if item.Replaces == nil || item.Replaces.Digest != item.State.Digest || item.Replaces.Source != item.State.Source {
			return false
		}
		if changed, err := i.Verify(ctx, item.Path); err != nil || len(changed) > 0 {
			return false
		}
	}
	return true
}

// path returns the host path of an entry.
func (i *installer) path(entry string) string {
	return filepath.Join(i.target.Dir, filepath.FromSlash(entry))
}

// asUsageOf marks the errors of an installer that are of usage: a choice that is missing,
// and a name that is not installed.
func asUsageOf(err error) error {
	if _, choice := errors.AsType[*source.ChoiceError](err); choice {
		return usageError(err)
	}
	if _, unknown := errors.AsType[*install.UnknownError](err); unknown {
		return usageError(err)
	}
	return err
}

// completeInstalled completes the names of what is installed.
func (a *app) completeInstalled(project *string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		i, err := a.openInstaller(*project)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		file, err := i.Installed()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for path, entry := range file.Entries {
			names = append(names, entry.Name+"\t"+oneLine(path+", "+entry.Source.String(), 80))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
