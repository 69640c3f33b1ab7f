package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/spf13/cobra"
)

// updateCommand changes installed skills to another version.
type updateCommand struct{ targetCommand }

func newUpdating(a *app) *updateCommand {
	return &updateCommand{targetCommand{consent: consent{app: a}}}
}

func newUpdateCommand(a *app) *cobra.Command {
	c := newUpdating(a)
	cmd := &cobra.Command{
		Use:   "update [NAME]...",
		Short: "Bring installed skills up to date, and stop at one that gains a capability",
		Long: `Fetch the current version of each installed skill, or of those that are named, and
show the difference: first of what it could do, then of its files, those first that
are executed. Each skill is compared with its own installed version alone.

A version that gains no capability is installed, as any change of a skill that gains
nothing goes on. One that gains something is asked about on the terminal, each on its
own; so is one that would move files aside which you have edited. --yes asks nobody,
and leaves those as they are: only a person accepts a new capability.

rollback returns to the version before.`,
		Example:           "  skills-mcp update\n  skills-mcp update report --dry-run",
		ValidArgsFunction: c.completeInstalled,
		RunE:              with(c.target, c.run),
	}
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show the differences, and change nothing")
	c.projectFlag(cmd)
	c.register(cmd)
	return cmd
}

func (c *updateCommand) run(ctx context.Context, t *manage.Target, names []string) error {
	progress, end := c.fetching()
	defer end()
	review := c.review("update it")
	found, failed := t.UpdateAll(ctx, names, progress, func(ctx context.Context, change *installation.Change) (bool, error) {
		end()
		return review(ctx, change)
	}, c.print)
	if !found && len(failed) == 0 {
		_, err := fmt.Fprintln(c.stderr, "everything is up to date")
		return err
	}
	for i, err := range failed {
		failed[i] = asUsageOf(err)
	}
	return errors.Join(failed...)
}

// review returns the review of a change to another version.
func (c *updateCommand) review(action string) manage.Review {
	ask := c.accepted(func(ctx context.Context, change *installation.Change) (bool, error) {
		if c.yes {
			show(c.stderr, change)
			return false, fmt.Errorf("%s needs a person's yes, which --yes is not; run it in a terminal", plain.Visible(strings.Join(names(change), ", ")))
		}
		err := c.confirmShown(ctx, change.Lines(), change.Action(action))
		if err != nil {
			err = fmt.Errorf("%s is as it was: %w", plain.Visible(strings.Join(names(change), ", ")), err)
		}
		return err == nil, err
	})
	return func(ctx context.Context, change *installation.Change) (bool, error) {
		switch {
		case len(change.Items) == 0:
			return false, nil
		case c.dryRun:
			show(c.stdout, change)
			return false, nil
		}
		return ask(ctx, change)
	}
}

// print writes a change that was made; nil is none.
func (c *updateCommand) print(change *installation.Change, _ *install.Plan) {
	if change == nil {
		return
	}
	for _, item := range change.Items {
		fmt.Fprintf(c.stdout, "%s is now of %s\n", plain.Visible(item.Name), plain.Visible(manage.Revision(&item)))
	}
}

// names returns the names of the items of a change.
func names(change *installation.Change) (all []string) {
	for _, item := range change.Items {
		all = append(all, item.Name)
	}
	return all
}

func newRollbackCommand(a *app) *cobra.Command {
	c := newUpdating(a)
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Return an installed skill to the version before its last update",
		Long: `Exchange an installed skill for the version before its last update, which is kept.
It needs no network; a second rollback returns. It asks on the terminal where the
version before could do more, or where files that you have edited go aside.`,
		Example:           "  skills-mcp rollback report",
		ValidArgsFunction: c.completeInstalled,
		RunE:              with(c.target, c.rollback),
	}
	c.projectFlag(cmd)
	return cmd
}

func (c *updateCommand) rollback(ctx context.Context, t *manage.Target, args []string) error {
	plan, err := t.Rollback(ctx, args[0])
	if err != nil {
		return asUsageOf(err)
	}
	change, err := t.Apply(ctx, plan, c.review("roll it back"))
	c.print(change, plan)
	return err
}

// outdatedCommand lists the installed skills of which there is another version.
type outdatedCommand struct{ targetCommand }

func newOutdatedCommand(a *app) *cobra.Command {
	c := &outdatedCommand{targetCommand{consent: consent{app: a}}}
	cmd := &cobra.Command{
		Use:   "outdated [NAME]...",
		Short: "List the installed skills of which there is another version",
		Long: `Ask the source of each installed skill for its current version. Nothing is installed.
Exits with 1 if a source could not be asked.`,
		Example:           "  skills-mcp outdated",
		ValidArgsFunction: c.completeInstalled,
		RunE:              with(c.target, c.run),
	}
	c.jsonFlag(cmd, "print JSON, also of those that are up to date")
	c.projectFlag(cmd)
	return cmd
}

// outdatedInfo is the state of an entry at its source.
type outdatedInfo struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Source    string `json:"source"`
	Installed string `json:"installed,omitempty"` // revision
	Current   string `json:"current,omitempty"`   // revision
	Outdated  bool   `json:"outdated"`
	Error     string `json:"error,omitempty"`
}

func (c *outdatedCommand) run(ctx context.Context, t *manage.Target, names []string) error {
	all, err := t.Outdated(ctx, names...)
	if err != nil {
		return asUsageOf(err)
	}
	list, failed := []outdatedInfo{}, false
	for _, status := range all {
		info := outdatedInfo{status.Installed.Name, status.Path, status.Installed.Source.String(), status.Installed.Revision, status.Revision, status.Outdated, ""}
		if status.Err != nil {
			info.Error, failed = status.Err.Error(), true
		}
		if c.json || info.Outdated || info.Error != "" {
			list = append(list, info)
		}
	}
	if err := c.print(list); err != nil {
		return err
	}
	if failed {
		return exitcode.Silent(exitcode.Failed)
	}
	return nil
}

func (c *outdatedCommand) print(list []outdatedInfo) error {
	return listing[outdatedInfo]{
		key: "installed", none: "everything is up to date", headings: "NAME\tINSTALLED\tCURRENT\tSOURCE", optional: []string{"SOURCE"},
		row: func(info outdatedInfo) string {
			current := shortRevision(info.Current)
			if info.Error != "" {
				current = "unknown: " + plain.OneLine(info.Error, 100)
			}
			return fmt.Sprintf("%s\t%s\t%s\t%s", plain.Visible(info.Name), shortRevision(info.Installed), current, plain.Visible(info.Source))
		},
	}.print(c.app, c.json, list)
}

// shortRevision returns a revision of at most 20 characters.
func shortRevision(revision string) string {
	return plain.OneLine(strings.TrimPrefix(revision, "sha256:"), 20)
}
