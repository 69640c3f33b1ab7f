package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/report"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/server/skillshost"
	"github.com/spf13/cobra"
)

// connectServerCommand connects another MCP server.
type connectServerCommand struct {
	*app
	list, json, dryRun, verify bool
	tokenEnv                   string
}

func newConnectServerCommand(a *app) *cobra.Command {
	c := &connectServerCommand{app: a}
	cmd := &cobra.Command{
		Use:   "connect-server NAME ADDRESS [ARGUMENT]...",
		Short: "Use the skills of another MCP server",
		Long: `Use the skills of another MCP server that has the Skills extension. They are named
NAME/SKILL. ADDRESS is one of:

  mcp+https://HOST/PATH       Streamable HTTP
  mcp+http://127.0.0.1/PATH   likewise without encryption, on this machine only
  mcp+stdio:PROGRAM           a program, with the arguments that follow. It is no
                              skill: it runs outside of any sandbox, as you, with
                              your files and variables

This asks the server for its list of skills, shows the address and what is listed,
and asks you on the terminal. No file of a skill is fetched then. When a skill is
first loaded, you are asked about it, with all its files; then they are fetched,
compared with the digests, sizes and frontmatter that the server has stated, and
cached outside of every folder in which skills are found. Any change of a skill
asks again. Its scripts run only after that, in the sandbox. Flags come before NAME.

--dry-run shows what a server lists and connects nothing; with --verify it fetches
all files, too, compares them, and throws them away.`,
		Example: `  skills-mcp connect-server office mcp+https://skills.example.com/mcp
  skills-mcp connect-server tools mcp+stdio:my-server --quiet
  skills-mcp connect-server --dry-run mcp+http://127.0.0.1:8765/mcp
  skills-mcp connect-server --list`,
		Args: cobra.ArbitraryArgs,
		RunE: with(c.settings, c.run),
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the arguments of a program may look like flags
	f.BoolVar(&c.list, "list", false, "list the connected servers")
	f.BoolVar(&c.json, "json", false, "with --list or --dry-run: print JSON")
	f.StringVar(&c.tokenEnv, "token-env", "", "send the bearer token in the variable `VARIABLE`, over HTTP")
	f.BoolVar(&c.dryRun, "dry-run", false, "show what the server at ADDRESS lists, and connect nothing")
	f.BoolVar(&c.verify, "verify", false, "with --dry-run: fetch and verify all files of its skills")
	cmd.MarkFlagsMutuallyExclusive("list", "dry-run")
	return cmd
}

func (c *connectServerCommand) run(ctx context.Context, s *setup.Settings, args []string) error {
	switch {
	case c.list && len(args) > 0:
		return exitcode.Usage(fmt.Errorf("%q is not expected here", args[0]))
	case c.list:
		return c.printList(ctx, s)
	case c.dryRun:
		server, err := c.server("dry-run", args)
		if err != nil {
			return exitcode.Usage(err)
		}
		return c.look(ctx, s, server)
	case c.verify:
		return exitcode.Usage(errors.New("--verify is for --dry-run"))
	case len(args) < 2:
		return exitcode.Usage(errors.New("give a NAME for the server, and its ADDRESS"))
	}
	server, err := c.server(args[0], args[1:])
	if err != nil {
		return exitcode.Usage(err)
	}
	return c.connect(ctx, s, server)
}

// server returns the server that the arguments describe.
func (c *connectServerCommand) server(name string, address []string) (server skillshost.Server, err error) {
	if err := skillshost.CheckLabel(name); err != nil {
		return server, err
	}
	server = skillshost.Server{Label: name, TokenEnv: c.tokenEnv}
	if server.Address, err = skillshost.ParseAddress(address); err != nil {
		return server, err
	}
	command := server.Address.Command
	switch {
	case len(command) == 0:
	case c.tokenEnv != "":
		return server, errors.New("--token-env is for servers over HTTP; a program has your variables")
	case strings.ContainsRune(command[0], filepath.Separator):
		command[0], err = filepath.Abs(command[0])
	}
	return server, err
}

func (c *connectServerCommand) connect(ctx context.Context, s *setup.Settings, server skillshost.Server) error {
	all, err := s.Host.Servers(ctx)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Label == server.Label {
			return exitcode.Usage(fmt.Errorf("there is a server %s already, %s; disconnect it first", server.Label, plain.Visible(other.Address.String())))
		}
	}
	catalog, err := s.Scan(ctx)
	if err != nil {
		return err
	}
	for _, p := range catalog.Plugins {
		if strings.EqualFold(p.QualifiedName(), server.Label) {
			return exitcode.Usage(fmt.Errorf("there is a plugin %s already; give the server another name", plain.Visible(p.QualifiedName())))
		}
	}
	// A program runs as the person: they are asked before it does.
	if len(server.Address.Command) > 0 {
		if err := c.app.confirm(ctx, report.ServerQuestion(server, nil), "run it and use its skills"); err != nil {
			return err
		}
	}
	listing, err := s.Host.List(ctx, server)
	if err != nil {
		return err
	}
	if len(server.Address.Command) == 0 {
		if err := c.app.confirm(ctx, report.ServerQuestion(server, listing), "use its skills"); err != nil {
			return err
		}
	}
	c.printFaults(listing)
	if err := s.Host.Add(ctx, server, listing); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.stdout, "%s is connected, with %s\n", server.Label, plain.Count(len(listing.Entries), "skill"))
	return err
}

