package main

import (
	"context"
	"fmt"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/spf13/cobra"
)

// pinCommand accepts a skill as it is now.
type pinCommand struct{ *app }

func newPinCommand(a *app) *cobra.Command {
	c := &pinCommand{a}
	return &cobra.Command{
		Use:   "pin NAME",
		Short: "Accept a skill as it is now, after a look at what changed",
		Long: `Show what a skill has gained since it was accepted, and ask whether you accept it as
it is now. Skills of others are accepted at their first use; one that gains a
capability later is blocked until then, in running servers, too. It asks on a
terminal, for a number that is shown after the question.`,
		Example:           "  skills-mcp pin office/report",
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
}

func (c *pinCommand) run(ctx context.Context, name string) error {
	s, skill, _, err := c.skill(ctx, name)
	if err != nil {
		return err
	}
	if skill = skill.Owner(); skill.Origin().Kind == skills.OriginBundled {
		return exitcode.Usage(fmt.Errorf("%s is a part of this program; it needs no pin", plain.Visible(name)))
	}
	all, err := s.OpenPins()
	if err != nil {
		return err
	}
	compared, err := all.Compare(ctx, skill)
	if err != nil {
		return err
	}
	if compared.Pin != nil && !compared.Changed() {
		_, err := fmt.Fprintf(c.stderr, "%s is as it was accepted on %s\n", plain.Visible(name), compared.Pin.Accepted.Format(time.DateTime))
		return err
	}
	if err := c.app.confirm(ctx, report.PinQuestion(skill, compared), "accept it"); err != nil {
		return err
	}
	if err := all.Accept(ctx, skill, compared.Digest, compared.Folder); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stderr, "%s is accepted as it is now\n", plain.Visible(name))
	return err
}

// printChanged lists the skills that differ from their accepted versions.
func (a *app) printChanged(ctx context.Context, s *setup.Settings, catalog *skills.Catalog, asJSON bool) error {
	all, err := s.OpenPins()
	if err != nil {
		return err
	}
	changed, compared, err := all.Changed(ctx, catalog)
	if err != nil {
		return err
	}
	var infos []*report.PinInfo
	for i, skill := range changed {
		infos = append(infos, report.NewPinInfo(skill, compared[i]))
	}
	return listing[*report.PinInfo]{
		key: "changed", none: "no skill has changed since it was accepted", headings: "NAME\tACCEPTED\tSTATE",
		row: func(i *report.PinInfo) string {
			at := i.At.Format(time.DateTime)
			if i.Accepted == "" {
				at = "does not count"
			}
			return fmt.Sprintf("%s\t%s\t%s", plain.Visible(i.Name), at, i.State())
		},
	}.print(a, asJSON, infos)
}
