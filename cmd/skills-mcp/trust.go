package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/trust"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/spf13/cobra"
)

// trustCommand trusts a workspace.
type trustCommand struct {
	*app
	list, json bool
}

func newTrustCommand(a *app) *cobra.Command {
	c := &trustCommand{app: a}
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Trust the skills of a workspace",
		Long: `Trust the skills of a workspace: those of the folder DIR, or of the current one.

Skills of a workspace that you do not trust, such as a repository that you have
cloned, are listed and run, as long as they need nothing but to read its files.
They get no variable, host or approval, and no name of another skill: where one
could be mistaken for yours, it is workspace/NAME. In a trusted workspace its
skills come first, ask for what they need like your own, and may take names.

This shows the skills of the workspace, what they ask for and whose names they
would take, and asks you on the terminal. Running servers follow at once.

The folder is trusted, not its path: a folder that is put in its place, or a link,
is not, and neither are the folders above it and in it. Later changes of its skills
are checked like those of any skill that is not your own.`,
		Example: `  skills-mcp trust .
  skills-mcp trust --list`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.list {
				return with(c.settings, c.printList)(cmd, nil)
			}
			return c.run(cmd.Context(), args)
		},
	}
	cmd.Flags().BoolVar(&c.list, "list", false, "list the workspaces that you trust")
	cmd.Flags().BoolVar(&c.json, "json", false, "with --list: print JSON")
	return cmd
}

func (c *trustCommand) run(ctx context.Context, args []string) error {
	s, workspace, err := c.workspaceOf(args)
	if err != nil {
		return err
	}
	if s.Trust.Trusts(ctx, workspace) {
		_, err := fmt.Fprintf(c.stdout, "%s is trusted already\n", plain.Visible(workspace))
		return err
	}
	if _, err := s.Scan(ctx); err != nil {
		return err
	}
	proposed, err := s.Trust.Propose(workspace)
	if err != nil {
		return err
	}
	if err := c.confirm(ctx, report.TrustQuestion(proposed), "trust it"); err != nil {
		return err
	}
	// The folder that was shown: another one may have taken its place meanwhile.
	if err := (setup.Truster{Settings: s}).Trust(ctx, proposed); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s is trusted\n", plain.Visible(workspace))
	return err
}

// printList lists the workspaces that the person trusts.
func (c *trustCommand) printList(ctx context.Context, s *setup.Settings, _ []string) error {
	all, err := s.Trust.List(ctx)
	if err != nil {
		return err
	}
	type listed struct {
		Path  string      `json:"path"`
		Since string      `json:"since"`
		State trust.State `json:"state"`
	}
	var list []listed
	for _, w := range all {
		list = append(list, listed{w.Path, plain.Day(w.Since), w.State})
	}
	return listing[listed]{
		key: "workspaces", none: "no workspace is trusted", headings: "WORKSPACE\tSINCE\tSTATE",
		row: func(l listed) string { return fmt.Sprintf("%s\t%s\t%s", plain.Visible(l.Path), l.Since, l.State) },
	}.print(c.app, c.json, list)
}

// untrustCommand ends the trust in a workspace.
type untrustCommand struct{ *app }

func newUntrustCommand(a *app) *cobra.Command {
	c := &untrustCommand{a}
	return &cobra.Command{
		Use:   "untrust [DIR]",
		Short: "End the trust in a workspace",
		Long: `End the trust in a workspace: the folder DIR, or the current one. Nothing is asked.
Running servers follow at once; calls that run end as they began.`,
		Example: "  skills-mcp untrust .",
		RunE:    with(c.settings, c.run),
	}
}

func (c *untrustCommand) run(ctx context.Context, s *setup.Settings, args []string) error {
	dir, err := filepath.Abs(strings.Join(args, "")) // at most one
	if err != nil {
		return err
	}
	// What is there now may be a link, or nothing.
	for _, path := range slices.Compact([]string{dir, skillfs.Resolved(dir)}) {
		found, err := s.Trust.Untrust(ctx, path)
		if err != nil {
			return err
		}
		if found {
			_, err := fmt.Fprintf(c.stdout, "%s is not trusted any more\n", plain.Visible(path))
			return err
		}
	}
	_, err = fmt.Fprintf(c.stdout, "%s was not trusted\n", plain.Visible(dir))
	return err
}
