package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker"
	"github.com/spf13/cobra"
)

// imageCommand manages the images that skills run in.
type imageCommand struct{ *app }

func newImageCommand(a *app) *cobra.Command {
	c := &imageCommand{a}
	cmd := &cobra.Command{
		Use:   "image",
		Short: "List, pull, build and prune the images that skills run in",
		Long: `List, pull, build and prune the images that the docker driver runs skills in.
Which image a role has is the setting "images" of the configuration.`,
		Example: "  skills-mcp image list",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.list(), c.pull(), c.build(), c.prune())
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

// images is the output of image list --json.
type images struct {
	Images []docker.Image `json:"images"`
	Layers []docker.Layer `json:"layers"`
}

func (c *imageCommand) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the image of each role, and whether it is there",
		Long: `List the image of each role, whether the Docker engine has it, and the layers
with packages that skills declare, which were made from these images.`,
		Example: "  skills-mcp image list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withDocker(func(_ *setup.Settings, d *docker.Driver) error {
				found, err := d.Images(cmd.Context())
				if err != nil {
					return err
				}
				layers, err := d.Layers(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return c.printJSON(images{plain.NonNil(found), plain.NonNil(layers)})
				}
				if err := c.printImages(found); err != nil || len(layers) == 0 {
					return err
				}
				fmt.Fprintln(c.stdout)
				return c.printLayers(layers)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *imageCommand) printImages(found []docker.Image) error {
	return terminal.Columns(c.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "ROLE\tIMAGE\tSTATE\tID\tSIZE\tCREATED")
		for _, i := range found {
			if !i.Here {
				fmt.Fprintf(w, "%s\t%s\tnot there\t\t\t\n", i.Role, i.Ref)
				continue
			}
			fmt.Fprintf(w, "%s\t%s\tready\t%s\t%s\t%s\n", i.Role, i.Ref, shortID(i.ID), sandbox.Bytes(i.Size), plain.Day(i.Created))
		}
	}, "CREATED", "ID", "SIZE")
}

func (c *imageCommand) printLayers(layers []docker.Layer) error {
	return terminal.Columns(c.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "LAYER\tFROM\tID\tSIZE\tUSED\tPACKAGES")
		for _, l := range layers {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s: %s\n", l.Ref, l.Base, shortID(l.ID), sandbox.Bytes(l.Size), plain.Day(l.Used), l.Kind, plain.OneLine(l.Packages, 60))
		}
	}, "USED", "FROM", "ID", "SIZE")
}

// shortID returns the short form of an image's id that docker's tools print.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(12, len(id))]
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
		Args:    cobra.NoArgs,
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
		Args:    cobra.NoArgs,
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
