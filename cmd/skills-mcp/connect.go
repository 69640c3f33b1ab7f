package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connect"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connection"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/spf13/cobra"
)

// connectCommand adds the server to a client's configuration.
type connectCommand struct {
	*app
	to     connection.Connection
	remove bool
	hooks  bool
}

func newConnectCommand(a *app) *cobra.Command {
	c := &connectCommand{app: a}
	cmd := &cobra.Command{
		Use:   "connect CLIENT",
		Short: "Add this server to an MCP client's configuration",
		Long: `Print what to add to the configuration of an MCP client so that it starts this
server, and say to which file. With --write it is added there: everything else in
the file stays as it is, comments too, and what the file was is kept beside it.
--remove takes it out again.

CLIENT is one of ` + strings.Join(connect.Names(), ", ") + `.

The server gets --config, --skills, --plugins, --workspace and --sandbox as they
are given here, with absolute paths. The file is the person's own; --project is
the one of the project in the current folder, which is for all who have the
project: it gets the program's name alone, and paths from the project's folder.

With --http the client connects to a server that runs already, with settings of
its own. For one on this machine, --write puts the token that "skills-mcp serve
--transport http" made into the client's file, which only you can read from then
on; without --write, the word TOKEN stands for it. For any other server, and in a
project's file, --token-env names the variable in which the client finds the token,
which is then in no file.

With --hooks the file is Claude Code's settings.json (with --project, the project's
settings.local.json), and what is added are the hooks of your plugins: each runs
"skills-mcp hook", in a sandbox and once you have said yes to it. It adds, replaces
and takes out those entries alone. Do it again after a change of plugins. --remove
takes them out, too, with the server.`,
		Example: `  skills-mcp connect cursor --workspace ~/shop
  skills-mcp connect claude-desktop --workspace ~/shop --write
  skills-mcp connect vscode --project --write
  skills-mcp connect cursor --http http://127.0.0.1:8765/mcp --write
  skills-mcp connect codex --http https://skills.example/mcp --token-env SKILLS_TOKEN --write
  skills-mcp connect claude-code --hooks --write`,
		ValidArgsFunction: completeClients,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.to.Client, err = connect.Find(args[0]); err != nil {
				return exitcode.Usage(err)
			}
			return c.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.to.Writes, "write", false, "add it to the client's file")
	f.BoolVar(&c.hooks, "hooks", false, "add the hooks of plugins, instead of the server (claude-code)")
	f.BoolVar(&c.remove, "remove", false, "take it out of the client's file")
	f.BoolVar(&c.to.Project, "project", false, "use the file of the project in the current folder")
	f.BoolVar(&c.to.Force, "force", false, "replace or remove another server of the name; make a client's folder that is missing")
	f.StringVar(&c.to.Name, "name", connection.DefaultName, "call the server `NAME` in the client")
	f.StringVar(&c.to.URL, "http", "", "connect to the server at `URL`, such as http://127.0.0.1:8765/mcp")
	f.StringVar(&c.to.TokenVariable, "token-env", "", "send the token that the client finds in the variable `NAME` (with --http)")
	return cmd
}

func completeClients(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, client := range connect.Clients() {
		names = append(names, client.Name+"\t"+client.Title)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (c *connectCommand) run(ctx context.Context) error {
	switch {
	case c.to.Writes && c.remove:
		return exitcode.Usage(errors.New("--write and --remove are opposites; give one of them"))
	case c.to.TokenVariable != "" && c.to.URL == "":
		return exitcode.Usage(errors.New("--token-env is for a server at an address; add --http URL"))
	case c.to.Name == "" || strings.ContainsFunc(c.to.Name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' }):
		return exitcode.Usage(fmt.Errorf("--name is %q; write a name of printable characters", c.to.Name))
	}
	c.to.Flags, c.to.Notes = c.flags, c.stderr
	hooks := hookCopy{c.app, c.to, c.remove}
	if c.hooks {
		return hooks.run(ctx)
	}
	target, err := c.to.Target()
	if err != nil {
		return err
	}
	entry, err := c.entry()
	if err != nil {
		return err
	}
	var lines []string
	switch {
	case c.to.Writes:
		lines, err = c.to.Add(target, entry)
	case c.remove:
		lines, err = c.to.Remove(target, entry)
	default:
		return c.print(target, entry)
	}
	if err == nil {
		fmt.Fprintln(c.stdout, strings.Join(lines, "\n"))
	}
	if err == nil && c.remove && c.to.Client.Name == "claude-code" && c.to.URL == "" {
		return hooks.run(ctx)
	}
	if err == nil && c.to.Writes && len(lines) > 1 { // it was changed
		c.printAdvice(entry)
	}
	return err
}

// entry returns the server's entry. Settings with which it would not start are an error,
// except for --remove.
func (c *connectCommand) entry() (connect.Entry, error) {
	if c.remove || !c.to.NeedsSettings() {
		return c.to.Entry(nil)
	}
	s, err := c.settings()
	if err != nil {
		return connect.Entry{}, err
	}
	return c.to.Entry(s)
}

func (c *connectCommand) print(target connect.Target, entry connect.Entry) error {
	text, err := c.to.Client.Snippet(c.to.Name, entry)
	if err != nil {
		return err
	}
	if _, err := c.stdout.Write(text); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "This goes into %s. --write adds it there.\n", target.File)
	c.printAdvice(entry)
	return nil
}

func (c *connectCommand) printAdvice(entry connect.Entry) {
	for _, line := range c.to.Advice(entry) {
		fmt.Fprintln(c.stderr, line)
	}
}
