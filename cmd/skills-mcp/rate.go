package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/spf13/cobra"
)

// rateCommand rates a skill.
type rateCommand struct {
	*app
	ok, bad bool
	note    string
}

func newRateCommand(a *app) *cobra.Command {
	c := &rateCommand{app: a}
	cmd := &cobra.Command{
		Use:   "rate NAME (--ok | --bad)",
		Short: "Say whether a skill did what it promises",
		Long: `Say whether a skill did what it promises, perhaps with a note. "show" and models see
it, with the ratings of models and how the last runs ended. NAME is as in "show".`,
		Example:           `  skills-mcp rate colony-samples/code-complexity --bad --note "it skips notebooks"`,
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().BoolVar(&c.ok, "ok", false, "it did")
	cmd.Flags().BoolVar(&c.bad, "bad", false, "it did not")
	cmd.Flags().StringVar(&c.note, "note", "", "what went well or wrong, in `TEXT` of at most 500 characters")
	return cmd
}

func (c *rateCommand) run(ctx context.Context, name string) error {
	if c.ok == c.bad {
		return exitcode.Usage(errors.New("write --ok or --bad"))
	}
	s, skill, _, err := c.skill(ctx, name)
	if err != nil {
		return err
	}
	who := identity.Principal{Kind: identity.Person}
	if !isTerminal(c.stdin) { // perhaps a model with a shell
		who.Kind = "command line"
	}
	if err := s.Feedback().Rate(ctx, who, skill, c.ok, c.note); err != nil {
		return exitOf(nil, err)
	}
	_, err = fmt.Fprintf(c.stdout, "%s is rated.\n", skill.QualifiedName())
	return err
}
