package main

import (
	"context"
	"fmt"
	"io"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/spf13/cobra"
)

// verifyCommand compares installed skills with the lock file, and removes them.
type verifyCommand struct{ targetCommand }

func newVerifyCommand(a *app) *cobra.Command {
	c := &verifyCommand{targetCommand{consent: consent{app: a}}}
	cmd := &cobra.Command{
		Use:   "verify [NAME]...",
		Short: "Prove that the installed skills are the ones that were accepted",
		Long: `Compare each file of the installed skills with the lock file: its content, whether it
may be executed, where a link leads, and files that were added. It needs no network.
Exits with 1 if anything differs.`,
		Example:           "  skills-mcp verify\n  skills-mcp verify report --json",
		ValidArgsFunction: c.completeInstalled,
		RunE:              with(c.target, c.run),
	}
	c.jsonFlag(cmd, "print JSON")
	c.projectFlag(cmd)
	return cmd
}

func (c *verifyCommand) run(ctx context.Context, t *manage.Target, names []string) error {
	found, err := t.Verify(ctx, names...)
	if err != nil {
		return asUsageOf(err)
	}
	if err := c.print(t, found); err != nil {
		return err
	}
	if len(found) > 0 {
		return exitcode.Silent(exitcode.Failed)
	}
	return nil
}

func (c *verifyCommand) print(t *manage.Target, found []install.Difference) error {
	if c.json {
		return c.printJSON(map[string]any{"ok": len(found) == 0, "differences": append([]install.Difference{}, found...)})
	}
	if len(found) == 0 {
		file, err := t.Installed()
		if err != nil {
			return err
		}
		if len(file.Entries) == 0 {
			_, err = fmt.Fprintln(c.stderr, "nothing is installed")
		} else {
			_, err = fmt.Fprintln(c.stderr, "everything is as it was installed")
		}
		return err
	}
	return terminal.Columns(c.stdout, func(w io.Writer) {
		fmt.Fprintln(w, "ENTRY\tDIFFERENCE\tFILE")
		for _, d := range found {
			fmt.Fprintf(w, "%s\t%s\t%s\n", plain.Visible(d.Path), d.Kind, plain.Visible(d.File))
		}
	})
}

func newUninstallCommand(a *app) *cobra.Command {
	c := &verifyCommand{targetCommand{consent: consent{app: a}}}
	cmd := &cobra.Command{
		Use:   "uninstall NAME...",
		Short: "Remove installed skills",
		Long: `Remove installed skills, and what was installed together with them, such as the other
skills of a pack. Only files that were installed are removed: those that you have
added or edited are moved aside, and the place is printed.`,
		Example:           "  skills-mcp uninstall report",
		ValidArgsFunction: c.completeInstalled,
		RunE:              with(c.target, c.uninstall),
	}
	c.projectFlag(cmd)
	return cmd
}

func (c *verifyCommand) uninstall(ctx context.Context, t *manage.Target, names []string) error {
	removed, err := t.Uninstall(ctx, names...)
	if err != nil {
		return asUsageOf(err)
	}
	for _, entry := range removed.Entries {
		fmt.Fprintf(c.stdout, "removed %s\n", plain.Visible(t.Path(entry)))
	}
	for _, path := range removed.Kept {
		fmt.Fprintf(c.stderr, "skills-mcp: files that were added or edited are in %s\n", plain.Visible(path))
	}
	return nil
}
