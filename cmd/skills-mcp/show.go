package main

import (
	"context"
	"fmt"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/lookup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/surface"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
	"github.com/spf13/cobra"
)

// showCommand shows one skill.
type showCommand struct {
	*app
	json bool
}

func newShowCommand(a *app) *cobra.Command {
	c := &showCommand{app: a}
	cmd := &cobra.Command{
		Use:               "show NAME",
		Short:             "Show one skill in full",
		Long:              "Show one skill: what it does, its parameters, what a call of it would execute and\nbe granted, its files and their digest, its capabilities, the findings of the scan\nand, if it has changed since it was accepted, the difference, its prompt, the URIs under which clients\nread it, and its problems. NAME is a skill's name, plugin/name, or the name of\nits tool; SOURCE:NAME (session:deploy) or the path of its folder also means one\nwhose name another one has. Nothing of it is run.",
		Example:           "  skills-mcp show colony-samples/code-complexity",
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	a.exposeFlag(cmd)
	return cmd
}

func (c *showCommand) run(ctx context.Context, name string) error {
	s, catalog, err := c.learned(ctx, name)
	if err != nil {
		return err
	}
	catalog = s.Sandboxes.Rules.Book.Apply(ctx, catalog)
	skill, own, err := lookup.Skill(catalog, name, s.Gate)
	if err != nil {
		c.hintProblems(catalog)
		return err
	}
	view := s.View(ctx, own)
	view.Shadowed = catalog.Shadowed
	info, err := view.Skill(ctx, skill)
	if err != nil {
		return err
	}
	all, err := s.OpenPins()
	if err != nil {
		return err
	}
	compared, err := all.Compare(ctx, skill)
	if err != nil {
		return err
	}
	pin := report.NewPinInfo(skill, compared)
	found, err := s.Sandboxes.Verdicts.Of(ctx, skill)
	if err != nil {
		return err
	}
	if info.Scan = verdict.Counts(found); s.Sandboxes.Verdicts.Blocks(found) {
		info.State = describe.BlockedByScan
	}
	if c.json {
		return c.printJSON(shown{info, compared.Surface.Items, found, pin})
	}
	if err := c.print(skill, info); err != nil {
		return err
	}
	report.WriteSurface(c.stdout, compared.Surface)
	report.WriteFindings(c.stdout, found)
	if pin != nil && compared.Changed() {
		pin.Write(c.stdout)
	}
	return nil
}

// shown is a skill with its capabilities, and its accepted version, if there is one.
type shown struct {
	*describe.Skill
	Surface  []surface.Item    `json:"capabilities"`
	Findings []verdict.Finding `json:"findings,omitempty"`
	Pin      *report.PinInfo   `json:"pin,omitempty"`
}

func (c *showCommand) print(skill *skills.Skill, info *describe.Skill) error {
	if err := report.PrintFacts(c.stdout, skill, info); err != nil {
		return err
	}
	if skill.Entry != nil && len(skill.Entry.Params()) > 0 {
		fmt.Fprintln(c.stdout, "\nparameters:")
		if err := report.PrintParams(c.stdout, skill.Entry); err != nil {
			return err
		}
	}
	if skill.OfHooks() && skill.Of == nil {
		fmt.Fprintln(c.stdout, "\nhooks:")
		for _, tool := range skill.Tools {
			fmt.Fprintf(c.stdout, "  %s  %s\n", tool.Entry.Hook.ID, plain.OneLine(tool.Entry.Hook.String(), 200))
		}
	}
	if info.Call != nil {
		fmt.Fprintln(c.stdout, "\na call executes:")
		if err := report.PrintPlan(c.stdout, info.Call); err != nil {
			return err
		}
	}
	if info.Feedback != nil {
		if err := report.PrintFeedback(c.stdout, info.Feedback); err != nil {
			return err
		}
	}
	fmt.Fprintln(c.stdout, "\nfiles:")
	for _, name := range info.Files {
		fmt.Fprintln(c.stdout, "  "+plain.Visible(name))
	}
	if len(info.Problems) > 0 {
		fmt.Fprintln(c.stdout, "\nproblems:")
		for _, p := range info.Problems {
			fmt.Fprintln(c.stdout, "  "+p.String())
		}
	}
	return nil
}
