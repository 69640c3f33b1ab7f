package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"syscall"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/heap"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/shortcut"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/spf13/cobra"
)

// serveCommand serves MCP.
type serveCommand struct {
	*app
	flags serveFlags
}

func newServeCommand(a *app) *cobra.Command {
	c := &serveCommand{app: a}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP on standard input and output, or over HTTP",
		Long: `Serve the skills as MCP tools on standard input and output, until the input
ends. Changes to skills are noticed while it runs. Logs go to standard error.

With --transport http it serves Streamable HTTP at http://127.0.0.1:8765/mcp, or
where --listen says, until it is interrupted; sse adds the deprecated HTTP with
server-sent events at /sse. Clients must send a bearer token, which is read from
--token-file or from the variable SKILLS_MCP_TOKEN. That file must not lie in a
workspace or where skills are found, and nobody else may read it (chmod 600).
Without both, a server on a loopback address, which only programs on this machine
reach, makes a token in a file of yours, and "skills-mcp connect CLIENT --http URL
--write" gives it to a client. Web pages are refused, but those of this machine,
which need the token, and of --allow-origin. With --no-token nobody is asked by a
form. /healthz and /readyz are for probes. The REST API is at /v1/. --ui adds the page for people
at /ui/, as "skills-mcp ui" opens it. On a terminal it prints a link that signs in
once; holders of the token can look and call, but not decide.

Add it to an MCP client as the command "skills-mcp serve". Skills that read the
files of a project need to see them: start it in the project's folder, or add
--workspace DIR. Without that, a client that tells its roots on standard input
and output has its own projects seen.

While there are few skills, each is a tool. Where there are more than fit, those
are tools that the configuration pins, that the workspace has files for, or that
are used most, and search_skills finds the others; --expose all and --expose
search decide otherwise.

--profile bounds what the clients of this server may do, by a profile of the
configuration: which skills exist for them, of which class, and how many run at
once.`,
		Example: "  skills-mcp serve --transport http --profile ci",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	a.exposeFlag(cmd)
	c.flags.register(cmd)
	return cmd
}

func (c *serveCommand) run(ctx context.Context) (err error) {
	collector := heap.New()
	defer collector.Close()
	s, err := c.settings()
	if err != nil {
		return err
	}
	listener, err := c.flags.open(c.app, s)
	if err != nil {
		return err
	}
	var notices io.Writer
	if listener != nil {
		notices = c.stderr
	}
	b, err := newBackend(ctx, s, backendOptions{
		app: c.app, flags: c.flags, idle: collector.Rest, notices: notices,
		// Over HTTP, who may connect should not choose which folders are read, and the
		// paths of another machine mean something else on this one.
		clientRoots: listener == nil && !s.Workspaces.Named, page: listener != nil && s.Serve.UI, shared: listener != nil && !endpoint.IsLoopback(listener.Addr().String()),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if c.flags.shortcut {
		if _, err := shortcut.Add(s.Home); err != nil {
			s.Logger.Warn("the page is not among your applications", "error", err)
		}
	}
	if listener != nil {
		return listener.serve(ctx, c.app, b)
	}
	return c.serveStdio(ctx, b.server.Backend(), b.reloader, s.Logger)
}

// serveStdio answers on standard input and output until the input ends. A signal, or
// a client that left, ends a server normally.
func (c *serveCommand) serveStdio(ctx context.Context, backend transport.Backend, reloader *live.Reloader, logger *slog.Logger) error {
	ctx = identity.NewContext(ctx, identity.Principal{Kind: identity.Model, Profile: c.flags.profile})
	err := transport.ServeStdio(ctx, backend, c.stdin, c.stdout, &transport.StdioOptions{Logger: logger})
	if ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return exitcode.Silent(exitcode.OK)
	}
	if err == nil { // a person who tries a configuration without input wants its warnings
		ctx, cancel := context.WithTimeout(ctx, firstScan)
		defer cancel()
		reloader.AwaitFirst(ctx)
	}
	return err
}
