package main

import (
	"context"
	"fmt"
	"io"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/diagnosis"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/spf13/cobra"
)

// doctorCommand prints a diagnosis of the machine.
type doctorCommand struct {
	*app
	json bool
}

func newDoctorCommand(a *app) *cobra.Command {
	c := &doctorCommand{app: a}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works here and what does not, and how to fix it",
		Long: `Look at everything that skills need: the configuration, the folders they are
found in, the workspace, the Docker engine with its images, and the native
sandbox, in which a tiny command is run as a skill would be. Nothing is pulled.
Exits with 1 when skills cannot be run.`,
		Example: "  skills-mcp doctor --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	a.exposeFlag(cmd)
	return cmd
}

func (c *doctorCommand) run(ctx context.Context) error {
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	s.Sandboxes.Single = true
	sections, err := diagnosis.Sections(ctx, s, catalog)
	if err != nil {
		return err
	}
	if c.json {
		if err := c.printJSON(sections); err != nil {
			return err
		}
	} else {
		c.print(sections)
	}
	if !sections[len(sections)-1].Works() { // the verdict
		return exitcode.Silent(exitcode.Failed)
	}
	return nil
}

func (c *doctorCommand) print(sections []diagnosis.Section) {
	marks := map[sandbox.Level]string{sandbox.LevelOK: "ok  ", sandbox.LevelWarning: "warn", sandbox.LevelFailed: "FAIL"}
	for i, s := range sections {
		if i > 0 {
			fmt.Fprintln(c.stdout)
		}
		fmt.Fprintln(c.stdout, s.Name)
		_ = terminal.Facts(c.stdout, func(w io.Writer) {
			for _, f := range s.Findings {
				line := f.Detail
				if f.Remedy != "" {
					line += " → " + f.Remedy
				}
				fmt.Fprintf(w, "  %s\t%s\t%s\n", marks[f.Level], f.Subject, plain.Visible(line))
			}
		})
	}
}
