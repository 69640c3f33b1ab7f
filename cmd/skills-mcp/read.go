package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/lookup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/spf13/cobra"
)

// readCommand prints the instructions of a skill.
type readCommand struct {
	*app
	raw bool
}

func newReadCommand(a *app) *cobra.Command {
	c := &readCommand{app: a}
	cmd := &cobra.Command{
		Use:   "read NAME",
		Short: "Read the instructions of a skill",
		Long: `Print the instructions of a skill, as its author wrote them: rendered on a terminal,
and as Markdown elsewhere. NAME is as in "show". Nothing of it is run. A skill that is
blocked until you accept a change of it is not shown; "show" has the difference.`,
		Example:           "  skills-mcp read colony-samples/scientific-debugging",
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().BoolVar(&c.raw, "raw", false, "print the Markdown also on a terminal")
	return cmd
}

func (c *readCommand) run(ctx context.Context, name string) error {
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	skill, _, err := lookup.Skill(catalog, name, s.Gate)
	if err != nil {
		c.hintProblems(catalog)
		return err
	}
	all, err := s.OpenPins()
	if err != nil {
		return err
	}
	skill = skill.Owner() // of a tool
	if err := all.Text(ctx, skill); err != nil {
		return exitOf(nil, err)
	}
	text, err := skill.Text()
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		_, err := fmt.Fprintf(c.stderr, "%s has no instructions; \"skills-mcp show %[1]s\" has all that is known of it\n", skill.QualifiedName())
		return err
	}
	if screen := terminal.Of(c.stdout); screen.Width > 0 && !c.raw {
		_, err = io.WriteString(c.stdout, screen.Markdown(text))
		return err
	}
	_, err = fmt.Fprintln(display(c.stdout), strings.TrimRight(text, "\n"))
	return err
}