// printFaults prints the skills that cannot be used.
func (c *connectServerCommand) printFaults(l *skillshost.Listing) {
	for _, fault := range l.Faults {
		fmt.Fprintln(c.stderr, "skills-mcp: not used:", plain.Visible(fault.Error()))
	}
}

// look prints what a server lists.
func (c *connectServerCommand) look(ctx context.Context, s *setup.Settings, server skillshost.Server) error {
	session, err := s.Host.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer session.Close()
	offered, err := session.List(ctx)
	if err != nil {
		return err
	}
	c.printFaults(offered)
	type looked struct {
		Name        string `json:"name"`
		URI         string `json:"uri"`
		Description string `json:"description"`
		Files       int    `json:"files"`
		Bytes       int64  `json:"bytes"`
		Verified    bool   `json:"verified"`
	}
	var list []looked
	var errs []error
	for _, e := range offered.Entries {
		one := looked{e.Name(), e.URI, e.Description(), len(e.Files), e.Size(), false}
		if c.verify {
			err := session.Fetch(ctx, e, func(skillshost.Resource, []byte) error { return nil })
			one.Verified = err == nil
			errs = append(errs, err)
		}
		list = append(list, one)
	}
	if c.verify && len(list) == 0 && len(offered.Faults) > 0 {
		errs = append(errs, fmt.Errorf("none of its %s can be used", plain.Count(len(offered.Faults), "skill")))
	}
	return errors.Join(append(errs, listing[looked]{
		key: "skills", headings: "SKILL\tFILES\tBYTES\tDESCRIPTION", optional: []string{"BYTES", "FILES"},
		row: func(l looked) string {
			return fmt.Sprintf("%s\t%d\t%d\t%s", plain.Visible(l.Name), l.Files, l.Bytes, plain.Visible(plain.Flat(l.Description)))
		},
	}.print(c.app, c.json, list))...)
}

// printList lists the connected servers.
func (c *connectServerCommand) printList(ctx context.Context, s *setup.Settings) error {
	all, err := s.Host.Servers(ctx)
	if err != nil {
		return err
	}
	type connected struct {
		Name     string `json:"name"`
		Address  string `json:"address"`
		TokenEnv string `json:"token_env,omitempty"`
		Since    string `json:"since"`
		Skills   int    `json:"skills"`
	}
	var list []connected
	for _, server := range all {
		list = append(list, connected{server.Label, server.Address.String(), server.TokenEnv, plain.Day(server.Since), s.Host.Count(server.Label)})
	}
	return listing[connected]{
		key: "servers", none: "no server is connected", headings: "NAME\tSKILLS\tSINCE\tADDRESS", optional: []string{"SINCE"},
		row: func(l connected) string {
			return fmt.Sprintf("%s\t%d\t%s\t%s", l.Name, l.Skills, l.Since, plain.Visible(l.Address))
		},
	}.print(c.app, c.json, list)
}

func newDisconnectServerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "disconnect-server NAME",
		Short: "End the use of another MCP server's skills",
		Long: `End the use of another MCP server's skills, and remove all that was fetched from it,
with your consents. Nothing is asked.`,
		Example: "  skills-mcp disconnect-server office",
		RunE: with(a.settings, func(ctx context.Context, s *setup.Settings, args []string) error {
			found, err := s.Host.Remove(ctx, args[0])
			if err != nil {
				return err
			}
			if !found {
				return fmt.Errorf("no server %q is connected; skills-mcp connect-server --list lists them", plain.Visible(args[0]))
			}
			_, err = fmt.Fprintf(a.stdout, "%s is disconnected, and what was fetched from it is removed\n", args[0])
			return err
		}),
	}
}
