package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
)

func (a *app) checkCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [PATH]...",
		Short: "Check skills and plugins, and say how to mend them",
		Long: `Check the skills and plugins at and below each PATH: a SKILL.md, a skill, a
plugin, or a folder of them; the current folder without a PATH. Each problem is
printed as "path:line: severity: message (how to mend it)". Exits with 1 when
there are errors.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			s, err := a.settings()
			if err != nil {
				return err
			}
			return a.check(cmd.Context(), s, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checked is the output of check --json.
type checked struct {
	Skills   int              `json:"skills"`
	Plugins  int              `json:"plugins"`
	Errors   int              `json:"errors"`
	Warnings int              `json:"warnings"`
	Problems []skills.Problem `json:"problems"`
}

func (a *app) check(ctx context.Context, s *settings, paths []string, asJSON bool) error {
	total := checked{Problems: []skills.Problem{}}
	for _, path := range paths {
		catalog, err := s.checkPath(ctx, path)
		if err != nil {
			return usage(err)
		}
		total.add(catalog)
		total.addDependencies(catalog, s.Sandbox.Dependencies == config.DependenciesBuild)
	}
	if asJSON {
		if err := a.printJSON(total); err != nil {
			return err
		}
	} else {
		for _, p := range total.Problems {
			fmt.Fprintln(a.stdout, p)
		}
		fmt.Fprintf(a.stderr, "%s, %s: %s, %s\n", count(total.Skills, "skill"), count(total.Plugins, "plugin"), count(total.Errors, "error"), count(total.Warnings, "warning"))
	}
	if total.Errors > 0 {
		return &exitError{exitFailed, nil}
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// checkPath reads what is at path, and nothing else.
func (s *settings) checkPath(ctx context.Context, path string) (*skills.Catalog, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		path = filepath.Dir(path)
	}
	// Plugins first: their skills are theirs, and the rest is found beside them.
	roots := []skills.Root{
		{Source: skills.SourceExtra, Dir: path, Plugins: true},
		{Source: skills.SourceExtra, Dir: path},
	}
	catalog, err := skills.Scan(ctx, roots, s.scanOptions())
	if err != nil {
		return nil, err
	}
	catalog = s.gate.Apply(catalog)
	if len(catalog.Skills) == 0 && len(catalog.Problems) == 0 {
		return nil, fmt.Errorf("there is no skill and no plugin at %s", path)
	}
	return catalog, nil
}

func (c *checked) add(catalog *skills.Catalog) {
	c.Skills += len(catalog.Skills)
	c.Plugins += len(catalog.Plugins)
	c.report(catalog.Problems...)
}

// addDependencies notes which skills declare packages, which are installed where
// installs says so.
func (c *checked) addDependencies(catalog *skills.Catalog, installs bool) {
	for _, skill := range catalog.Skills {
		declared, problem := declaredBy(skill)
		if problem != nil {
			c.report(*problem)
		}
		if len(declared) == 0 {
			continue
		}
		note := skills.Problem{Severity: skills.Note, Path: skill.File, Message: "it declares " + dependencies.Summary(declared) + ": installed at its first run"}
		if !installs {
			note.Message = "it declares " + dependencies.Summary(declared) + ": not installed"
			note.Remedy = "set sandbox.dependencies: build, or use an image that has them"
		}
		c.report(note)
	}
}

func (c *checked) report(problems ...skills.Problem) {
	c.Problems = append(c.Problems, problems...)
	for _, p := range problems {
		switch p.Severity {
		case skills.Error:
			c.Errors++
		case skills.Warning:
			c.Warnings++
		}
	}
}
