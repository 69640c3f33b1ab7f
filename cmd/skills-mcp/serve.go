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
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/stdio"
	"github.com/skillsmcp/skills-mcp/skills"
)

func (a *app) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP on standard input and output",
		Long: `Serve the skills as MCP tools on standard input and output, until the input
ends. Changes to skills are noticed while it runs. Logs go to standard error.

Add it to an MCP client as the command "skills-mcp serve". Skills that read the
files of a project need to see them: start it in the project's folder, or add
--workspace DIR.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
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
	scanner, saved := s.scanner()
	defer saved()
	runner := s.runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	srv := server.New(s.executor(runner, snapshots), server.Options{
		Version: readBuilt().Version, Load: scanner.Scan, Snapshots: snapshots, Logger: s.logger,
		RunCode: s.Tools.RunCode, KeptSandboxes: s.Tools.KeptSandboxes,
	})
	stop, err := s.follow(ctx, srv, scanner, runner)
	if err != nil {
		return err
	}
	defer stop()
	err = stdio.Serve(ctx, srv.MCP(), a.stdin, a.stdout, &stdio.Options{Logger: s.logger})
	if ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return nil // a signal, or a client that left, is how this ends
	}
	return err
}

// follow publishes the catalog now and after each change, until stop is called.
func (s *settings) follow(ctx context.Context, srv *server.Server, scanner *skills.Scanner, runner *sandbox.Runner) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	catalog, _, err := srv.Reload(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	f := &follower{settings: s, server: srv, scanner: scanner, runner: runner, catalog: catalog}
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
	*settings
	server  *server.Server
	scanner *skills.Scanner
	runner  *sandbox.Runner
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
	debug.FreeOSMemory() // a server waits for most of its life
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

// changed reads again what is at paths.
func (f *follower) changed(ctx context.Context, paths []string) error {
	for _, name := range touched(f.catalog, paths) {
		f.runner.Forget(name)
	}
	return f.reload(ctx, func(ctx context.Context) (*skills.Catalog, error) { return f.scanner.Rescan(ctx, paths) })
}

// reload publishes what load returns. Its error is that the server is stopping.
func (f *follower) reload(ctx context.Context, load func(context.Context) (*skills.Catalog, error)) error {
	catalog, changed, err := f.server.ReloadBy(ctx, load)
	if err != nil {
		return err
	}
	if catalog == f.catalog {
		return nil // what was touched is of no skill
	}
	f.catalog = catalog
	f.logger.Info("skills were read again", "skills", len(catalog.Skills), "tools_changed", changed)
	return nil
}

// touched returns the names of the skills that have files among paths.
func touched(catalog *skills.Catalog, paths []string) []string {
	var names []string
	for _, skill := range catalog.Skills {
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
