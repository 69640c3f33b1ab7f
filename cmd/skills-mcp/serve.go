package main

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/server/usage"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP on standard input and output, or over HTTP",
		Long: `Serve the skills as MCP tools on standard input and output, until the input
ends. Changes to skills are noticed while it runs. Logs go to standard error.

With --transport http it serves Streamable HTTP at http://127.0.0.1:8765/mcp, or
where --listen says, until it is interrupted; sse adds the deprecated HTTP with
server-sent events at /sse. Only programs on this machine reach a loopback
address. For any other one, clients must send a bearer token, which is read from
--token-file or from the variable SKILLS_MCP_TOKEN. That file must not lie in a
workspace or where skills are found, and nobody else may read it (chmod 600).
Web pages are refused, but those of this machine and of --allow-origin. /healthz
and /readyz are for probes.

Add it to an MCP client as the command "skills-mcp serve". Skills that read the
files of a project need to see them: start it in the project's folder, or add
--workspace DIR. Without that, a client that tells its roots on standard input
and output has its own projects seen.

While there are few skills, each is a tool. Where there are more than fit, those
are tools that the configuration pins, that the workspace has files for, or that
are used most, and search_skills finds the others; --expose all and --expose
search decide otherwise.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	a.exposeFlag(cmd)
	a.listenFlags(cmd)
	return cmd
}

func (a *app) serve(ctx context.Context) (err error) {
	s, err := a.settings()
	if err != nil {
		return err
	}
	listener, err := a.listen(s)
	if err != nil {
		return err
	}
	snapshots, err := s.snapshots()
	if err != nil {
		return err
	}
	scanner, saved := s.scanner()
	defer saved()
	runner := s.runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	limits := s.Sessions()
	sessions := session.New(runner, &limits)
	defer sessions.Close()
	activator, options := newActivator(s), s.serverOptions(snapshots)
	reader := &reader{s, scanner, activator}
	options.Load, options.Stale = reader.scan, reader.stale
	if listener == nil && !a.namesWorkspaces(s) {
		// Over HTTP, who may connect should not choose which folders are read, and
		// the paths of another machine mean something else on this one.
		options.Roots = s.workspacesAmong
	}
	if file := s.usageFile(); file != "" {
		counter := usage.Open(file, &usage.Options{Logger: s.logger})
		defer counter.Close()
		options.Usage, options.Expose.Uses = counter, counter.Uses()
	}
	srv := server.New(s.executor(runner, sessions, snapshots, nil), options)
	defer srv.Close()
	activator.start(ctx, srv.Activate)
	defer activator.close()
	learner := reader.learner(ctx, srv, runner)
	defer learner.stop()
	stop, err := follow(ctx, srv, reader, runner, learner)
	if err != nil {
		return err
	}
	defer stop()
	if listener != nil {
		return listener.serve(ctx, srv.Backend())
	}
	err = transport.ServeStdio(identity.NewContext(ctx, identity.Principal{Kind: identity.Model}), srv.Backend(), a.stdin, a.stdout, &transport.StdioOptions{Logger: s.logger})
	if ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return &exitError{exitOK, nil} // a signal, or a client that left, ends a server normally
	}
	return err
}

func (s *settings) serverOptions(snapshots *snapshot.Store) server.Options {
	return server.Options{
		Version: readBuilt().Version, Snapshots: snapshots, Logger: s.logger,
		RunCode: s.Tools.RunCode, KeptSandboxes: s.Tools.KeptSandboxes, Expose: s.Expose.Options(),
	}
}

// follow publishes the catalog now and after each change, until stop is called.
func follow(ctx context.Context, srv *server.Server, reader *reader, runner *sandbox.Runner, learner *learner) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	catalog, _, err := srv.Reload(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	learner.look()
	f := &follower{reader: reader, server: srv, runner: runner, learner: learner, catalog: catalog}
	done := make(chan struct{}) // closed when the goroutine ends
	go func() {
		defer close(done)
		f.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

// A follower reads again what changes. One goroutine uses it.
type follower struct {
	*reader
	server  *server.Server
	runner  *sandbox.Runner
	learner *learner
	catalog *skills.Catalog // published last
}

// run watches the roots until ctx ends. A client need not wait for that: what
// changed since the roots were read, before they were watched, is found by
// reading them once more.
func (f *follower) run(ctx context.Context) {
	watcher, err := f.watcher(f.logger)
	if err != nil {
		f.logger.Warn("changes to skills are not noticed; call reload_skills after one", "error", err)
		return
	}
	defer watcher.Close()
	if f.reload(ctx, f.scanner.Recheck) != nil {
		return
	}
	settle()
	for {
		select {
		case <-ctx.Done():
			return
		case change := <-watcher.Changes():
			if f.changed(ctx, change.Paths) != nil {
				return
			}
		}
	}
}

// idleGC is how much garbage there may be for each 100 bytes in use: a change
// makes little, and what thousands of skills take should not double for it.
const idleGC = 40

// settle has a server take little memory: it waits for most of its life. Who sets
// GOGC has decided that.
func settle() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(idleGC)
	}
	debug.FreeOSMemory()
}

// changed reads again what is at paths.
func (f *follower) changed(ctx context.Context, paths []string) error {
	for _, name := range touched(f.catalog, paths) {
		f.runner.Forget(name)
	}
	return f.reload(ctx, func(ctx context.Context) (*skills.Catalog, error) { return f.scanner.Rescan(ctx, paths) })
}

// reload publishes what load returns. Its error is that the server is stopping.
func (f *follower) reload(ctx context.Context, load func(context.Context) (*skills.Catalog, error)) error {
	catalog, changed, err := f.server.ReloadBy(ctx, func(ctx context.Context) (*skills.Catalog, error) { return f.read(ctx, load) })
	if err != nil {
		return err
	}
	if catalog == f.catalog {
		return nil // what was touched is of no skill
	}
	f.catalog = catalog
	f.learner.look()
	f.logger.Info("skills were read again", "skills", catalog.Count(), "tools_changed", changed)
	return nil
}

// touched returns the names of the skills that have files among paths.
func touched(catalog *skills.Catalog, paths []string) []string {
	var names []string
	for _, skill := range catalog.Skills {
		if skill.Dir == "" && slices.ContainsFunc(paths, func(path string) bool { return below(path, skill.File) }) {
			names = append(names, skill.QualifiedName()) // it is in a package
		}
		if skill.Dir != "" && slices.ContainsFunc(paths, func(path string) bool { return below(skill.Dir, path) || below(path, skill.Dir) }) {
			names = append(names, skill.QualifiedName())
		}
	}
	return names
}

// below reports whether name is dir or below it, as [within] does, of clean
// absolute paths. It is for many of them.
func below(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}
