// Package serving serves MCP, the REST API and the page by the settings of this machine.
//
// Start with [NewBackend]; [Flags.Listen] makes the server over HTTP, and [NewPage] the page.
package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/replica"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/server/usage"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// Options configure a [Backend].
type Options struct {
	// Profile bounds what clients may do; "" is no profile.
	Profile string
	// ClientRoots lets the roots of a legacy client choose the workspaces.
	ClientRoots bool
	// Shared reports that other machines reach the server.
	Shared bool
	// Idle is called when the skills are read.
	Idle func()
	// Notices gets a line for each question that begins to wait; nil gets none.
	Notices io.Writer
	// Page reports that the backend has a page, whose calls ask their person there.
	Page bool
}

// A Backend is an MCP server with the parts below it, for clients and for the page. The
// caller must close it.
type Backend struct {
	settings  *setup.Settings
	options   Options
	views     *views
	subagents *agents.Sessions // nil without a model
	reloader  *live.Reloader
	approvals *approval.Approvals
	replicas  *replica.Set   // nil is a server alone
	filter    *policy.Filter // of the catalog, for all profiles
	asker     *asker         // asks the person of the page; nil without one
	closers   []func() error // in the order in which the parts were opened
}

// NewBackend starts a backend, which reads the skills in the background until ctx is done.
func NewBackend(ctx context.Context, s *setup.Settings, o Options) (*Backend, error) {
	snapshots, err := setup.OpenSnapshots()
	if err != nil {
		return nil, err
	}
	for _, workspace := range s.Workspaces.Folders {
		if why := setup.Restricted(workspace, os.Getuid(), false); why != "" {
			s.Logger.Warn("skills cannot enter a workspace", "workspace", workspace, "reason", why)
		}
	}
	if s.Store.Shared() { // which has to be there, and tells of others' decisions
		if _, err := s.Store.Instance(ctx); err != nil {
			return nil, err
		}
	}
	b := &Backend{settings: s, options: o}
	if s.Serve.Replica != "" && s.Serve.Transport != "stdio" {
		secret, err := setup.ApprovalOptions(s).Key.Sum("the state of questions")
		if err != nil {
			return nil, err
		}
		b.replicas = replica.New(s.Store, s.Serve.Replica, secret, s.Logger)
		b.onClose(b.replicas.Close)
		if err := b.replicas.Start(ctx); err != nil {
			return nil, fmt.Errorf("share the store with other servers: %w", err)
		}
	}
	if b.replicas == nil && s.Store.Shared() && s.Serve.Transport != "stdio" {
		s.Logger.Warn("sessions, tasks and questions of this server are unknown to the others of the database", "remedy", "set serve.replica to the address at which they reach it")
	}
	decider := s.Sandboxes.Decider(nil)
	b.filter = policy.NewFilter(decider, viewKey{}.principal())
	scanner, watch := b.scanner()
	runner := s.Sandboxes.Runner()
	b.closers = append(b.closers, runner.Close)
	limits := session.Limits(s.Sandbox.Kept)
	sessions := session.New(runner, &limits)
	b.onClose(sessions.Close)
	b.approvals = b.newApprovals()
	s.Sandboxes.Pins = s.Pins(snapshots)
	executor := s.Sandboxes.Executor(runner, sessions, snapshots, b.approvals)
	b.reloader = newReloader(s, scanner, runner, executor, b.filter, watch, o.Idle)
	b.subagents = newSubagents(s, executor, func() *views { return b.views })
	options := b.serverOptions(snapshots)
	b.onClose(s.Sandboxes.Hooks.Close) // after the sessions of clients
	b.views = &views{ctx: ctx, reloader: b.reloader, decider: decider, open: map[viewKey]*view{}, newServer: func(v *view) *server.Server { return server.New(executor, b.optionsOf(v, *options)) }}
	if _, err := b.views.of(ctx, b.principal()); err != nil {
		return nil, err
	}
	b.onClose(b.views.close)
	if b.subagents != nil {
		b.onClose(b.subagents.Close) // before what their sessions have opened
	}
	b.reloader.Start(ctx) // requests wait for the first scan, but clients can connect
	b.onClose(b.reloader.Close)
	b.onClose(setup.FollowServers(ctx, s.Host, b.reloader))
	s.Sandboxes.Telemetry.Gauge("skills_mcp.catalog.skills", "Skills in the catalog.", func(context.Context) int { return len(b.views.first.server.Catalog().Skills) })
	s.Sandboxes.Telemetry.Gauge("skills_mcp.approvals.waiting", "Questions that wait for a person.", b.asked)
	return b, nil
}

