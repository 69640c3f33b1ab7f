// Package server makes a catalog of skills an MCP server: each skill a tool,
// beside a few fixed ones that search, read and run all of them.
//
// Start with [New]; then [Server.Publish], as often as files change, and give
// [Server.Backend] to a transport.
package server

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/clientroots"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/tasks"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A Server serves the catalog that was published last.
type Server struct {
	options   Options
	core      *mcpserver.MCPServer
	invoke    *invoker // closed by Close
	prompts   *prompts
	resources *resources
	extension *extension
	published *publisher // whose searcher is closed by Close
	announce  *announcer // nil without subagents; closed by Close
	readiness *readiness // closed by Close
	unfollow  func()     // ends the notices of plugins' servers; called by Close
}

// New returns a server that runs skills with calls, and has an empty catalog. Options may
// be nil. The caller must close it.
func New(calls *run.Executor, options *Options) *Server {
	o := options.withDefaults()
	logger := o.Logger
	p := &publisher{expose: o.Expose, subscriptions: &subscriptions{sessions: map[string]mcpserver.SessionWithResourceSubscriptions{}, digests: map[string]string{}}}
	current := p.view.Load
	p.search = &searcher{index: o.Index, uses: o.Expose.Uses, failures: failures{logger}}
	p.search.start(current)
	finds := &finder{current, p.search.index, o.Reloader}
	invoke := &invoker{
		find:     finds,
		executor: calls, roots: clientroots.New(o.Roots, logger), pending: elicit.NewPendingCalls(o.Replicas.Name, o.Replicas.Secret()),
		tasks: tasks.New(&tasks.Options{Logger: logger, Replicas: o.Replicas}), outputs: output.New(), replicas: o.Replicas, usage: o.Usage, servers: o.Connected, left: o.Left, failures: failures{logger},
	}
	maker, loads := &toolMaker{current, failures{logger}}, &loader{invoke.fetch, o.Snapshots, invoke.count, o.Texts, calls.CodeHosts}
	s := &Server{
		options: o, invoke: invoke, published: p, readiness: newReadiness(o.FirstScan, logger),
		prompts: &prompts{current, finds, invoke, loads, o.Installer != nil}, resources: &resources{current, invoke, o.Texts},
		extension: &extension{current, invoke.tasks, o.Texts, logger},
	}
	if o.Subagents != nil {
		s.announce = newAnnouncer(o.Subagents, o.Channel, logger)
		invoke.harmless = func(task []byte) []byte { return s.announce.Harmless(termtext.JSON(task, nil)) } // as it is sent
	}
	s.core = s.newCore(completer{current, invoke})
	s.core.AddNotificationHandler(mcp.MethodNotificationRootsListChanged, invoke.roots.Changed)
	if s.announce != nil {
		s.core.AddNotificationHandler(string(mcp.MethodNotificationInitialized), s.announce.initialized)
	}
	// Every URI matches: read finds the resource.
	s.core.AddResourceTemplates(mcpserver.ServerResourceTemplate{Template: mcp.NewResourceTemplate("{+uri}", "any"), Handler: s.resources.read})
	s.core.AddPrompts(mcpserver.ServerPrompt{Prompt: usePrompt(), Handler: s.prompts.get})
	p.core = s.core
	s.unfollow = calls.OnUpdate(func(owner identity.Key, uri string) { p.subscriptions.updated(s.core, owner, uri) })
	p.fixed = newFixedTools(maker, finds, p.search, invoke, loads, &o)
	p.skills = &skillTools{maker, finds, invoke, loads, newArguments[argsOnly]()}
	p.publish(&skills.Catalog{})
	return s
}

// newCore returns the protocol core, without tools, prompts and resources.
func (s *Server) newCore(completes completer) *mcpserver.MCPServer {
	var experimental map[string]any
	if s.announce != nil && s.options.Channel {
		experimental = map[string]any{channel: struct{}{}}
	}
	return mcpserver.NewMCPServer(s.options.Name, s.options.Version,
		mcpserver.WithToolCapabilities(true),
		mcpserver.WithPromptCapabilities(true),
		mcpserver.WithResourceCapabilities(true, true),
		mcpserver.WithCompletions(),
		mcpserver.WithPromptCompletionProvider(completes),
		mcpserver.WithResourceCompletionProvider(completes),
		mcpserver.WithExtensions(extensions()),
		mcpserver.WithLogging(),
		mcpserver.WithInstructions(instructions),
		mcpserver.WithCacheHints(rpc.TTL.Milliseconds(), rpc.Scope),
		mcpserver.WithHooks(s.hooks()),
		mcpserver.WithExperimental(experimental),
	)
}

