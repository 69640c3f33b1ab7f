package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/connect"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/spf13/cobra"
)

// defaultServerName is the name of this server in the files of clients.
const defaultServerName = "skills"

// connectCommand adds the server to a client's configuration.
type connectCommand struct {
	*app
	client connect.Client
	name   string
	url    string // of a running server; "" if the client starts it
	token  string // the client's variable with the bearer token
	from   string // the file or variable of the token in the entry; "" is none
	write  bool
	remove bool
	force  bool
	own    bool // the project's file, not the person's
	sees   bool // skills see a workspace wherever the server is started
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
which is then in no file.`,
		Example: `  skills-mcp connect cursor --workspace ~/shop
  skills-mcp connect claude-desktop --workspace ~/shop --write
  skills-mcp connect vscode --project --write
  skills-mcp connect cursor --http http://127.0.0.1:8765/mcp --write
  skills-mcp connect codex --http https://skills.example/mcp --token-env SKILLS_TOKEN --write`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeClients,
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if c.client, err = connect.Find(args[0]); err != nil {
				return exitcode.Usage(err)
			}
			return c.run()
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.write, "write", false, "add it to the client's file")
	f.BoolVar(&c.remove, "remove", false, "take it out of the client's file")
	f.BoolVar(&c.own, "project", false, "use the file of the project in the current folder")
	f.BoolVar(&c.force, "force", false, "replace or remove another server of the name; make a client's folder that is missing")
	f.StringVar(&c.name, "name", defaultServerName, "call the server `NAME` in the client")
	f.StringVar(&c.url, "http", "", "connect to the server at `URL`, such as http://127.0.0.1:8765/mcp")
	f.StringVar(&c.token, "token-env", "", "send the token that the client finds in the variable `NAME` (with --http)")
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