// asked returns how many questions wait for a person.
func (b *Backend) asked(ctx context.Context) (count int) {
	all, _ := b.approvals.List(ctx, false) // without an answer, the measure is 0
	for _, r := range all {
		if r.State == approval.Pending {
			count++
		}
	}
	return count
}

// scanner returns the scanner of the roots, and what begins to watch them and the decisions.
// Folders are watched before they are read, so that neither is done twice.
func (b *Backend) scanner() (*scan.Scanner, func() (live.Watcher, error)) {
	s := b.settings
	watcher, err := s.Roots.Watcher(s.Logger)
	var ahead func(folder string) bool
	if err == nil {
		ahead = watcher.Ahead
		b.closers = append(b.closers, watcher.Close)
	}
	scanner, saved := s.Roots.Scanner(ahead)
	b.onClose(saved)
	return scanner, func() (live.Watcher, error) {
		if err != nil {
			return nil, err
		}
		return watcher, watcher.Begin(append(s.Roots.Folders(), s.Store.Stamp()), scanner.Watched)
	}
}

// newApprovals returns the approvals, which ask also on the page, if there is one.
func (b *Backend) newApprovals() *approval.Approvals {
	options := setup.ApprovalOptions(b.settings)
	options.Replicas = b.replicas != nil
	notices := endpoint.NewNotifier(b.settings, b.options.Notices)
	b.onClose(notices.Close)
	options.Notify = notices.Notify
	pages := endpoint.PagesOf(b.settings)
	pages.Shared = b.options.Shared
	options.Page, options.Shared = pages.Approval, pages.Shared
	if b.options.Page {
		b.asker = &asker{}
		options.Terminal = b.asker
	}
	return approval.New(b.settings.Store, options)
}

// serverOptions returns the options of the servers of all views. It opens the parts that they
// need.
func (b *Backend) serverOptions(snapshots *snapshot.Store) *server.Options {
	s := b.settings
	options := serverOptions(s, snapshots)
	options.Replicas = b.replicas
	options.Left, options.Texts = b.approvals.Leave, s.Sandboxes.Pins.Text
	options.Feedback, options.Connected = s.Feedback(), setup.Connected{Host: s.Host, Approvals: b.approvals}
	options.Installed = s.Machine.Origin
	if b.subagents != nil {
		options.Subagents, options.Channel = b.subagents, s.Config.Agents.Channel
		options.Left = func(key identity.Key) {
			b.approvals.Leave(key)
			b.subagents.Leave(key)
		}
	}
	if s.Tools.InstallSkill {
		options.Installer = modelInstaller{s.Machine}
	}
	if b.options.ClientRoots {
		options.Roots = s.Workspaces.Among
	}
	counter := usage.Open(s.Store, s.Logger)
	b.onClose(counter.Close)
	options.Usage, options.Expose.Uses = counter, counter.Uses()
	return options
}

// optionsOf completes the options of a view's server.
func (b *Backend) optionsOf(v *view, options server.Options) *server.Options {
	if v.stays { // the index of another view is in memory alone
		options.Index = b.settings.Roots.Index()
	}
	options.Reloader, options.Unlogged = v.live, !v.stays
	options.Agents = spawnable(b.settings, v.key)
	options.RunCode, options.KeptSandboxes = options.RunCode && v.offers[0], options.KeptSandboxes && v.offers[1]
	return &options
}

// principal returns a client of the default profile.
func (b *Backend) principal() identity.Principal {
	return viewKey{profile: b.options.Profile}.principal()
}

func (b *Backend) onClose(do func()) {
	b.closers = append(b.closers, func() error { do(); return nil })
}

// Close closes the parts, the last one first.
func (b *Backend) Close() error {
	var all []error
	for _, do := range slices.Backward(b.closers) {
		all = append(all, do())
	}
	return errors.Join(all...)
}

// Ready returns an error until the server has skills to serve.
func (b *Backend) Ready() error { return b.views.first.server.Ready() }

