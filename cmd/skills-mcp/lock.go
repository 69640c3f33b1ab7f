package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/skills/install/adopt"
	"github.com/skillsmcp/skills-mcp/skills/install/lock"
	"github.com/spf13/cobra"
)

// newLockCommand returns the parent of the commands about the lock files of other tools.
func newLockCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lock",
		Short:   "Take over what other tools have installed",
		Example: "  skills-mcp lock adopt --dry-run",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAdoptCommand(a))
	return cmd
}

// adoptCommand takes over what other tools have installed.
type adoptCommand struct{ targetCommand }

func newAdoptCommand(a *app) *cobra.Command {
	c := &adoptCommand{targetCommand{consent: consent{app: a}}}
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Take over the skills that npx skills, gh and ClawHub have installed",
		Long: `Read the lock files of other tools, recompute the hashes in them, and add an entry to
skills-mcp.lock for each skill, so that verify, outdated, update, rollback and uninstall
work with it. Nothing is fetched. The skills stay in their folders, and the other tools'
files as they are.

Each entry says what was proved of it, and what was not. Exits with 1 if an entry cannot
be adopted; the others are.

Without --project these are your own skills: the lock file is ~/skills-mcp.lock, and the
other commands find it with --project ~.`,
		Example: "  skills-mcp lock adopt --project . --dry-run\n  skills-mcp lock adopt",
		RunE:    with(c.settings, c.run),
	}
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would be adopted, and change nothing")
	c.jsonFlag(cmd, "print JSON")
	c.projectFlag(cmd)
	c.register(cmd)
	return cmd
}

func (c *adoptCommand) run(ctx context.Context, s *setup.Settings, _ []string) error {
	dir := cmp.Or(c.project, s.Home)
	if dir == "" {
		return errors.New("there is no home folder; set HOME, or use --project")
	}
	t, err := s.Machine.Target(dir, false)
	if err != nil {
		return err
	}
	found, unread := adopt.Find(ctx, adopt.Options{Dir: t.Folders.Dir, Home: !t.Folders.Project, State: os.Getenv("XDG_STATE_HOME")})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	file, err := t.Installed()
	if err != nil {
		return err
	}
	fresh, states, refused := sift(found, file)
	if len(states) > 0 && !c.dryRun {
		if err := c.accept(ctx, s, fresh); err != nil {
			return err
		}
		if err := t.Adopt(ctx, states); err != nil {
			return err
		}
	}
	if err := errors.Join(c.print(t, fresh, len(states)), unread); err != nil {
		return err
	}
	if refused {
		return exitcode.Silent(exitcode.Failed)
	}
	return nil
}

// sift leaves out the candidates that have entries already. Refused reports that one
// cannot be adopted.
func sift(found []*adopt.Candidate, file *lock.File) (fresh []*adopt.Candidate, states map[string]*lock.State, refused bool) {
	states = map[string]*lock.State{}
	for _, candidate := range found {
		switch {
		case candidate.Path != "" && file.Entries[candidate.Path] != nil:
			continue
		case candidate.State == nil:
			refused = true
		default:
			states[candidate.Path] = candidate.State
		}
		fresh = append(fresh, candidate)
	}
	return fresh, states, refused
}

// accept returns nil if the person, or a script with the token, agrees.
func (c *adoptCommand) accept(ctx context.Context, s *setup.Settings, found []*adopt.Candidate) error {
	lines := report.AdoptionLines(found)
	if c.yes {
		fmt.Fprintln(c.stderr, strings.Join(lines, "\n"))
		return c.provedScript(s)
	}
	return c.confirmShown(ctx, lines, "adopt them")
}

// print writes the result.
func (c *adoptCommand) print(t *manage.Target, found []*adopt.Candidate, adopted int) error {
	type entry struct {
		*adopt.Candidate
		*lock.State
	}
	switch {
	case c.json:
		list := []entry{}
		for _, candidate := range found {
			list = append(list, entry{candidate, candidate.State})
		}
		return c.printJSON(map[string]any{"adopted": !c.dryRun, "lock": filepath.Join(t.Folders.Dir, lock.Name), "entries": list})
	case len(found) == 0:
		_, err := fmt.Fprintln(c.stderr, "other tools have installed nothing here that is not in the lock file already")
		return err
	case c.dryRun:
		_, err := fmt.Fprintln(c.stdout, strings.Join(report.AdoptionLines(found), "\n"))
		return err
	}
	for _, candidate := range found {
		if candidate.State == nil {
			fmt.Fprintln(c.stderr, report.AdoptionLines([]*adopt.Candidate{candidate})[0])
		} else {
			fmt.Fprintf(c.stdout, "adopted %s\n", plain.Visible(t.Path(candidate.Path)))
		}
	}
	if adopted > 0 && c.project == "" {
		fmt.Fprintln(c.stderr, "the other commands find them with --project ~")
	}
	return nil
}
