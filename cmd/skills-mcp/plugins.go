package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
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
		Long:    "List the plugins that skills come from, and how many skills, agents and hooks each has.\nEach MCP server of a plugin is a skill PLUGIN/SERVER, which runs in a sandbox;\nPLUGIN/tools is the code of a plugin of Conduit's.\nPLUGIN/hooks has its hooks: skills-mcp show PLUGIN/hooks lists them with their IDs.\nWith --json also their agents, hooks and MCP servers.",
		Example: "  skills-mcp plugins --json",
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
	return listing[describe.Plugin]{
		key: "plugins", headings: "NAME\tVERSION\tSOURCE\tSKILLS\tAGENTS\tHOOKS\tDESCRIPTION", optional: []string{"HOOKS", "AGENTS", "SKILLS", "SOURCE", "VERSION"},
		row: func(p describe.Plugin) string {
			return fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%d\t%s", p.Name, plain.OneLine(p.Version, 40), report.Whose(p.Source, p.Untrusted), len(p.Skills), len(p.Agents), len(p.Hooks), plain.Flat(strings.TrimSuffix(strings.Join(append(p.Faults, p.Description), "; "), "; ")))
		},
	}.print(c.app, c.json, describe.Plugins(catalog))
}
