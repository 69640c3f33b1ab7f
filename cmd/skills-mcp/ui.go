package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/heap"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/plain"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/serving"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/shortcut"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/httpd"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/web/signin"
	"github.com/spf13/cobra"
)

// uiCommand serves the page to the person at the terminal.
type uiCommand struct {
	*app
	listen string
	noOpen bool

	shortcut bool
}

func newUICommand(a *app) *cobra.Command {
	c := &uiCommand{app: a}
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Open the page: skills, approvals and runs in a browser",
		Long: `Serve the page on a loopback address, and open it in the browser with a link that
signs in once, within ten minutes. Each press of Enter prints another link. Ctrl-C
ends the page.

On the page you decide as on a terminal. So the command needs a terminal, and no
program gets a link. While it runs, servers of yours that need your yes lead there.

--shortcut adds Skills to your applications, which opens a terminal with this
command. To remove it, delete the file that it names.`,
		Example: "  skills-mcp ui\n  skills-mcp ui --no-open --listen 127.0.0.1:8766",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.shortcut {
				return c.addShortcut()
			}
			return c.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&c.listen, "listen", "127.0.0.1:0", "listen on the loopback `ADDRESS:PORT`; port 0 takes a free one")
	cmd.Flags().BoolVar(&c.noOpen, "no-open", false, "print the link only")
	cmd.Flags().BoolVar(&c.shortcut, "shortcut", false, "add the page to your applications, and do nothing else")
	return cmd
}

func (c *uiCommand) addShortcut() error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	path, err := shortcut.Add(s.Home)
	if err == nil {
		fmt.Fprintf(c.stderr, "Skills is among your applications: %s\n", plain.Visible(path))
	}
	return err
}

func (c *uiCommand) run(ctx context.Context) (err error) {
	if !endpoint.IsLoopback(c.listen) {
		return exitcode.Usage(fmt.Errorf("--listen is %q, and the page is for this machine alone; write a loopback address, such as 127.0.0.1:0; for others there is serve --transport http --ui", c.listen))
	}
	if _, err := newTerminal(c.stdin, c.stderr, nil); err != nil {
		return fmt.Errorf("who opens the page decides as the person: %w; run skills-mcp ui yourself, in a terminal of your own", err)
	}
	collector := heap.New()
	defer collector.Close()
	s, err := c.settings()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.listen)
	if err != nil {
		return fmt.Errorf("%w; name another address with --listen (its port 0 takes a free one)", err)
	}
	defer l.Close()
	s.Serve = config.Serve{Transport: "http", Listen: l.Addr().String(), UI: true}
	b, err := serving.NewBackend(ctx, s, serving.Options{Idle: collector.Rest, Page: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return c.serve(ctx, l, b, s.Logger)
}

// serve serves the page of a backend until ctx ends.
func (c *uiCommand) serve(ctx context.Context, l net.Listener, b *serving.Backend, logger *slog.Logger) error {
	p := serving.NewPage(b, serving.URL(c.listen, l), signin.Options{}, signedOut{})
	srv := httpd.New(&httpd.Options{Logger: logger, Ready: b.Ready, Authenticator: p, Fail: api.Fail})
	p.Mount(srv)
	link := p.Link()
	fmt.Fprintf(c.stderr, "skills-mcp: the page is at %s\nSign in, once and within ten minutes:\n  %s\nPress Enter for another link, and Ctrl-C to end the page.\n", p.URL(), link)
	if !c.noOpen {
		c.open(ctx, link)
	}
	go c.relink(ctx, p) // nothing ends its read of the terminal but the end of the program
	return srv.Serve(ctx, l, p)
}

// relink prints a link for each line of the terminal.
func (c *uiCommand) relink(ctx context.Context, p *serving.Page) {
	for lines := bufio.NewScanner(c.stdin); lines.Scan() && ctx.Err() == nil; {
		fmt.Fprintf(c.stderr, "  %s\n", p.Link())
	}
}

// open opens a URL in the browser, where there is one. A failure is none of the command's:
// the link has been printed.
func (c *uiCommand) open(ctx context.Context, url string) {
	name, args := "xdg-open", []string{url}
	switch {
	case runtime.GOOS == "darwin":
		name = "open"
	case runtime.GOOS == "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return // a browser in this terminal would take it over
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // a browser may live longer than the page
	}
}

// signedOut refuses requests without a session.
type signedOut struct{}

// Authenticate implements [httpd.Authenticator].
func (signedOut) Authenticate(*http.Request) (identity.Principal, error) {
	const needed = "sign in on the page first: press Enter where skills-mcp ui runs, and open the link"
	return identity.Principal{}, &identity.Challenge{Status: http.StatusUnauthorized, Message: needed, Reason: "it has no session"}
}
