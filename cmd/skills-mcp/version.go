package main

import (
	"fmt"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/spf13/cobra"
)

// versionCommand prints how the program was built.
type versionCommand struct {
	*app
	json bool
}

func newVersionCommand(a *app) *cobra.Command {
	c := &versionCommand{app: a}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the protocol revisions",
		Example: "  skills-mcp version --json",
		RunE:    func(*cobra.Command, []string) error { return c.run() },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	return cmd
}

func (c *versionCommand) run() error {
	if c.json {
		return c.printJSON(build.Read())
	}
	_, err := fmt.Fprint(c.stdout, build.Read())
	return err
}
