package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/spf13/cobra"
)

// A targetCommand shows or changes the installed skills of a target.
type targetCommand struct {
	consent
	project      string
	dryRun, json bool
}

// projectFlag adds --project. Without a value it is the person's data folder.
func (c *targetCommand) projectFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.project, "project", "", "for the project in `DIR` rather than for you; its lock file is there")
}

func (c *targetCommand) jsonFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&c.json, "json", false, usage)
}

// target returns the target of the settings.
func (c *targetCommand) target() (*manage.Target, error) {
	s, err := c.settings()
	if err != nil {
		return nil, err
	}
	return c.targetOf(s)
}

// targetOf returns the target.
func (c *targetCommand) targetOf(s *setup.Settings) (*manage.Target, error) {
	t, err := s.Machine.Target(c.project, isTerminal(c.stdin) && isTerminal(c.stderr))
	if errors.Is(err, manage.ErrNoFolder) {
		err = exitcode.Usage(fmt.Errorf("--project: %w", err))
	}
	return t, err
}

// fetching returns a function that reports the progress of a fetch, and one that erases
// it. Both may be called by any goroutine.
func (a *app) fetching() (progress func(done, total int64), end func()) {
	report, end := newProgress(a.stderr)
	return manage.Distinct(report), end
}

// show writes a change for the person.
func show(w io.Writer, change *installation.Change) {
	fmt.Fprintln(w, strings.Join(change.Lines(), "\n"))
}

// asUsageOf marks the errors of an installer that are of usage: a choice that is missing,
// and a name that is not installed.
func asUsageOf(err error) error {
	_, choice := errors.AsType[*source.ChoiceError](err)
	if _, unknown := errors.AsType[*install.UnknownError](err); choice || unknown {
		return exitcode.Usage(err)
	}
	return err
}

// completeInstalled completes the names of what is installed.
func (c *targetCommand) completeInstalled(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	t, err := c.target()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	file, err := t.Installed()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for path, entry := range file.Entries {
		names = append(names, entry.Name+"\t"+plain.OneLine(path+", "+entry.Source.String(), 80))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// accepted returns the review of a change that a person is asked about, unless it is
// harmless: then it is shown.
func (c *targetCommand) accepted(ask manage.Review) manage.Review {
	return func(ctx context.Context, change *installation.Change) (bool, error) {
		if change.Harmless() {
			show(c.stderr, change)
			return true, nil
		}
		return ask(ctx, change)
	}
}
