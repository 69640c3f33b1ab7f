package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/invocation"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/review"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/spf13/cobra"
)

// checkCommand checks skills and plugins.
type checkCommand struct {
	*app
	json, strict, fix bool
}

func newCheckCommand(a *app) *cobra.Command {
	c := &checkCommand{app: a}
	cmd := &cobra.Command{
		Use:   "check [PATH]...",
		Short: "Check skills and plugins, and say how to fix them",
		Long: `Check the skills and plugins at and below each PATH: a SKILL.md, a plugin.json,
a skill, a plugin, a folder of them, or a ZIP or tar.gz file with a skill;
without a PATH all that "list" loads.
Each problem is printed as "path:line:col: severity: message (how to fix it)".

An error is why a skill does not load or cannot run; a warning says that it does
otherwise than its author may expect; a note, that something is not honoured.

  --strict  the rules of the Agent Skills standard as well, each an error;
            warnings fail the check, too
  --fix     fix in the files at each PATH what is certain: quote a value with a
            colon, write the name as the standard wants it, and take a byte order
            mark and Windows line ends out of the frontmatter; then check what is
            left

Exits with 0 when all is fine, 1 when there are errors, and 2 when it was called
in a wrong way.`,
		Example: "  skills-mcp check .claude/skills\n  skills-mcp check --strict --fix my-skill/SKILL.md",
		RunE:    with(c.settings, c.run),
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print the problems as a JSON array")
	cmd.Flags().BoolVar(&c.strict, "strict", false, "check the rules of the Agent Skills standard as well, and let warnings fail")
	cmd.Flags().BoolVar(&c.fix, "fix", false, "fix in the files what is certain")
	return cmd
}

func (c *checkCommand) run(ctx context.Context, s *setup.Settings, paths []string) error {
	if c.fix && len(paths) == 0 {
		return exitcode.Usage(errors.New("--fix changes files, so name them: skills-mcp check --fix PATH"))
	}
	catalogs, err := checkPaths(ctx, s, paths)
	if err != nil {
		return err
	}
	repairs := review.FindRepairs(catalogs, c.strict)
	failed := false
	if c.fix {
		failed = c.repair(repairs)
		repairs = nil
		if catalogs, err = checkPaths(ctx, s, paths); err != nil {
			return err
		}
	}
	report := &review.CheckReport{Taken: invocation.Takes, Findings: map[string][]check.Finding{}, Strict: c.strict, Installs: s.Sandbox.Dependencies == config.DependenciesBuild}
	for _, catalog := range catalogs {
		report.Add(ctx, catalog)
	}
	report.AddRepairs(repairs)
	return c.finish(report, len(repairs), failed)
}

// finish prints a report and returns the exit code. repairable counts the files with
// problems that --fix corrects; failed is set if a correction was not written.
func (c *checkCommand) finish(report *review.CheckReport, repairable int, failed bool) error {
	found := report.Sorted()
	var err error
	if c.json {
		err = c.printJSON(found)
	} else {
		err = report.Print(c.stdout, c.stderr, found, repairable)
	}
	if err != nil {
		return err
	}
	if failed || review.NumberOf(found, skills.Error) > 0 || c.strict && review.NumberOf(found, skills.Warning) > 0 {
		return exitcode.Silent(exitcode.Failed)
	}
	return nil
}

// repair writes the repairs and prints them; on stderr if stdout is for machines.
func (c *checkCommand) repair(repairs []*check.Repair) (failed bool) {
	out := c.stdout
	if c.json {
		out = c.stderr
	}
	return review.WriteRepairs(repairs, out, c.stderr)
}

// checkPaths returns a catalog for each path, or without paths one of the roots.
func checkPaths(ctx context.Context, s *setup.Settings, paths []string) ([]*skills.Catalog, error) {
	if len(paths) == 0 {
		catalog, err := s.Scan(ctx)
		return []*skills.Catalog{catalog}, err
	}
	var catalogs []*skills.Catalog
	for _, path := range paths {
		catalog, err := checkPath(ctx, s, path)
		if err != nil {
			return nil, exitcode.Usage(err)
		}
		catalogs = append(catalogs, catalog)
	}
	return catalogs, nil
}

// checkPath returns a catalog of the skills and plugins at path.
func checkPath(ctx context.Context, s *setup.Settings, path string) (*skills.Catalog, error) {
	at, err := review.FindTarget(path)
	if err != nil {
		return nil, err
	}
	catalog, err := scan.Scan(ctx, at.Roots(), s.Roots.ScanOptions())
	if err != nil {
		return nil, err
	}
	catalog = s.Gate.Apply(at.Only(catalog))
	if len(catalog.Skills) == 0 && len(catalog.Plugins) == 0 && len(catalog.Problems) == 0 {
		return nil, fmt.Errorf("there is no skill and no plugin at %s", path)
	}
	return catalog, nil
}