func (c *connectCommand) run() error {
	switch {
	case c.write && c.remove:
		return exitcode.Usage(errors.New("--write and --remove are opposites; give one of them"))
	case c.token != "" && c.url == "":
		return exitcode.Usage(errors.New("--token-env is for a server at an address; add --http URL"))
	case c.name == "" || strings.ContainsFunc(c.name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufffd' }):
		return exitcode.Usage(fmt.Errorf("--name is %q; write a name of printable characters", c.name))
	}
	target, err := c.target()
	if err != nil {
		return err
	}
	entry, err := c.entry()
	if err != nil {
		return err
	}
	var lines []string
	switch {
	case c.write:
		lines, err = c.add(target, entry)
	case c.remove:
		lines, err = c.takeOut(target, entry)
	default:
		return c.print(target, entry)
	}
	if err == nil {
		fmt.Fprintln(c.stdout, strings.Join(lines, "\n"))
	}
	if err == nil && c.write && len(lines) > 1 { // it was changed
		c.printAdvice(entry)
	}
	return err
}

// target returns the client's file.
func (c *connectCommand) target() (connect.Target, error) {
	if c.own {
		folder, err := os.Getwd()
		if err != nil {
			return connect.Target{}, err
		}
		target, err := c.client.Project(folder)
		return target, exitcode.Usage(err)
	}
	places, err := connect.Here()
	if err != nil {
		return connect.Target{}, fmt.Errorf("find the client's file: %w", err)
	}
	return c.client.User(places), nil
}

// entry returns the server's entry: the command that starts it, or its URL. Settings
// with which it would not start are an error, except for --remove.
func (c *connectCommand) entry() (connect.Entry, error) {
	if c.url != "" {
		return c.runningEntry()
	}
	folder, err := os.Getwd()
	if err != nil {
		return connect.Entry{}, err
	}
	if !c.remove {
		s, err := c.settings()
		if err != nil {
			return connect.Entry{}, err
		}
		c.sees = s.Workspaces.Named
	}
	return c.startEntry(folder)
}

// runningEntry returns the entry with the URL of a server. One of this machine demands the
// token that serve reads or makes, so the entry has it.
func (c *connectCommand) runningEntry() (connect.Entry, error) {
	entry := connect.Entry{URL: c.url, TokenVariable: c.token}
	to, err := url.Parse(c.url)
	if err != nil || c.token != "" || c.remove || !endpoint.IsLoopback(net.JoinHostPort(to.Hostname(), to.Port())) {
		return entry, nil // the client's entry refuses an invalid one
	}
	s, err := c.settings()
	if err != nil || s.Serve.NoToken {
		return entry, err
	}
	if c.own {
		return entry, exitcode.Usage(errors.New("the server asks for a token, and a project's file is for all who have the project; name the variable that holds the token with --token-env NAME, or set serve.no_token if it asks for none"))
	}
	s.Serve.Listen = config.DefaultListen // the one of the URL is of this machine
	token, err := endpoint.NewTokenReader(s).Token(s.Serve)
	if err != nil {
		return entry, exitcode.Usage(err)
	}
	entry.Token, c.from = token.Text, token.From
	if !c.write { // a terminal, or a model, is no place for a token
		entry.Token = "TOKEN"
	}
	return entry, nil
}

// startEntry returns the entry with the command that starts the server.
func (c *connectCommand) startEntry(folder string) (connect.Entry, error) {
	program, err := thisProgram()
	if err != nil {
		return connect.Entry{}, fmt.Errorf("find this program: %w", err)
	}
	if c.own { // its folder on this machine is private
		program = strings.TrimSuffix(filepath.Base(program), ".exe")
	}
	args, err := c.serveArguments(folder)
	if c.remove {
		err = nil
	}
	return connect.Entry{Command: program, Args: args}, exitcode.Usage(err)
}

// serveArguments returns "serve" and the given flags.
func (c *connectCommand) serveArguments(folder string) ([]string, error) {
	args := []string{"serve"}
	var failed error
	add := func(flag string, values ...string) {
		if c.own && setup.Personal(flag, values) {
			fmt.Fprintf(c.stderr, "%s, which your environment sets, is left out: the file is the project's.\n", flag)
			return
		}
		for _, value := range values {
			if value != "" && flag != "--sandbox" {
				var err error
				value, err = c.path(folder, flag, value)
				failed = errors.Join(failed, err)
			}
			if value != "" {
				args = append(args, flag, value)
			}
		}
	}
	add("--config", c.flags.Config)
	add("--skills", c.flags.Skills...)
	add("--plugins", c.flags.Plugins...)
	add("--workspace", c.flags.Workspaces...)
	if variable := c.client.WorkspaceVariable; c.own && variable != "" && !slices.Contains(args, "--workspace") {
		args = append(args, "--workspace", variable)
	}
	add("--sandbox", c.flags.Sandbox)
	return args, failed
}

// path returns a path for the entry: absolute, or in a project's file relative to the
// project's folder, so that it is valid in every copy of the project.
func (c *connectCommand) path(folder, flag, value string) (string, error) {
	absolute := setup.AbsolutePath(folder, value)
	if !c.own {
		return absolute, nil
	}
	below, err := filepath.Rel(folder, absolute)
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s %s is not in the project, and its file is for all who have the project; leave it out, or leave --project out", flag, value)
	}
	switch variable := c.client.WorkspaceVariable; {
	case variable == "":
		return filepath.ToSlash(below), nil
	case below == ".":
		return variable, nil
	default:
		return variable + "/" + filepath.ToSlash(below), nil
	}
}

// thisProgram returns the path by which the shell finds this program, as that stays
// when a package manager links it to another version; else its own path.
func thisProgram() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := exec.LookPath(filepath.Base(os.Args[0]))
	if err != nil {
		return program, nil
	}
	if found, err = filepath.Abs(found); err != nil {
		return program, nil
	}
	ours, err1 := os.Stat(program)
	theirs, err2 := os.Stat(found)
	if err1 == nil && err2 == nil && os.SameFile(ours, theirs) {
		return found, nil
	}
	return program, nil
}

