package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// trustCommand trusts a workspace.
type trustCommand struct {
	*app
	list, json bool
}

func newTrustCommand(a *app) *cobra.Command {
	c := &trustCommand{app: a}
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Trust the skills of a workspace",
		Long: `Trust the skills of a workspace: those of the folder DIR, or of the current one.

Skills of a workspace that you do not trust, such as a repository that you have
cloned, are listed and run, as long as they need nothing but to read its files.
They get no variable, host or approval, and no name of another skill: where one
could be mistaken for yours, it is workspace/NAME. In a trusted workspace its
skills come first, ask for what they need like your own, and may take names.

This shows the skills of the workspace, what they ask for and whose names they
would take, and asks you on the terminal. Running servers follow at once.

The folder is trusted, not its path: a folder that is put in its place, or a link,
is not, and neither are the folders above it and in it. Later changes of its skills
are checked like those of any skill that is not your own.`,
		Example: `  skills-mcp trust .
  skills-mcp trust --list`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.list {
				return c.printList(cmd.Context())
			}
			return c.run(cmd.Context(), args)
		},
	}
	cmd.Flags().BoolVar(&c.list, "list", false, "list the workspaces that you trust")
	cmd.Flags().BoolVar(&c.json, "json", false, "with --list: print JSON")
	return cmd
}

func (c *trustCommand) run(ctx context.Context, args []string) error {
	s, w, err := c.workspaceOf(args)
	if err != nil {
		return err
	}
	if s.roots.trusts(w.Path) {
		_, err := fmt.Fprintf(c.stdout, "%s is trusted already\n", visible(w.Path))
		return err
	}
	change, err := s.compare(ctx, w.Path)
	if err != nil {
		return err
	}
	question, err := change.question()
	if err != nil {
		return err
	}
	if err := c.confirm(ctx, question, "trust it"); err != nil {
		return err
	}
	// The folder that was shown: another one may have taken its place meanwhile.
	if err := s.store.Trust(ctx, w); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s is trusted\n", visible(w.Path))
	return err
}

// workspaceOf returns the settings for one workspace: the named folder, or else the only
// workspace there is.
func (a *app) workspaceOf(args []string) (*settings, store.Workspace, error) {
	if len(args) > 0 {
		a.flags.workspaces = args
	}
	s, err := a.settings()
	if err != nil {
		return nil, store.Workspace{}, err
	}
	switch len(s.workspaces.folders) {
	case 0:
		return nil, store.Workspace{}, usageError(errors.New("there is no workspace here; name its folder"))
	case 1:
		w, err := identify(s.workspaces.folders[0])
		return s, w, err
	}
	return nil, store.Workspace{}, usageError(fmt.Errorf("there are %d workspaces; name the folder of one", len(s.workspaces.folders)))
}

// A trustChange is the difference that trust in a workspace makes.
type trustChange struct {
	workspace string
	skills    []*skills.Skill // of the workspace, without tools
	plugins   []*skills.Plugin
	hidden    []skills.Shadow // the skills of others whose names they would get
}

// compare scans the roots as if a workspace was trusted.
func (s *settings) compare(ctx context.Context, workspace string) (*trustChange, error) {
	options := s.roots.scanOptions()
	options.Trusted = func(string) bool { return true }
	catalog, err := scan.Scan(ctx, s.roots.list(), options)
	if err != nil {
		return nil, err
	}
	c := &trustChange{workspace: workspace}
	for _, skill := range catalog.Skills {
		if skill.Workspace == workspace && skill.Of == nil {
			c.skills = append(c.skills, skill)
		}
	}
	for _, plugin := range catalog.Plugins {
		if plugin.Workspace == workspace {
			c.plugins = append(c.plugins, plugin)
		}
	}
	for _, shadow := range catalog.Shadowed {
		if shadow.By.Workspace == workspace && shadow.Skill.Workspace != workspace {
			c.hidden = append(c.hidden, shadow)
		}
	}
	return c, nil
}

