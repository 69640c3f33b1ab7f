package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/review"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check"
	"github.com/skillsmcp/skills-mcp/skills/install/oci"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/spf13/cobra"
)

// pushCommand publishes a skill in an OCI registry.
type pushCommand struct {
	*app
	json             bool
	source, revision string
}

func newPushCommand(a *app) *cobra.Command {
	c := &pushCommand{app: a}
	cmd := &cobra.Command{
		Use:   "push DIR oci://REGISTRY/NAME[:TAG]",
		Short: "Publish a skill in an OCI registry",
		Long: `Check the skill in DIR as "check --strict" does, and publish it in an OCI registry as
an artifact of the Agent Skills community (application/vnd.agentskills.skill.v1), which
"install" and the tools of others fetch. Prints the digest, by which the version can be
fetched for ever: the same files and tag have the same one. .git is left out.

Credentials are those of Docker: run "docker login REGISTRY" first. A registry of this
machine may be without TLS.`,
		Example: "  skills-mcp push ./pdf oci://ghcr.io/OWNER/skills/pdf:1.2.0",
		RunE:    with(c.settings, c.run),
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&c.source, "source", "", "`URL` of the repository where the skill is developed")
	cmd.Flags().StringVar(&c.revision, "revision", "", "`COMMIT` of that repository")
	return cmd
}

func (c *pushCommand) run(ctx context.Context, s *setup.Settings, args []string) error {
	dir, to := args[0], args[1]
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	target, err := source.Parse(to, cwd)
	if err == nil && target.Kind != source.OCI {
		err = errors.New("write oci://REGISTRY/NAME:TAG")
	}
	if err != nil {
		return exitcode.Usage(fmt.Errorf("%s: %w", plain.Visible(to), err))
	}
	skill, err := c.checked(ctx, s, dir)
	if err != nil {
		return err
	}
	client := setup.NewDownloadClient()
	defer client.Close()
	pushed, err := setup.NewOCIFetcher(s.Home, client).Push(ctx, skillfs.DirFS(skill.Dir), target, c.describe(skill))
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(struct {
			Source string `json:"source"` // to install what was pushed, whatever becomes of the tag
			*oci.Pushed
		}{"oci://" + target.Location + "@" + pushed.Digest, pushed})
	}
	_, err = fmt.Fprintf(c.stdout, "pushed %s in %s, %s, to %s\n%s\n", plain.Visible(skill.Name), plain.Count(pushed.Files, "file"), sandbox.Bytes(pushed.Size), target, pushed.Digest)
	return err
}

// checked returns the skill of a folder if nothing is wrong with it. Problems are printed.
func (c *pushCommand) checked(ctx context.Context, s *setup.Settings, dir string) (*skills.Skill, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(absolute); err != nil || !info.IsDir() {
		return nil, exitcode.Usage(fmt.Errorf("%s is no folder", dir))
	}
	catalog, err := checkPath(ctx, s, absolute)
	if err != nil {
		return nil, exitcode.Usage(err)
	}
	report := &review.CheckReport{Findings: map[string][]check.Finding{}, Strict: true, Installs: s.Sandbox.Dependencies == config.DependenciesBuild}
	report.Add(ctx, catalog)
	found := report.Sorted()
	if review.NumberOf(found, skills.Error) > 0 {
		if err := report.Print(c.stderr, c.stderr, found, 0); err != nil {
			return nil, err
		}
		return nil, &exitcode.Error{Code: exitcode.Failed, Err: errors.New("nothing was pushed")}
	}
	var own []*skills.Skill
	for _, skill := range review.EverySkill(catalog) {
		if skill.Of == nil && review.IsSkillFile(skill.File) && skillfs.Resolved(skill.Dir) == skillfs.Resolved(absolute) {
			own = append(own, skill)
		}
	}
	if len(own) != 1 {
		return nil, exitcode.Usage(fmt.Errorf("%s has no SKILL.md; name the folder of one skill", dir))
	}
	return own[0], nil
}

// describe returns the metadata that registries show.
func (c *pushCommand) describe(skill *skills.Skill) oci.Description {
	d := oci.Description{Name: skill.Name, Description: skill.Description, Source: c.source, Revision: c.revision}
	text := func(key string) string {
		value, _ := skill.Frontmatter[key].(string)
		return value
	}
	d.License, d.Compatibility = text("license"), text("compatibility")
	d.Metadata, _ = skill.Frontmatter["metadata"].(map[string]any)
	version, _ := d.Metadata["version"].(string)
	d.Version = cmp.Or(text("version"), version)
	d.AllowedTools = strings.Fields(text("allowed-tools"))
	return d
}
