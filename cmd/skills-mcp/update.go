package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/skills/install"
)

// updateCommand changes installed skills to another version.
type updateCommand struct {
	consent
	project        string
	dryRun, asJSON bool
}

func newUpdateCommand(a *app) *cobra.Command {
	c := &updateCommand{consent: consent{app: a}}
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
		ValidArgsFunction: a.completeInstalled(&c.project),
		RunE:              func(cmd *cobra.Command, names []string) error { return c.run(cmd.Context(), names) },
	}
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show the differences, and change nothing")
	projectFlag(cmd, &c.project)
	c.register(cmd)
	return cmd
}

func (c *updateCommand) run(ctx context.Context, names []string) error {
	i, err := c.openInstaller(c.project)
	if err != nil {
		return err
	}
	progress, end := c.fetching()
	defer end()
	var failed []error
	changed := false
	for plan, err := range i.Update(ctx, progress, names...) {
		end()
		if err == nil {
			changed = true
			err = errors.Join(c.apply(ctx, i, plan, "update it"), plan.Close())
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if !changed && len(failed) == 0 {
		_, err := fmt.Fprintln(c.stderr, "everything is up to date")
		return err
	}
	return failures(failed)
}

// failures returns one error for several; nil for none.
func failures(all []error) error {
	if len(all) == 1 {
		return asUsageOf(all[0])
	}
	return errors.Join(all...)
}

// apply makes the change of a plan after the question that it needs.
func (c *updateCommand) apply(ctx context.Context, i *installer, plan *install.Plan, action string) error {
	change := installation.Describe(plan, i.target)
	switch {
	case len(plan.Items) == 0:
		return nil
	case c.dryRun:
		fmt.Fprintln(c.stdout, strings.Join(change.Lines(), "\n"))
		return nil
	case change.Harmless():
		fmt.Fprintln(c.stderr, strings.Join(change.Lines(), "\n"))
	case c.yes:
		fmt.Fprintln(c.stderr, strings.Join(change.Lines(), "\n"))
		return fmt.Errorf("%s needs a person's yes, which --yes is not; run it in a terminal", visible(strings.Join(names(change), ", ")))
	default:
		if err := c.confirmShown(ctx, change.Lines(), change.Action(action)); err != nil {
			return fmt.Errorf("%s is as it was: %w", visible(strings.Join(names(change), ", ")), err)
		}
	}
	if err := i.commit(ctx, plan, !change.Harmless()); err != nil {
		return err
	}
	for _, item := range change.Items {
		fmt.Fprintf(c.stdout, "%s is now of %s\n", visible(item.Name), visible(revisionOf(&item)))
	}
	return nil
}

// names returns the names of the items of a change.
func names(change *installation.Change) (all []string) {
	for _, item := range change.Items {
		all = append(all, item.Name)
	}
	return all
}

// revisionOf names the version of an item.
func revisionOf(item *installation.Item) string {
	if item.Revision != "" {
		return "revision " + item.Revision
	}
	return "digest " + item.Digest
}

func newRollbackCommand(a *app) *cobra.Command {
	c := &updateCommand{consent: consent{app: a}}
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Return an installed skill to the version before its last update",
		Long: `Exchange an installed skill for the version before its last update, which is kept.
It needs no network; a second rollback returns. It asks on the terminal where the
version before could do more, or where files that you have edited go aside.`,
		Example:           "  skills-mcp rollback report",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeInstalled(&c.project),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.rollback(cmd.Context(), args[0]) },
	}
	projectFlag(cmd, &c.project)
	return cmd
}

func (c *updateCommand) rollback(ctx context.Context, name string) error {
	i, err := c.openInstaller(c.project)
	if err != nil {
		return err
	}
	plan, err := i.Rollback(ctx, name)
	if err != nil {
		return asUsageOf(err)
	}
	return errors.Join(c.apply(ctx, i, plan, "roll it back"), plan.Close())
}

func newOutdatedCommand(a *app) *cobra.Command {
	c := &updateCommand{consent: consent{app: a}}
	cmd := &cobra.Command{
		Use:   "outdated [NAME]...",
		Short: "List the installed skills of which there is another version",
		Long: `Ask the source of each installed skill for its current version. Nothing is installed.
Exits with 1 if a source could not be asked.`,
		Example:           "  skills-mcp outdated",
		ValidArgsFunction: a.completeInstalled(&c.project),
		RunE:              func(cmd *cobra.Command, names []string) error { return c.outdated(cmd.Context(), names) },
	}
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print JSON, also of those that are up to date")
	projectFlag(cmd, &c.project)
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

func (c *updateCommand) outdated(ctx context.Context, names []string) error {
	i, err := c.openInstaller(c.project)
	if err != nil {
		return err
	}
	all, err := i.Outdated(ctx, names...)
	if err != nil {
		return asUsageOf(err)
	}
	list, failed := []outdatedInfo{}, false
	for _, status := range all {
		info := outdatedInfo{status.Installed.Name, status.Path, status.Installed.Source.String(), status.Installed.Revision, status.Revision, status.Outdated, ""}
		if status.Err != nil {
			info.Error, failed = status.Err.Error(), true
		}
		if c.asJSON || info.Outdated || info.Error != "" {
			list = append(list, info)
		}
	}
	if err := c.printOutdated(list); err != nil {
		return err
	}
	if failed {
		return &exitError{exitFailed, nil}
	}
	return nil
}

func (c *updateCommand) printOutdated(list []outdatedInfo) error {
	if c.asJSON {
		return c.printJSON(map[string]any{"installed": list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.stderr, "everything is up to date")
		return err
	}
	return table(c.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "NAME\tINSTALLED\tCURRENT\tSOURCE")
		for _, info := range list {
			current := shortRevision(info.Current)
			if info.Error != "" {
				current = "unknown: " + oneLine(info.Error, 100)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", visible(info.Name), shortRevision(info.Installed), current, visible(info.Source))
		}
	}, "SOURCE")
}

// shortRevision returns a revision of at most 20 characters.
func shortRevision(revision string) string {
	return oneLine(strings.TrimPrefix(revision, "sha256:"), 20)
}
