package main

import (
	"context"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/spf13/cobra"
)

// whyCommand explains the decision about a call of a skill.
type whyCommand struct {
	*app
	as   string
	json bool
}

func newWhyCommand(a *app) *cobra.Command {
	c := &whyCommand{app: a}
	cmd := &cobra.Command{
		Use:   "why NAME",
		Short: "Say whether a skill may run, with which grant, and by which rule",
		Long: `Say what a call of a skill would meet: whether it runs, is asked about, or is
refused, what it would be granted, and the rule that decides. A line for each
caller where they differ. Nothing is run, and nobody is asked.`,
		Example:           "  skills-mcp why colony-samples/code-complexity --as ci",
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().StringVar(&c.as, "as", "", "for clients of the profile `PROFILE` of policy.profiles")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

func (c *whyCommand) run(ctx context.Context, name string) error {
	s, skill, _, err := c.skill(ctx, name)
	if err != nil {
		return err
	}
	if err := setup.CheckProfile(s.Profiles, "--as", c.as); err != nil {
		return err
	}
	e, err := report.Explain(ctx, s, skill, c.as)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(e)
	}
	return e.Print(c.stdout)
}
