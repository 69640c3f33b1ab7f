package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

func (a *app) listCommand() *cobra.Command {
	var source string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every skill there is, and whether it is ready",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if source != "" && !slices.Contains(skills.Sources(), skills.Source(source)) {
				return usageError(fmt.Errorf("--source is %q; write one of session, user, system, extra", source))
			}
			s, catalog, err := a.learned(cmd.Context())
			if err != nil {
				return err
			}
			found := listAll(s.view(cmd.Context(), catalog), skills.Source(source))
			if asJSON {
				return a.printJSON(map[string]any{"skills": found, "agents": describe.Agents(catalog), "problems": nonNil(slices.Concat(catalog.Problems, catalog.Taken()))})
			}
			if err := a.printTable(found); err != nil {
				return err
			}
			a.hintProblems(catalog)
			a.hintTaken(catalog)
			return nil
		},
	}
	cmd.Flags().StringVar(&source, "source", "", "only skills of `SOURCE`: session (the project), user, system or extra")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	complete(cmd, "source", []string{"session", "user", "system", "extra"})
	a.exposeFlag(cmd)
	return cmd
}

// listAll describes the skills that count and those that are shadowed.
func listAll(v *describe.View, source skills.Source) []describe.Listed {
	found := []describe.Listed{}
	for _, first := range []bool{true, false} { // those that the workspace has files for
		for _, skill := range v.Catalog.Skills {
			if v.Exposed.Active(skill) == first && (source == "" || skill.Source == source) {
				found = append(found, v.Listed(skill))
			}
		}
	}
	for _, shadow := range v.Shadowed {
		if source == "" || shadow.Skill.Source == source {
			hidden := v.Listed(shadow.Skill)
			hidden.Hide(shadow)
			found = append(found, hidden)
		}
	}
	return found
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (a *app) printTable(found []describe.Listed) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(a.stderr, "no skills found; doctor says where they are looked for")
		return err
	}
	return table(a.stdout, func(w io.Writer) {
		reached, reach := "", func(describe.Listed) string { return "" }
		if slices.ContainsFunc(found, func(s describe.Listed) bool { return s.Reach == exposure.BySearch }) {
			reached, reach = "REACHED BY\t", func(s describe.Listed) string { return fmt.Sprintf("%s: %s\t", s.Reach, s.Why) }
		}
		grouped, group := "", func(describe.Listed) string { return "" }
		if slices.ContainsFunc(found, func(s describe.Listed) bool { return s.Category != "" }) {
			grouped, group = "CATEGORY\t", func(s describe.Listed) string { return oneLine(s.Category, 40) + "\t" }
			found = slices.Clone(found)
			slices.SortStableFunc(found, func(a, b describe.Listed) int { return cmp.Compare(a.Category, b.Category) })
		}
		fmt.Fprintln(w, "NAME\tTOOL\tSOURCE\tCLASS\tKIND\t"+grouped+reached+"STATE")
		for _, s := range found {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s%s%s\n", s.Name, s.Tool, s.Source, s.Class, s.Kind, group(s), reach(s), flat(s.State))
		}
	})
}

// table aligns the columns that rows writes, separated by tabs.
func table(w io.Writer, rows func(w io.Writer)) error {
	aligned := tabwriter.NewWriter(termtext.NewWriter(w), 0, 0, 2, ' ', 0)
	rows(aligned)
	return aligned.Flush()
}

// hintProblems says what did not load: it may be what somebody misses.
func (a *app) hintProblems(catalog *skills.Catalog) {
	for _, p := range catalog.Problems {
		if p.Severity == skills.Error {
			fmt.Fprintln(a.stderr, p)
		}
	}
}

// hintTaken says which of the person's skills and plugins a workspace hides.
func (a *app) hintTaken(catalog *skills.Catalog) {
	for _, p := range catalog.Taken() {
		fmt.Fprintln(a.stderr, p)
	}
}

func (a *app) searchCommand() *cobra.Command {
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find skills by words of their name and description",
		Long:  "Find the skills in which every word of QUERY occurs, best first: a word in the\nname counts most, then one in the description.",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usageError(fmt.Errorf("--limit is %d; write 1 or more", limit))
			}
			s, catalog, err := a.catalog(cmd.Context())
			if err != nil {
				return err
			}
			v := s.view(cmd.Context(), catalog)
			found := []describe.Listed{}
			for _, skill := range catalog.Search(joinWords(args)) {
				found = append(found, v.Listed(skill))
			}
			found = found[:min(limit, len(found))]
			if asJSON {
				return a.printJSON(map[string]any{"skills": found})
			}
			return a.printFound(found)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 10, "print at most `N` skills")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) printFound(found []describe.Listed) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(a.stderr, "no skill matches; list names them all")
		return err
	}
	for _, s := range found {
		if _, err := fmt.Fprintf(a.stdout, "%s\n    %s\n", s.Name, oneLine(s.Description, 160)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) pluginsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "List the plugins that skills come from",
		Long:  "List the plugins that skills come from, and how many skills and agents each has.\nWith --json also their agents, hooks and MCP servers, none of which is run.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, catalog, err := a.catalog(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(map[string]any{"plugins": describe.Plugins(catalog)})
			}
			a.hintTaken(catalog)
			return table(a.stdout, func(w io.Writer) {
				fmt.Fprintln(w, "NAME\tVERSION\tSOURCE\tSKILLS\tAGENTS\tDESCRIPTION")
				for _, p := range describe.Plugins(catalog) {
					fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", p.Name, oneLine(p.Version, 40), p.Source, len(p.Skills), len(p.Agents), oneLine(p.Description, 60))
				}
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
