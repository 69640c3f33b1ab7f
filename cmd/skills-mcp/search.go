package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/server/describe"
)

// searchCommand finds skills by words.
type searchCommand struct {
	*app
	limit int
	json  bool
}

func newSearchCommand(a *app) *cobra.Command {
	c := &searchCommand{app: a}
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find skills by words of their name and description",
		Long:  "Find the skills in which every word of QUERY occurs, best first: a word in the\nname counts most, then one in the description.",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), joinWords(args)) },
	}
	cmd.Flags().IntVar(&c.limit, "limit", 10, "print at most `N` skills")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

func (c *searchCommand) run(ctx context.Context, query string) error {
	if c.limit < 1 {
		return usageError(fmt.Errorf("--limit is %d; write 1 or more", c.limit))
	}
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	v := s.view(ctx, catalog)
	found := []describe.Listed{}
	for _, skill := range catalog.Search(query) {
		found = append(found, v.Listed(skill))
	}
	found = found[:min(c.limit, len(found))]
	if c.json {
		return c.printJSON(map[string]any{"skills": found})
	}
	return c.print(found)
}

func (c *searchCommand) print(found []describe.Listed) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(c.stderr, "no skill matches; list names them all")
		return err
	}
	for _, s := range found {
		if _, err := fmt.Fprintf(c.stdout, "%s\n    %s\n", s.Name, oneLine(s.Description, 160)); err != nil {
			return err
		}
	}
	return nil
}
