package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/lookup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
	"github.com/spf13/cobra"
)

// scanCommand looks for harm in the files of skills.
type scanCommand struct {
	*app
	json, sarif bool
}

func newScanCommand(a *app) *cobra.Command {
	c := &scanCommand{app: a}
	cmd := &cobra.Command{
		Use:   "scan [NAME]...",
		Short: "Look for harm in the files of skills",
		Long: `Look for harm in every file of the skills with these names; without one, of all
skills: programs that are downloaded and run, keys that are read and sent, reverse
shells, miners, programs that start by themselves, texts that turn a model against
you, hidden characters.
Each finding is printed as "path:line: severity: reason [rule] (remedy)".

Harmless skills hardly have a critical finding, and some have a warning. The scan is
a hint: code that hides well enough is not found, and runs in the sandbox anyway.
scan.block in the configuration blocks the skills with findings.

Exits with 0 when there is no critical finding, 1 when there is one, and 2 when it
was called in a wrong way.`,
		Example:           "  skills-mcp scan pdf-tools\n  skills-mcp scan --skills ./skills --sarif > scan.sarif",
		ValidArgsFunction: a.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&c.sarif, "sarif", false, "print a SARIF 2.1.0 log, as code scanning services read it")
	return cmd
}

func (c *scanCommand) run(ctx context.Context, names []string) error {
	if c.json && c.sarif {
		return exitcode.Usage(errors.New("--json and --sarif exclude each other"))
	}
	s, catalog, err := c.catalog(ctx)
	if err != nil {
		return err
	}
	wanted := catalog.Skills
	if len(names) > 0 {
		wanted = nil
	}
	for _, name := range names {
		skill, _, err := lookup.Skill(catalog, name, s.Gate)
		if err != nil {
			return err
		}
		wanted = append(wanted, skill.Owner())
	}
	if err := s.Sandboxes.Verdicts.ScanAll(ctx, &skills.Catalog{Skills: wanted}, runtime.GOMAXPROCS(0)); err != nil {
		return err
	}
	all, code := []verdict.Scanned{}, error(nil)
	for _, skill := range wanted {
		if skill.Of != nil {
			continue
		}
		found := s.Sandboxes.Verdicts.Known(skill)
		if verdict.Worst(found) == verdict.Critical {
			code = exitcode.Silent(exitcode.Failed)
		}
		all = append(all, verdict.Scanned{Skill: skill.QualifiedName(), Dir: filepath.Dir(skill.File), Findings: found})
	}
	return cmp.Or(c.print(all), code)
}

func (c *scanCommand) print(all []verdict.Scanned) error {
	switch {
	case c.json:
		return c.printJSON(all)
	case c.sarif:
		base, err := os.Getwd()
		if err != nil {
			return err
		}
		return c.printJSON(verdict.SARIF(build.Read().Version, base, all))
	}
	screen, counts := terminal.Of(c.stdout), map[verdict.Severity]int{}
	tones := map[verdict.Severity]string{verdict.Critical: "error", verdict.Warning: "warning", verdict.Info: "note"}
	for _, one := range all {
		for _, f := range one.Findings {
			counts[f.Severity]++
			f.File = filepath.Join(one.Dir, filepath.FromSlash(f.File))
			severity := string(f.Severity)
			line := strings.Replace(f.String(), ": "+severity+": ", ": "+screen.Paint(terminal.Tone(tones[f.Severity]), severity)+": ", 1)
			if _, err := fmt.Fprintln(c.stdout, line); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(c.stderr, "%s: %d critical, %s, %d to look at\n", plain.Count(len(all), "skill"), counts[verdict.Critical], plain.Count(counts[verdict.Warning], "warning"), counts[verdict.Info])
	return err
}
