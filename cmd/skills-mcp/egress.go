package main

import (
	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// egressCommand is what a driver runs inside of a container, where this program
// is for that alone.
func (a *app) egressCommand() *cobra.Command {
	return &cobra.Command{
		Use:    egress.Command + " [ADDRESS]",
		Short:  "Forward a sandbox's connections over standard input and output",
		Args:   cobra.MaximumNArgs(1),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			var address string
			if len(args) > 0 {
				address = args[0]
			}
			return egress.Main(cmd.Context(), address, a.stdin, a.stdout)
		},
	}
}
