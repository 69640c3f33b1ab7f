package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/spf13/cobra"
)

// listCommand lists every skill.
type listCommand struct {
	*app
	source  string
	json    bool
	changed bool
}

func newListCommand(a *app) *cobra.Command {
	c := &listCommand{app: a}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every skill there is, and whether it is ready",
		Long: `List every skill there is, and whether it is ready. On a terminal with descriptions,
and only the columns that fit; elsewhere each column in full, and without descriptions,
which --json has.`,
		Example: "  skills-mcp list --changed",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&c.source, "source", "", "only skills of `SOURCE`: session (the project), user, system or extra")
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	complete(cmd, "source", []string{"session", "user", "system", "extra"})
	cmd.Flags().BoolVar(&c.changed, "changed", false, "only skills whose files have changed since they were accepted, with what they gained")
	a.exposeFlag(cmd)
	return cmd
}

func (c *listCommand) run(ctx context.Context) error {
	if c.source != "" && !slices.Contains(skills.Sources(), skills.Source(c.source)) {
		return exitcode.Usage(fmt.Errorf("--source is %q; write one of session, user, system, extra", c.source))
	}
	if c.changed {
		s, catalog, err := c.catalog(ctx)
		if err != nil {
			return err
		}
		return c.printChanged(ctx, s, catalog, c.json)
	}
	s, catalog, err := c.learned(ctx)
	if err != nil {
		return err
	}
	catalog = setup.Decided(ctx, s, catalog)
	view := s.View(ctx, catalog)
	if c.json {
		view.Installed = s.Machine.Origins()
		found := listAll(ctx, view, skills.Source(c.source))
		return c.printJSON(map[string]any{"skills": found, "agents": describe.Agents(catalog), "problems": append([]skills.Problem{}, catalog.Problems...)})
	}
	view.Installed = nil
	found := listAll(ctx, view, skills.Source(c.source))
	if err := c.print(found); err != nil {
		return err
	}
	if at := slices.IndexFunc(found, func(s describe.Listed) bool { return len(s.Requests) > 0 }); at >= 0 {
		fmt.Fprintf(c.stderr, "%s: %s (show NAME says it of others)\n", found[at].Name, found[at].Requests[0].Remedy)
	}
	c.hintProblems(catalog)
	return nil
}

// listAll describes the skills of the catalog, then the shadowed ones.
func listAll(ctx context.Context, v *describe.View, source skills.Source) []describe.Listed {
	found := []describe.Listed{}
	list := func(skill *skills.Skill) describe.Listed {
		listed := v.Listed(skill)
		if v.Installed != nil {
			listed.Installed = v.Installed(ctx, skill)
		}
		return listed
	}
	for _, first := range []bool{true, false} { // those that the workspace has files for
		for _, skill := range v.Catalog.Skills {
			if v.Exposed.Active(skill) == first && (source == "" || skill.Source == source) {
				found = append(found, list(skill))
			}
		}
	}
	for _, shadow := range v.Shadowed {
		if source == "" || shadow.Skill.Source == source {
			hidden := list(shadow.Skill)
			hidden.Hide(shadow)
			found = append(found, hidden)
		}
	}
	return found
}

func (c *listCommand) print(found []describe.Listed) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(c.stderr, "no skills found; doctor says where they are looked for")
		return err
	}
	return terminal.Columns(c.stdout, func(w io.Writer) {
		reached, reach := "", func(describe.Listed) string { return "" }
		if slices.ContainsFunc(found, func(s describe.Listed) bool { return s.Reach == exposure.BySearch }) {
			reached, reach = "REACHED BY\t", func(s describe.Listed) string { return fmt.Sprintf("%s: %s\t", s.Reach, s.Why) }
		}
		grouped, group := "", func(describe.Listed) string { return "" }
		if slices.ContainsFunc(found, func(s describe.Listed) bool { return s.Category != "" }) {
			grouped, group = "CATEGORY\t", func(s describe.Listed) string { return plain.OneLine(s.Category, 40) + "\t" }
			found = slices.Clone(found)
			slices.SortStableFunc(found, func(a, b describe.Listed) int { return cmp.Compare(a.Category, b.Category) })
		}
		described, state := "", flagged
		if isTerminal(c.stdout) {
			described, state = "\tDESCRIPTION", stateAndDescription
		}
		fmt.Fprintln(w, "NAME\tTOOL\tSOURCE\tCLASS\tKIND\t"+grouped+reached+"STATE"+described)
		for _, s := range found {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s%s%s\n", s.Name, s.Tool, report.Whose(s.Source, s.Untrusted), s.Class, s.Kind, group(s), reach(s), state(s))
		}
	}, "TOOL", "KIND", "SOURCE", "REACHED BY", "CATEGORY", "CLASS")
}

// flagged returns a skill's state, the secret that it misses, and what the last scan of its
// files found.
func flagged(s describe.Listed) string {
	state := plain.Flat(s.State)
	if len(s.Requests) > 0 && (strings.HasPrefix(state, "ready") || strings.HasPrefix(state, "needs")) {
		state += "; " + s.Requests[0].Message
	}
	if s.Scan != "" {
		state += "; scan: " + s.Scan
	}
	return state
}

// stateAndDescription returns the cells of a skill's state, in few words, and of what
// else is known of it, in as many as there is room for.
func stateAndDescription(s describe.Listed) string {
	state, why, found := strings.Cut(flagged(s), ": ")
	if by, shadowed := strings.CutPrefix(state, "shadowed "); shadowed {
		state, why, found = "shadowed", by, true
	}
	if found {
		why += " · "
	}
	return state + "\t" + why + plain.Flat(s.Description)
}
