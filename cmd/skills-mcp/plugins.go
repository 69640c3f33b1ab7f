package main

import (
	"context"
	"fmt"
	"io"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/spf13/cobra"
)

// pluginsCommand lists the plugins.
type pluginsCommand struct {
	*app
	json bool
}

func newPluginsCommand(a *app) *cobra.Command {
	c := &pluginsCommand{app: a}
	cmd := &cobra.Command{
		Use:     "plugins",
		Short:   "List the plugins that skills come from",
		Long:    "List the plugins that skills come from, and how many skills and agents each has.\nWith --json also their agents, hooks and MCP servers, none of which is run.",
		Example: "  skills-mcp plugins --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

func (c *pluginsCommand) run(ctx context.Context) error {
	_, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]any{"plugins": describe.Plugins(catalog)})
	}
	return terminal.Columns(c.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "NAME\tVERSION\tSOURCE\tSKILLS\tAGENTS\tDESCRIPTION")
		for _, p := range describe.Plugins(catalog) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", p.Name, plain.OneLine(p.Version, 40), report.Whose(p.Source, p.Untrusted), len(p.Skills), len(p.Agents), plain.Flat(p.Description))
		}
	}, "AGENTS", "SKILLS", "SOURCE", "VERSION")
}
