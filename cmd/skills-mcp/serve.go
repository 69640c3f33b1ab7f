package main

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/stdio"
	"github.com/skillsmcp/skills-mcp/server/tally"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	"github.com/skillsmcp/skills-mcp/skills/watch"
)

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP on standard input and output",
		Long: `Serve the skills as MCP tools on standard input and output, until the input
ends. Changes to skills are noticed while it runs. Logs go to standard error.

Add it to an MCP client as the command "skills-mcp serve". Skills that read the
files of a project need to see them: start it in the project's folder, or add
--workspace DIR.

While there are few skills, each is a tool. Where there are more than fit, those
are tools that the configuration pins, that the workspace has files for, or that
are used most, and search_skills finds the others; --expose all and --expose
search decide otherwise.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	a.exposeFlag(cmd)
	return cmd
}

func (a *app) serve(ctx context.Context) (err error) {
	s, err := a.settings()
	if err != nil {
		return err
	}
	snapshots, err := s.snapshots()
	if err != nil {
		return err
	}
	runner := s.runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	activator, options := newActivator(s), s.serverOptions(snapshots)
	options.Load = activator.scan
	if file := s.usageFile(); file != "" {
		counter := tally.Open(file, &tally.Options{Logger: s.logger})
		defer counter.Close()
		options.Usage, options.Expose.Uses = counter, counter.Uses()
	}
	srv := server.New(s.executor(runner, snapshots), options)
	activator.start(ctx, srv.Activate)
	defer activator.close()
	learner := s.learner(ctx, srv, runner)
	defer learner.stop()
	stop, err := s.follow(ctx, srv, runner, learner)
	if err != nil {
		return err
	}
	defer stop()
	err = stdio.Serve(ctx, srv.MCP(), a.stdin, a.stdout, &stdio.Options{Logger: s.logger, State: srv.State})
	if ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return nil // a signal, or a client that left, is how this ends
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
func (s *settings) follow(ctx context.Context, srv *server.Server, runner *sandbox.Runner, learner *learner) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	// Watched first, then read: what changes in between is noticed.
	watcher, err := watch.New(s.watched(), &watch.Options{Logger: s.logger})
	if err != nil {
		s.logger.Warn("changes to skills are not noticed; call reload_skills after one", "error", err)
	}
	catalog, _, err := srv.Reload(ctx)
	if err != nil {
		cancel()
		if watcher != nil {
			watcher.Close()
		}
		return nil, err
	}
	learner.look()
	if watcher == nil {
		return cancel, nil
	}
	done := make(chan struct{}) // closed when the goroutine ends
	go func() {
		defer close(done)
		s.republish(ctx, srv, runner, watcher, catalog, learner)
	}()
	return func() {
		cancel()
		watcher.Close()
		<-done
	}, nil
}

// republish reads the roots again after each change of what catalog was read
// from.
func (s *settings) republish(ctx context.Context, srv *server.Server, runner *sandbox.Runner, watcher *watch.Watcher, catalog *skills.Catalog, learner *learner) {
	for change := range watcher.Changes() {
		for _, name := range touched(catalog, change.Paths) {
			runner.Forget(name)
		}
		var changed bool
		var err error
		catalog, changed, err = srv.Reload(ctx)
		if err != nil {
			return // the server is stopping
		}
		learner.look()
		s.logger.Info("skills were read again", "changes", len(change.Paths), "skills", catalog.Count(), "tools_changed", changed)
	}
}

// touched returns the names of the skills that have files among paths.
func touched(catalog *skills.Catalog, paths []string) []string {
	var names []string
	for _, skill := range catalog.Skills {
		if skill.Dir != "" && slices.ContainsFunc(paths, func(path string) bool { return within(skill.Dir, path) || within(path, skill.Dir) }) {
			names = append(names, skill.QualifiedName())
		}
	}
	return names
}
