package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/installation"
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

// commit makes the change of a plan, which a person has accepted, and pins its skills.
func (i *installer) commit(ctx context.Context, plan *install.Plan) error {
	if err := plan.Commit(ctx); err != nil {
		return err
	}
	for _, path := range plan.Kept {
		i.settings.logger.Warn("files that were edited are kept aside", "folder", path)
	}
	if err := i.pin(ctx, plan); err != nil {
		i.settings.logger.Warn("the installed skills are not pinned; their first use accepts them", "error", err)
	}
	return nil
}

// pin accepts the skills of the items of a plan, so that a later growth of their files
// blocks them. Files that differ from the plan's are not accepted.
func (i *installer) pin(ctx context.Context, plan *install.Plan) error {
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
		pins.AcceptAll(ctx, installed)
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

// A consent asks a person about changes of the installed skills.
type consent struct {
	*app
	yes bool // the token of a script answers
}

// register adds the flag of scripts.
func (c *consent) register(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "ask nobody, with the token of policy.script_token in "+scriptTokenVariable)
}

// ask asks whether a change is made.
func (c *consent) ask(ctx context.Context, s *settings, change *installation.Change, action string) error {
	lines := change.Lines()
	if !c.yes {
		return c.confirmShown(ctx, lines, action)
	}
	fmt.Fprintln(c.stderr, strings.Join(lines, "\n"))
	if change.Suspicious() {
		return errors.New("the source states that it is suspicious, which no script accepts; look at it yourself, in a terminal and without --yes")
	}
	if grown := change.Grown(); len(grown) > 0 {
		return fmt.Errorf("%s gains something, which only a person accepts; look at it yourself, in a terminal and without --yes", visible(strings.Join(grown, ", ")))
	}
	return provedScript(s)
}

// confirmShown is confirm for lines that are shown also where nobody can be asked.
func (c *consent) confirmShown(ctx context.Context, lines []string, action string) error {
	if !isTerminal(c.stdin) || !isTerminal(c.stderr) {
		fmt.Fprintln(c.stderr, strings.Join(lines, "\n"))
	}
	err := c.confirm(ctx, "skills-mcp: "+action+"?\n"+strings.Join(lines, "\n"), action)
	if err != nil && (!isTerminal(c.stdin) || !isTerminal(c.stderr)) {
		err = fmt.Errorf("%w; run it in a terminal of your own, or as a script with --yes and a token (docs/install.md)", err)
	}
	return err
}

// provedScript returns an error unless the environment has the token of policy.script_token.
func provedScript(s *settings) error {
	switch {
	case s.Policy.ScriptToken == "":
		return errors.New("--yes needs a token that the person set up, as policy.script_token in the configuration; there is none")
	case !approval.IsPassphrase(s.Policy.ScriptToken, os.Getenv(scriptTokenVariable)):
		return fmt.Errorf("%s does not hold the token of policy.script_token", scriptTokenVariable)
	}
	return nil
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

// fetching returns a function that reports the progress of a fetch, and one that erases
// it. Both may be called by any goroutine.
func (a *app) fetching() (progress func(done, total int64), end func()) {
	report, end := newProgress(a.stderr)
	return distinct(report), end
}

// fetched renders the progress of a fetch, in bytes or, if there are few, in what the
// source counts.
func fetched(done, total int64) string {
	const megabyte = 1 << 20
	switch {
	case total >= 2*megabyte:
		return fmt.Sprintf("fetching: %d of %d MB", done/megabyte, total/megabyte)
	case total > 0 || done < megabyte:
		return "fetching"
	}
	for step := int64(megabyte); ; step *= 2 { // few lines where nothing is redrawn
		if 2*step > done {
			return fmt.Sprintf("fetching: more than %d MB", step/megabyte)
		}
	}
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
