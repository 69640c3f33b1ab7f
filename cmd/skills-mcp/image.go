package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/spf13/cobra"
)

// imageCommand manages the images that skills run in.
type imageCommand struct{ *app }

func newImageCommand(a *app) *cobra.Command {
	c := &imageCommand{a}
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Pull, build and prune the images that skills run in",
		Long: `Pull, build and prune the images that the docker driver runs skills in. Which image
a role has is the setting "images" of the configuration; doctor says whether it is there.`,
		Example: "  skills-mcp image pull",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.pull(), c.build(), c.prune())
	return cmd
}

// withDocker calls do with a docker driver, whichever driver runs skills.
func (c *imageCommand) withDocker(do func(*setup.Settings, *docker.Driver) error) (err error) {
	s, err := c.settings()
	if err != nil {
		return err
	}
	d := s.Sandboxes.Docker()
	defer func() { err = errors.Join(err, d.Close()) }()
	return do(s, d)
}

func (c *imageCommand) pull() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pull [ROLE]...",
		Short: "Pull the images of roles",
		Long: `Pull the image of each ROLE, or of all roles, so that no call has to wait for
it. An image that is there already is brought up to date. When one cannot be
pulled the others are still tried, and the exit code is 1.`,
		Example:           "  skills-mcp image pull default node",
		ValidArgsFunction: c.completeRoles,
		RunE: func(cmd *cobra.Command, roles []string) error {
			return c.withDocker(func(s *setup.Settings, d *docker.Driver) error {
				if len(roles) == 0 {
					roles = slices.Sorted(maps.Keys(s.Images))
				}
				for _, role := range roles {
					if s.Images[role] == "" {
						return exitcode.Usage(fmt.Errorf("no image is configured for the role %q; these roles have one: %s", role, strings.Join(slices.Sorted(maps.Keys(s.Images)), ", ")))
					}
				}
				return c.pullImages(cmd.Context(), s.Images, roles, d)
			})
		},
	}
	return cmd
}

// pullImages pulls the image of each role, once where roles share it.
func (c *imageCommand) pullImages(ctx context.Context, images map[string]string, roles []string, d *docker.Driver) error {
	seen := map[string]bool{}
	var failed bool
	for _, role := range roles {
		ref := images[role]
		if seen[ref] {
			continue
		}
		seen[ref] = true
		report, done := newProgress(c.stderr)
		err := d.Pull(ctx, role, report)
		done()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed = true
			fmt.Fprintln(c.stderr, "skills-mcp:", err)
			continue
		}
		fmt.Fprintf(c.stdout, "pulled %s\n", ref)
	}
	if failed {
		return exitcode.Silent(exitcode.Failed)
	}
	return nil
}

func (c *imageCommand) completeRoles(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := c.settings()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(s.Images)), cobra.ShellCompDirectiveNoFileComp
}

// fullImage is the default tag of the built image.
const fullImage = "skills-mcp-full"

func (c *imageCommand) build() *cobra.Command {
	var tag, base string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build an image with more programs than the default ones",
		Long: `Build an image that has what skills ask for beyond Python and a shell: bash,
coreutils, python3 with pip, node with npm, jq, curl, git and the certificates
of public authorities. The Docker engine builds it, and needs the network for
what BASE lacks. To use the image, name it in the configuration:

  images: {default: ` + fullImage + `, node: ` + fullImage + `}`,
		Example: "  skills-mcp image build --tag mine",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDocker(func(_ *setup.Settings, d *docker.Driver) error {
				if err := d.BuildImage(cmd.Context(), tag, base, c.stderr); err != nil {
					return err
				}
				_, err := fmt.Fprintf(c.stdout, "built %s; to use it, set in the configuration:\n\nimages: {default: %q, node: %q}\n", tag, tag, tag)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&tag, "tag", fullImage, "call the image `TAG`")
	cmd.Flags().StringVar(&base, "base", "", "build on `IMAGE`, of Debian's family (default node:22-bookworm-slim)")
	return cmd
}

func (c *imageCommand) prune() *cobra.Command {
	var unused time.Duration
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove the layers of packages that nobody uses any more",
		Long: `Remove the layers with packages that skills declare and that were not used for
a while. They are made again where a skill needs them. Images of roles, and
whatever else the Docker engine has, stay. The server does the same, with 30
days, whenever it makes a layer.`,
		Example: "  skills-mcp image prune --unused 168h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if unused < 0 {
				return exitcode.Usage(fmt.Errorf("--unused is %s; write 0s or more", unused))
			}
			return c.withDocker(func(_ *setup.Settings, d *docker.Driver) error {
				removed, err := d.Prune(cmd.Context(), unused)
				for _, layer := range removed {
					fmt.Fprintf(c.stdout, "removed %s\n", layer.Ref)
				}
				return err
			})
		},
	}
	cmd.Flags().DurationVar(&unused, "unused", docker.LayerUnused, "remove what was not used for this `TIME`")
	return cmd
}
