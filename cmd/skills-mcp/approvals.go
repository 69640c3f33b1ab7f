package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/spf13/cobra"
)

// approvalsCommand lists approvals.
type approvalsCommand struct {
	*app
	json, all bool
}

func newApprovalsCommand(a *app) *cobra.Command {
	c := &approvalsCommand{app: a}
	cmd := &cobra.Command{
		Use:   "approvals [ID]",
		Short: "List the calls that wait for your yes, and the approvals that you gave",
		Long: `List the calls that wait for a person's yes, and the approvals that still count.
With --all also those that were used, denied or revoked, or that have expired. With
an ID, show that question, with its arguments whole.`,
		Example: "  skills-mcp approvals --all\n  skills-mcp approvals k3x7q2m4ab",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return with(c.settings, c.show)(cmd, args)
			}
			return with(c.settings, c.run)(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON, with the questions")
	cmd.Flags().BoolVar(&c.all, "all", false, "also list those that have ended")
	return cmd
}

// show prints the question of an ID.
func (c *approvalsCommand) show(ctx context.Context, s *setup.Settings, args []string) error {
	r, err := s.Approvals(nil).Find(ctx, args[0])
	switch {
	case err != nil:
		return err
	case c.json:
		return c.printJSON(r)
	}
	_, err = fmt.Fprintf(c.stdout, "%s\n\n%s until %s\n", strings.Join(r.Shown().Terminal(), "\n"), report.StateOf(r), r.Expires.Format(time.DateTime))
	return err
}

func (c *approvalsCommand) run(ctx context.Context, s *setup.Settings, _ []string) error {
	list, err := s.Approvals(nil).List(ctx, c.all)
	if err != nil {
		return err
	}
	return listing[*approval.Record]{
		key: "approvals", none: "no call waits for your yes, and no approval counts",
		headings: "ID\tSTATE\tSKILL\tCLASS\tSCOPE\tCONFIRMED BY\tUNTIL", optional: []string{"UNTIL", "CONFIRMED BY", "SCOPE", "CLASS"},
		row: func(r *approval.Record) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", r.ID, report.StateOf(r), plain.Visible(r.Question.Skill), r.Question.Class, r.Kind(), report.SignedBy(r), r.Expires.Format(time.DateTime))
		},
	}.print(c.app, c.json, list)
}