// question describes the change, with strangers' text escaped. The names that would be
// taken come last, next to the question.
func (c *trustChange) question() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "skills-mcp: the workspace %s has %s and %s.\n", visible(c.workspace), count(len(c.skills), "skill"), count(len(c.plugins), "plugin"))
	err := table(&b, func(w io.Writer) {
		for _, skill := range c.skills {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", visible(skill.QualifiedName()), class(skill), visible(strings.Join(wishes(skill), "; ")))
		}
	})
	if err != nil {
		return "", err
	}
	fmt.Fprint(&b, "If you trust it, its skills come first. They may get the variables that your\nconfiguration grants to skills, and you may grant and approve what they ask for.\n")
	for _, plugin := range c.plugins {
		if n := len(plugin.Servers) + len(plugin.Hooks); n > 0 {
			fmt.Fprintf(&b, "  %s\t%s and %s, which are not run\n", visible(plugin.Name), count(len(plugin.Servers), "MCP server"), count(len(plugin.Hooks), "hook"))
		}
	}
	if len(c.hidden) > 0 {
		fmt.Fprintf(&b, "They would take the names of %s:\n", count(len(c.hidden), "other skill"))
		for _, shadow := range c.hidden {
			fmt.Fprintf(&b, "  %s, from %s\n", visible(shadow.Skill.QualifiedName()), visible(shadow.Skill.File))
		}
	}
	return b.String(), nil
}

// class returns the highest class of a skill and its tools, for people; "" for a skill
// that has nothing to run.
func class(skill *skills.Skill) string {
	highest := ""
	for _, s := range append([]*skills.Skill{skill}, skill.Tools...) {
		switch {
		case s.Entry == nil:
		case s.Class == skills.Dangerous, highest == "", highest == string(skills.Safe):
			highest = string(s.Class)
		}
	}
	return cmp.Or(highest, "instructions")
}

// wishes returns what a skill and its tools ask for beyond reading the workspace.
func wishes(skill *skills.Skill) (all []string) {
	var hosts, variables, asks []string
	for _, s := range append([]*skills.Skill{skill}, skill.Tools...) {
		if s.Entry != nil {
			hosts, variables = append(hosts, s.Entry.Network...), append(variables, s.Entry.Env...)
		}
		variables = append(variables, s.Requires.Env...)
		asks = append(asks, words(s.Asks)...)
	}
	for _, w := range []struct {
		what  string
		names []string
	}{{"connects to ", hosts}, {"reads the variables ", variables}, {"asks the ", asks}} {
		if slices.Sort(w.names); len(w.names) > 0 {
			all = append(all, w.what+strings.Join(slices.Compact(w.names), ", "))
		}
	}
	return all
}

// printList lists the workspaces that the person trusts.
func (c *trustCommand) printList(ctx context.Context) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	all, err := s.store.Workspaces(ctx)
	if err != nil {
		return err
	}
	type listed struct {
		Path  string `json:"path"`
		Since string `json:"since"`
		State string `json:"state"`
	}
	list := []listed{}
	for _, w := range all {
		list = append(list, listed{w.Path, day(w.At), trustState(w)})
	}
	if c.json {
		return c.printJSON(map[string]any{"workspaces": list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.stderr, "no workspace is trusted")
		return err
	}
	return table(c.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "WORKSPACE\tSINCE\tSTATE")
		for _, l := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\n", visible(l.Path), l.Since, l.State)
		}
	})
}

// untrustCommand ends the trust in a workspace.
type untrustCommand struct{ *app }

func newUntrustCommand(a *app) *cobra.Command {
	c := &untrustCommand{a}
	return &cobra.Command{
		Use:   "untrust [DIR]",
		Short: "End the trust in a workspace",
		Long: `End the trust in a workspace: the folder DIR, or the current one. Nothing is asked.
Running servers follow at once; calls that run end as they began.`,
		Example: "  skills-mcp untrust .",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
}

func (c *untrustCommand) run(ctx context.Context, args []string) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(strings.Join(args, "")) // at most one
	if err != nil {
		return err
	}
	// What is there now may be a link, or nothing.
	for _, path := range slices.Compact([]string{dir, resolved(dir)}) {
		found, err := s.store.Untrust(ctx, path)
		if err != nil {
			return err
		}
		if found {
			_, err := fmt.Fprintf(c.stdout, "%s is not trusted any more\n", visible(path))
			return err
		}
	}
	_, err = fmt.Fprintf(c.stdout, "%s was not trusted\n", visible(dir))
	return err
}
