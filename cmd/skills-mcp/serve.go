package main

import (
	"context"
	"errors"
	"sync"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/heap"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/serving"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/shortcut"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/telemetry"
	"github.com/spf13/cobra"
)

// serveCommand serves MCP.
type serveCommand struct {
	*app
	flags    serving.Flags
	shortcut bool
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
server-sent events at /sse. --tls-cert and --tls-key serve HTTPS. When it is
stopped, calls under way have 30 seconds to end (serve.drain). Clients must send a
bearer token, which is read from --token-file or from the variable SKILLS_MCP_TOKEN.
That file must not lie in a workspace or where skills are found, and nobody else
may read it (chmod 600).
"skills-mcp token add NAME" makes more tokens, each for a caller of its own, and
serve.oidc in the configuration accepts those of an OpenID provider.
Without both, a server on a loopback address, which only programs on this machine
reach, makes a token in a file of yours, and "skills-mcp connect CLIENT --http URL
--write" gives it to a client. Web pages are refused, but those of this machine,
which need the token, and of --allow-origin. With --no-token nobody is asked by a
form. /healthz and /readyz are for probes. The REST API is at /v1/. --ui adds the
page for people at /ui/, as "skills-mcp ui" opens it. On a terminal it prints a link
that signs in once; "skills-mcp token link NAME" makes one for the holder of a token.
Who signs in with a token itself can look and call, and decides only with its scope
approve.

Add it to an MCP client as the command "skills-mcp serve". Skills that read the
files of a project need to see them: start it in the project's folder, or add
--workspace DIR. Without that, a client that tells its roots on standard input
and output has its own projects seen.

While there are few skills, each is a tool. Where there are more than fit, those
are tools that the configuration pins, that the workspace has files for, or that
are used most, and search_skills finds the others; --expose all and --expose
search decide otherwise.

--profile bounds what the clients of this server may do, by a profile of
"skills-mcp profile" or of the configuration: which skills exist for them, of which class, and how many run at
once. Without it, clients over HTTP choose one: /mcp/p/NAME, /mcp/readonly or the
header Skills-Profile.`,
		Example: "  skills-mcp serve --transport http --profile ci",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	a.exposeFlag(cmd)
	c.flags.Register(cmd.Flags())
	complete(cmd, "transport", config.Transports())
	completeBy(cmd, "profile", completeProfiles(a))
	cmd.Flags().BoolVar(&c.shortcut, "shortcut", false, "add the page to your applications, as \"skills-mcp ui --shortcut\" does")
	return cmd
}

func (c *serveCommand) run(ctx context.Context) (err error) {
	again := exitcode.Hangups(ctx)
	collector := heap.New()
	defer collector.Close()
	s, err := c.settings()
	if err != nil {
		return err
	}
	listener, err := c.flags.Listen(ctx, s, c.stdin, c.stderr)
	if err != nil {
		return err
	}
	seen, stop, err := telemetry.Start(s.Config, s.Logger, c.stderr)
	defer func() { err = errors.Join(err, stop()) }()
	if err != nil {
		return err
	}
	s.Sandboxes.Telemetry = seen
	options := serving.Options{Profile: c.flags.Profile, Idle: collector.Rest}
	if listener == nil {
		// Over HTTP, who may connect should not choose which folders are read, and the
		// paths of another machine mean something else on this one.
		options.ClientRoots = !s.Workspaces.Named
	} else {
		options.Notices, options.Page, options.Shared = c.stderr, s.Serve.UI, !endpoint.IsLoopback(listener.Addr().String())
	}
	running := ctx
	if listener != nil { // calls end after ctx does
		var end context.CancelFunc
		running, end = context.WithCancel(context.WithoutCancel(ctx))
		defer end()
	}
	b, err := serving.NewBackend(running, s, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if c.shortcut {
		if _, err := shortcut.Add(s.Home); err != nil {
			s.Logger.Warn("the page is not among your applications", "error", err)
		}
	}
	following, leave := context.WithCancel(running)
	var followed sync.WaitGroup
	followed.Go(func() { c.flags.Follow(following, again, b, listener) })
	defer followed.Wait()
	defer leave()
	if listener != nil {
		return listener.Serve(ctx, b)
	}
	return b.ServeStdio(ctx, c.stdin, c.stdout)
}
