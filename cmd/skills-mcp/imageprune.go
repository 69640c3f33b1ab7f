package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/sandbox/docker"
)

func (a *app) imagePruneCommand() *cobra.Command {
	var unused time.Duration
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove the layers of packages that nobody uses any more",
		Long: `Remove the layers with packages that skills declare and that were not used for
a while. They are made again where a skill needs them. Images of roles, and
whatever else the Docker engine has, stay. The server does the same, with 30
days, whenever it makes a layer.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if unused < 0 {
				return usageError(fmt.Errorf("--unused is %s; write 0s or more", unused))
			}
			return a.withDocker(func(_ *settings, d *docker.Driver) error {
				removed, err := d.Prune(cmd.Context(), unused)
				for _, layer := range removed {
					fmt.Fprintf(a.stdout, "removed %s\n", layer.Ref)
				}
				return err
			})
		},
	}
	cmd.Flags().DurationVar(&unused, "unused", docker.LayerUnused, "remove what was not used for this `TIME`")
	return cmd
}