// ServeStdio answers on standard input and output until the input ends. A signal, or
// a client that left, ends a server normally.
func (b *Backend) ServeStdio(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	ctx = identity.NewContext(ctx, b.principal())
	err := transport.ServeStdio(ctx, b.views.first.server.Backend(), stdin, stdout, &transport.Options{Logger: b.settings.Logger, Observer: b.settings.Sandboxes.Telemetry.Observer()})
	if ctx.Err() != nil || errors.Is(err, syscall.EPIPE) {
		return exitcode.Silent(exitcode.OK)
	}
	if err == transport.ErrAbandoned { // Close ends what runs, and returns an error if it cannot
		return nil
	}
	if err == nil { // a person who tries a configuration without input wants its warnings
		ctx, cancel := context.WithTimeout(ctx, firstScan)
		defer cancel()
		b.reloader.AwaitFirst(ctx)
	}
	return err
}

// firstScan bounds the wait of a request for the first scan, and firstPart is the time
// after which it is answered with the skills that are read by then. Some clients give up
// on a server after 10 s; 5,000 skills take 2 s to read.
const (
	firstScan = 10 * time.Second
	firstPart = 7 * time.Second
)

// serverOptions returns those that need no part of a backend.
func serverOptions(s *setup.Settings, snapshots *snapshot.Store) *server.Options {
	return &server.Options{
		Name: s.Serve.Name, Title: s.Serve.Title, Version: build.Read().Version, Snapshots: snapshots, Logger: s.Logger,
		FirstScan: firstScan, RunCode: s.Tools.RunCode, KeptSandboxes: s.Tools.KeptSandboxes, MatchSkills: s.Tools.MatchSkills, Expose: s.Config.Exposure(), Sandbox: s.Sandboxes.Description(),
	}
}

// newReloader returns the reloader that keeps a server's catalog current. It calls idle
// when the start is over.
func newReloader(s *setup.Settings, scanner *scan.Scanner, runner *sandbox.Runner, executor *run.Executor, filter live.Filter, watch func() (live.Watcher, error), idle func()) *live.Reloader {
	edited := func(ctx context.Context, skill *skills.Skill) {
		executor.Renew(ctx, skill)
		s.Sandboxes.Pins.Recheck(ctx, skill)
		scanFiles(ctx, s, &skills.Catalog{Skills: []*skills.Skill{skill}})
	}
	settled := func(ctx context.Context, catalog *skills.Catalog) {
		s.Sandboxes.Pins.RecheckAll(ctx, catalog)
		scanFiles(ctx, s, catalog)
	}
	return live.New(scanner, &live.Options{
		Expand: s.Servers.Expand, Requirements: s.Gate, Runner: runner, Workspaces: s.Workspaces.Folders, First: firstPart, Provide: s.Provide, Poll: s.Config.Scan.Poll, Edited: edited, Idle: idle, Settled: settled, Logger: s.Logger,
		Decisions: s.Store, Filters: []live.Filter{s.Trust, filter, s.Sandboxes.Pins, s.Sandboxes.Hooks, s.Roster}, Watch: watch,
	})
}

// scanFiles scans the files of skills in the background, and has those published that are
// blocked since, or no longer.
func scanFiles(ctx context.Context, s *setup.Settings, catalog *skills.Catalog) {
	if !s.Sandboxes.Verdicts.ScanChanged(ctx, catalog) {
		return
	}
	err := s.Store.ChangeDecisions(ctx, store.Announced, "scan", func(*store.Decisions) error { return nil })
	if err != nil {
		s.Logger.Warn("the skills that the scan blocks are listed until the next change", "error", err)
	}
}

// An asker asks the person of a call by the jobs of the page. It implements
// [approval.Terminal].
type asker struct{ jobs atomic.Pointer[jobs.Jobs] } // set when the page has a service

// Confirm implements [approval.Terminal].
func (a *asker) Confirm(ctx context.Context, q *approval.Question) (approval.Scope, error) {
	if running := a.jobs.Load(); running != nil {
		return running.Confirm(ctx, q)
	}
	return "", errors.New("the page is not served yet")
}

// A modelInstaller installs the skills that models ask for. It implements [server.Installer].
type modelInstaller struct{ machine *manage.Machine }

// Prepare implements [server.Installer].
func (m modelInstaller) Prepare(ctx context.Context, name, from string, progress func(message string)) (server.Installation, error) {
	i, err := m.machine.ForModel(ctx, name, from, progress)
	if err != nil {
		return nil, err
	}
	return i, nil
}
