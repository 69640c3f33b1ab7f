package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/skills/scaffold"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/spf13/cobra"
)

// initCommand makes a new skill.
type initCommand struct {
	*app
	language, dir string
}

func newInitCommand(a *app) *cobra.Command {
	c := &initCommand{app: a}
	cmd := &cobra.Command{
		Use:   "init NAME",
		Short: "Make a new skill to begin with, which runs as it is",
		Long: `Make the folder NAME with a new skill: a SKILL.md with typed parameters, and a
script in bash, Python or Node.js that reads them. Nothing is overwritten. NAME is
1 to 64 of a-z, 0-9 and single hyphens between them.

The new skill passes "check". "check --strict" names its keys script, params and
sandbox_image_role, which the Agent Skills standard does not have and without which
there would be nothing to run.`,
		Example: "  skills-mcp init my-skill --lang python --dir .claude/skills",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: with(c.settings, c.run),
	}
	cmd.Flags().StringVar(&c.language, "lang", "bash", "write the script in `LANGUAGE`: "+strings.Join(scaffold.Languages(), ", "))
	cmd.Flags().StringVar(&c.dir, "dir", ".", "make the skill's folder in `DIR`")
	complete(cmd, "lang", scaffold.Languages())
	return cmd
}

func (c *initCommand) run(_ context.Context, s *setup.Settings, args []string) error {
	name := args[0]
	if _, err := scaffold.Files(name, c.language); err != nil {
		return exitcode.Usage(err)
	}
	folder := filepath.Join(c.dir, name)
	files, err := scaffold.Write(c.dir, name, c.language)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; choose another name, or another folder with --dir", folder)
	}
	if err != nil {
		return fmt.Errorf("make a skill: %w", err)
	}
	fmt.Fprintf(c.stdout, "Made the skill %s:\n", name)
	for _, file := range files {
		fmt.Fprintln(c.stdout, "  "+filepath.Join(folder, filepath.FromSlash(file.Name)))
	}
	return c.printNext(name, folder, s.Roots.List())
}

// printNext prints commands to run and check a new skill in folder.
func (c *initCommand) printNext(name, folder string, roots []scan.Root) error {
	program := []string{"skills-mcp"}
	if !finds(roots, folder) {
		program = append(program, "--skills", folder)
	}
	run := slices.Concat(program, []string{"run", name, "--text", "hello", "--times", "2"})
	_, err := fmt.Fprintf(c.stdout, "\nRun it, make it yours, and check it:\n  %s\n  %s\n", plain.QuoteWords(run), plain.QuoteWords([]string{"skills-mcp", "check", folder}))
	return err
}

// finds reports whether a scan of roots finds a skill in folder.
func finds(roots []scan.Root, folder string) bool {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		absolute = real
	}
	for _, root := range roots {
		if dir, err := filepath.EvalSymlinks(root.Dir); err == nil && root.Dir != "" && !root.Plugins && skillfs.Inside(dir, absolute) {
			return true
		}
	}
	return false
}