func (c *connectCommand) print(target connect.Target, entry connect.Entry) error {
	text, err := c.client.Snippet(c.name, entry)
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

// add adds the entry, and returns what was done in lines.
func (c *connectCommand) add(target connect.Target, entry connect.Entry) ([]string, error) {
	result, err := c.client.Add(target, c.name, entry, &connect.Options{Force: c.force})
	if err != nil {
		return nil, c.explain(err, "--force replaces it, --name calls this one something else")
	}
	if !result.Changed {
		return []string{result.File + " has it already: nothing to do."}, nil
	}
	lines := []string{fmt.Sprintf("Added the server %q to %s.", c.name, result.File)}
	return append(append(lines, backup(result)...), "Restart "+c.client.Title+" to use it."), nil
}

// takeOut removes the entry, and returns what was done in lines.
func (c *connectCommand) takeOut(target connect.Target, entry connect.Entry) ([]string, error) {
	result, err := c.client.Remove(target, c.name, entry, &connect.Options{Force: c.force})
	if err != nil {
		return nil, c.explain(err, "--remove takes out a program of this name; with --http URL, what has that address; with --force, anything")
	}
	if !result.Changed {
		return []string{fmt.Sprintf("%s has no server %q: nothing to do.", result.File, c.name)}, nil
	}
	return append([]string{fmt.Sprintf("Removed the server %q from %s.", c.name, result.File)}, backup(result)...), nil
}

// backup returns a line with the path of the backup, if there is one.
func backup(result connect.Result) []string {
	if result.Backup == "" {
		return nil
	}
	return []string{"What it was is kept in " + result.Backup + "."}
}

// explain adds a remedy to the error about another server of the name.
func (c *connectCommand) explain(err error, remedy string) error {
	var different *connect.DifferentError
	if errors.As(err, &different) {
		return fmt.Errorf("%w\n%s", err, remedy)
	}
	return err
}

func (c *connectCommand) printAdvice(entry connect.Entry) {
	for _, line := range c.advice(entry) {
		fmt.Fprintln(c.stderr, line)
	}
}

// advice returns warnings about an entry that may not work, and about a client that answers
// for the person.
func (c *connectCommand) advice(entry connect.Entry) (lines []string) {
	for _, line := range connect.AnsweringHere(c.client.Name) {
		lines = append(lines, "Warning: "+plain.Visible(line)+". policy.forms: never asks by none.")
	}
	if entry.URL != "" {
		return append(lines, c.adviceRunning(entry)...)
	}
	if skillfs.Inside(os.TempDir(), entry.Command) {
		lines = append(lines, entry.Command+" is in a temporary folder: put the program in its place first.")
	}
	if c.own { // the program's name is in a shared file
		line := "Whoever uses the project needs " + entry.Command + " in their PATH."
		if _, err := exec.LookPath(entry.Command); err != nil {
			line += " You have not."
		}
		lines = append(lines, line)
	}
	if !c.client.Terminal && !c.sees && !c.own {
		lines = append(lines, c.client.Title+" starts servers in a folder of its own: skills see your files with --workspace DIR.")
	}
	return lines
}

// commandLine returns the command that starts the server of a URL. It has the URL's
// address if that is on this machine, else a placeholder, as only the person knows the
// address behind a name or proxy.
func commandLine(to *url.URL, token bool) string {
	command := "skills-mcp serve --transport http"
	host, port := to.Hostname(), to.Port()
	if port == "" {
		port = "80"
	}
	address := net.JoinHostPort(host, port)
	_, err := netip.ParseAddr(host)
	switch {
	case to.Scheme != "http" || err != nil && host != "localhost":
		command += " --listen ADDRESS:PORT --allow-host " + host
	case address != config.DefaultListen:
		command += " --listen " + address
	}
	if token {
		command += " --token-file FILE"
	}
	return command
}

// adviceRunning names the command that starts a server which the client does not start.
func (c *connectCommand) adviceRunning(entry connect.Entry) (lines []string) {
	to, err := url.Parse(entry.URL)
	if err != nil {
		return nil
	}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("%s does not start the server at %s: start it with %s", c.client.Title, entry.URL, commandLine(to, entry.TokenVariable != ""))
	if entry.TokenVariable != "" {
		add("The token is taken from %s, which has to be set where %s is started.", entry.TokenVariable, c.client.Title)
	}
	if c.from != "" && c.write {
		add("The entry has the token of that server, from %s: do not share the file.", c.from)
	} else if c.from != "" {
		add("TOKEN stands for the token in %s, which --write puts there.", c.from)
	}
	if strings.Trim(to.Path, "/") == "" {
		add("%s has no path; skills-mcp serves MCP at %s.", entry.URL, transport.Path)
	}
	if to.Scheme == "http" && !endpoint.IsLoopback(net.JoinHostPort(to.Hostname(), to.Port())) {
		add("What is sent to %s is not encrypted: use https, unless the way to it is private.", to.Hostname())
	}
	return lines
}