// hooks returns the hooks into mcp-go: for lists, sessions, subscriptions, forwarded
// calls, and errors that carry their reply.
func (s *Server) hooks() *mcpserver.Hooks {
	current := s.published.view.Load
	hooks := &mcpserver.Hooks{}
	hooks.AddOnError(transport.OnError)
	hooks.AddAfterCallTool(transport.AfterCallTool)
	s.options.hookIdentity(hooks)
	hookLists(hooks, current, s.resources, fixedPrompts(&s.options))
	hooks.AddBeforeCallTool(forwardTool(current))
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, out *mcp.ListToolsResult) {
		out.Tools, out.NextCursor = toolPage(current().toolsFor(ctx, out.Tools))
	})
	s.invoke.roots.Hook(hooks)
	if s.announce != nil {
		s.announce.hook(hooks)
	}
	s.published.subscriptions.hook(hooks, func() *skillsext.Library { return current().library })
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		if p := principalOf(session); p.Session == session.SessionID() {
			s.invoke.leave(p.Key())
		}
	})
	return hooks
}

// Drain starts no more calls of tools, and returns when those under way have ended, or ctx has.
func (s *Server) Drain(ctx context.Context) { s.invoke.tasks.Drain(ctx) }

// Close ends the calls that are tasks or wait for a reply, and the indexing in the
// background, and waits for them.
func (s *Server) Close() {
	s.unfollow()
	if s.announce != nil {
		s.announce.close()
	}
	s.readiness.close()
	s.invoke.close()
	s.published.search.close()
}

// instructions tell a model how to use the server as a whole. Clients cut them
// at 2 KB.
const instructions = `This server offers the skills that the person has installed.

- A tool whose description names a skill either runs it, in a fresh sandbox, without network but for what the person granted, or returns its instructions.
- Not every skill has a tool: the description of search_skills names those that have none, or their topics, and search_skills finds all. Where the person names a skill, or the task is one that a skill may cover, search before you start, unless a tool fits already.
- When a skill fits the task, load it with load_skill before you act, follow what it says, and read the files it names only when you need them. Do not load skills that do not fit, nor one twice.
- run_skill runs any executable skill by name, also one that has no tool or was added after this session began; get_skill tells its parameters.
- Files are named by their path in the workspace (/workspace); what a skill writes to /out is returned. A failed call says what to do next.`

// ProtocolVersions returns the supported revisions of MCP, newest first.
func ProtocolVersions() []string { return slices.Clone(mcp.ValidProtocolVersions) }

// Backend returns the server for a transport.
func (s *Server) Backend() transport.Backend {
	b := transport.Backend{
		Core: s.core, Info: mcp.Implementation{Name: s.options.Name, Version: s.options.Version},
		Methods: s.extension.methods(), State: s.published.state.Load,
		Scope: func(method, name, uri string) identity.Scope {
			return s.published.view.Load().scope(method, name, uri)
		},
		Lists: s.readiness.lists, Calls: s.readiness.calls,
	}
	if s.announce != nil {
		b.Announcements = s.announce
	}
	return b
}

// Catalog returns the catalog that was published last.
func (s *Server) Catalog() *skills.Catalog { return s.published.view.Load().catalog }

// Ready returns an error until a catalog has been published, for probes.
func (s *Server) Ready() error { return s.readiness.err() }

// Publish replaces the catalog. Calls under way keep theirs. Clients are
// notified once if the tools they know have changed, and once if the listed
// resources have. It reports whether the tools have changed. Requests that wait for
// the first catalog go on after the next call of [Server.Activate], or soon. No client
// is notified of either.
func (s *Server) Publish(catalog *skills.Catalog) (changed bool) {
	if !s.options.Unlogged {
		logChanges(s.options.Logger, s.Catalog(), catalog)
	}
	defer s.readiness.scanned()
	return s.published.publish(catalog)
}

// Activate replaces the set of skills, by qualified name, that the workspace has
// files for: they come first. Clients are notified once if the tools they know have
// changed. It reports whether they have.
func (s *Server) Activate(active map[string]bool) (changed bool) {
	defer s.readiness.searched()
	return s.published.activate(active)
}
