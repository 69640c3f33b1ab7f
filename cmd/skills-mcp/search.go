package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/install/clawhub"
	"github.com/skillsmcp/skills-mcp/skills/search"
	"github.com/spf13/cobra"
)

// searchCommand finds skills by words.
type searchCommand struct {
	*app
	alternatives []string
	source       string
	limit        int
	json         bool
	clawhub      bool
}

func newSearchCommand(a *app) *cobra.Command {
	c := &searchCommand{app: a}
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find skills by what they are for",
		Long: `Find skills by words of their names, descriptions and instructions, best first, as
search_skills does for a model. An exact name comes first; skills without some of
the words are found too. --or adds another phrasing of the same wish.

--clawhub sends the query to the ClawHub registry instead, for skills to install.`,
		Example: "  skills-mcp search merge pdf files --or \"combine documents\"\n  skills-mcp search --clawhub weather",
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.clawhub {
				return c.runClawHub(cmd.Context(), strings.Join(args, " "))
			}
			return c.run(cmd.Context(), strings.Join(args, " "))
		},
	}
	cmd.Flags().StringArrayVar(&c.alternatives, "or", nil, "another `PHRASING` of the query; may be repeated")
	cmd.Flags().StringVar(&c.source, "source", "", "only skills of `SOURCE`: session (the project), user, system or extra")
	cmd.Flags().IntVar(&c.limit, "limit", 10, "print at most `N` skills, up to 200")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&c.clawhub, "clawhub", false, "search the ClawHub registry")
	complete(cmd, "source", []string{"session", "user", "system", "extra"})
	return cmd
}

// matched is a skill that a query found.
type matched struct {
	describe.Listed
	Why string `json:"why,omitempty"`
}

func (c *searchCommand) run(ctx context.Context, query string) error {
	switch {
	case c.limit < 1:
		return exitcode.Usage(fmt.Errorf("--limit is %d; write 1 or more", c.limit))
	case c.source != "" && !slices.Contains(skills.Sources(), skills.Source(c.source)):
		return exitcode.Usage(fmt.Errorf("--source is %q; write one of session, user, system, extra", c.source))
	}
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	catalog = setup.Decided(ctx, s, catalog)
	keep := func(skill *skills.Skill) bool { return c.source == "" || string(skill.Source) == c.source }
	v, found := s.View(ctx, catalog), []matched{}
	index := s.Roots.Index()
	if err := index.Update(ctx, catalog); err != nil { // which keeps it for the next search
		return err
	}
	result, err := index.Search(ctx, catalog, search.Query{
		Text: query, Alternatives: c.alternatives, Person: true, Keep: keep, Boost: server.Boost(v.Exposed, s.Uses(ctx)),
	})
	if err != nil {
		return err
	}
	for _, h := range result.Hits[:min(c.limit, len(result.Hits))] {
		found = append(found, matched{v.Listed(h.Skill), h.Why()})
	}
	if c.json {
		return c.printJSON(map[string]any{"skills": found, "doubtful": result.Doubtful, "more": result.Total - len(found)})
	}
	return c.print(result, found)
}

func (c *searchCommand) print(result search.Result, found []matched) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(c.stderr, "no skill matches; list names them all")
		return err
	}
	if result.Doubtful {
		fmt.Fprintln(c.stderr, "probably no skill fits; these are the nearest")
	}
	screen := terminal.Of(c.stdout)
	for _, s := range found {
		if err := s.print(c.stdout, screen); err != nil {
			return err
		}
	}
	if more := result.Total - len(found); more > 0 {
		fmt.Fprintf(c.stderr, "%d more; --limit prints more of them\n", more)
	}
	return nil
}

// runClawHub asks the ClawHub registry of the configuration. The answer is a stranger's.
func (c *searchCommand) runClawHub(ctx context.Context, query string) error {
	switch {
	case c.limit < 1:
		return exitcode.Usage(fmt.Errorf("--limit is %d; write 1 or more", c.limit))
	case len(c.alternatives) > 0 || c.source != "":
		return exitcode.Usage(errors.New("--or and --source are for your own skills; leave them out with --clawhub"))
	}
	s, err := c.settings()
	if err != nil {
		return err
	}
	hits, err := s.SearchClawHub(ctx, query, c.limit)
	if err != nil {
		return errors.New(plain.Visible(err.Error()))
	}
	err = listing[clawhub.Hit]{
		key: "skills", none: "no skill of ClawHub matches; try other words",
		headings: "SOURCE\tVERSION\tDOWNLOADS\tDESCRIPTION", optional: []string{"DOWNLOADS", "VERSION"},
		row: func(hit clawhub.Hit) string {
			return fmt.Sprintf("clawhub:%s\t%s\t%d\t%s", plain.Visible(hit.Name), plain.Visible(hit.Version), hit.Downloads, plain.Flat(hit.Summary))
		},
	}.print(c.app, c.json, hits)
	if !c.json && len(hits) > 0 {
		fmt.Fprintln(c.stderr, "to look at one: skills-mcp install SOURCE --dry-run")
	}
	return err
}

// print writes the skill in two lines, with further ones for a state that is not ready and
// for why it was found.
func (m matched) print(w io.Writer, screen terminal.Screen) error {
	most := 160
	if screen.Width > 0 {
		most = max(20, screen.Width-4)
	}
	lines := []string{screen.Paint(terminal.Bold, m.Name), "    " + plain.OneLine(m.Description, most)}
	if m.State != "ready" {
		state, _, _ := strings.Cut(m.State, " ")
		lines = append(lines, "    "+screen.Paint(terminal.Tone(strings.TrimSuffix(state, ":")), plain.OneLine(m.State, most)))
	}
	if why := plain.OneLine(m.Why, most); why != "" {
		lines = append(lines, "    "+why)
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}
