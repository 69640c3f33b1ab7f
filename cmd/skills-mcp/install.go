package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/spf13/cobra"
)

// installCommand installs skills from elsewhere.
type installCommand struct {
	targetCommand
	skills            []string
	client            string
	all, list, locked bool
}

func newInstallCommand(a *app) *cobra.Command {
	c := &installCommand{targetCommand: targetCommand{consent: consent{app: a}}}
	cmd := &cobra.Command{
		Use:   "install SOURCE",
		Short: "Get a skill from elsewhere, and look at it before it is installed",
		Long: `Fetch a skill or plugin, show where it comes from, what was checked and what it
could do, and ask on the terminal whether it is installed. Nothing of it is run, and
nothing changes before the answer. A lock file remembers its source and the digest of
each file: verify, outdated, update, rollback and uninstall work with that.

SOURCE is one of:
` + source.Help + `

--list prints what a source has. --locked installs what the lock file says, the same
files and no others; what is right already is not fetched. It asks nothing, since the
lock file names every byte.

--project installs for everybody who works on a project: the skills go to .agents/skills
in its folder, and the lock file beside.

--for claude-code also makes a link in Claude Code's own folder, .claude/skills, since it
looks nowhere else. Nothing else in that folder is touched; uninstall removes the link.`,
		Example: `  skills-mcp install ./report.zip
  skills-mcp install owner/repo --list
  skills-mcp install owner/repo --skill report
  skills-mcp install --locked --project .`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case c.locked && (c.list || c.all || len(c.skills) > 0):
				return errors.New("--locked installs all that the lock file has; leave out --list, --all and --skill")
			case c.client != "" && (c.client != manage.ClaudeCode || c.locked):
				return fmt.Errorf("--for is for %s alone, and not with --locked: other clients find what is installed", manage.ClaudeCode)
			case c.all && len(c.skills) > 0:
				return errors.New("give --all or --skill, not both")
			case c.locked:
				return noArguments(args)
			}
			return checkArguments(cmd, args)
		},
		RunE: with(c.settings, c.run),
	}
	f := cmd.Flags()
	f.StringArrayVar(&c.skills, "skill", nil, "install the skill or plugin `NAME` of the source (repeatable)")
	f.BoolVar(&c.all, "all", false, "install all that the source has")
	f.BoolVar(&c.list, "list", false, "list what the source has, and install nothing")
	f.StringVar(&c.client, "for", "", "let the `CLIENT` claude-code find it, too")
	f.BoolVar(&c.locked, "locked", false, "install what the lock file says")
	f.BoolVar(&c.dryRun, "dry-run", false, "show what would be installed, and install nothing")
	c.jsonFlag(cmd, "print JSON")
	c.projectFlag(cmd)
	c.register(cmd)
	return cmd
}

func (c *installCommand) run(ctx context.Context, s *setup.Settings, args []string) error {
	t, err := c.targetOf(s)
	if err != nil {
		return err
	}
	if c.client != "" {
		if err := t.Claude.Enable(); err != nil {
			return err
		}
	}
	defer c.prove(s)()
	plan, err := c.prepare(ctx, t, args)
	if choice, ok := errors.AsType[*source.ChoiceError](err); ok && c.list && choice.Missing == "" {
		return c.printChoices(choice.Choices)
	}
	if err != nil {
		return asUsageOf(err)
	}
	defer plan.Close() // what is left is removed by the next one
	if c.list {
		return c.printChoices(choicesOf(plan))
	}
	change := manage.Describe(t, plan)
	switch {
	case c.dryRun:
		return c.print(change, false)
	case t.Has(ctx, plan):
		change.Items = change.Items[:0]
		return c.print(change, true)
	case c.locked: // a lock file is no acceptance of what is in it
		err = plan.Commit(ctx)
	default:
		_, err = t.Apply(ctx, plan, c.accepted(func(ctx context.Context, change *installation.Change) (bool, error) {
			err := c.ask(ctx, s, change, "install it")
			return err == nil, err
		}))
	}
	if err != nil && !c.json {
		return err
	}
	return errors.Join(err, c.print(change, err == nil))
}

// prepare fetches the source, or what the lock file lacks.
func (c *installCommand) prepare(ctx context.Context, t *manage.Target, args []string) (*install.Plan, error) {
	progress, end := c.fetching()
	defer end()
	if c.locked {
		return t.Locked(ctx, progress)
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	from, err := source.Parse(args[0], folder)
	if err != nil {
		return nil, exitcode.Usage(err)
	}
	return t.Prepare(ctx, source.Request{Source: from, Named: true, Names: c.skills, All: c.all, Progress: progress})
}

// print writes the change, which was made or not.
func (c *installCommand) print(change *installation.Change, made bool) error {
	switch {
	case c.json:
		return c.printJSON(struct {
			Installed bool `json:"installed"`
			*installation.Change
		}{made, change})
	case !made:
		show(c.stdout, change)
	case len(change.Items) == 0:
		fmt.Fprintln(c.stderr, "nothing to do: all of it is installed")
	}
	for _, item := range change.Items {
		if made {
			fmt.Fprintf(c.stdout, "installed %s to %s\n", plain.Visible(item.Name), plain.Visible(item.Path))
		}
	}
	return nil
}

// choicesOf returns the items of a plan as choices.
func choicesOf(plan *install.Plan) (all []source.Choice) {
	for _, item := range plan.Items {
		choice := source.Choice{Name: item.State.Name, Kind: item.State.Kind, Path: item.State.Path}
		if len(item.Skills) > 0 {
			choice.Description = item.Skills[0].Description
		}
		all = append(all, choice)
	}
	return all
}

func (c *installCommand) printChoices(all []source.Choice) error {
	return listing[source.Choice]{
		key: "skills", headings: "NAME\tKIND\tFOLDER\tDESCRIPTION", optional: []string{"FOLDER", "KIND"},
		row: func(choice source.Choice) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s", plain.Visible(choice.Name), choice.Kind, plain.Visible(choice.Path), plain.Flat(choice.Description))
		},
	}.print(c.app, c.json, all)
}
