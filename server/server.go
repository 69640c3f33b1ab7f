// Package server makes a catalog of skills an MCP server: each skill a tool,
// beside a few fixed ones that search, read and run all of them.
//
// Start with [New]; then [Server.Publish], as often as files change, and give
// [Server.Backend] to a transport.
package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/clientroots"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/tasks"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// Options configure a [Server].
type Options struct {
	// Version is what the server calls itself beside its name.
	Version string
	// Reloader keeps the published catalog fresh; nil leaves that to callers of
	// [Server.Publish].
	Reloader Reloader
	// Snapshots are where the folders of bundled skills can be read by others.
	Snapshots *snapshot.Store
	// RunCode offers the tool run_code, which runs what a model wrote.
	RunCode bool
	// KeptSandboxes offers sandboxes that are kept between calls.
	KeptSandboxes bool
	// Sandbox is how commands are run, for the plans of get_skill.
	Sandbox describe.Sandbox
	// Expose says which skills are tools of their own.
	Expose exposure.Options
	// Roots chooses the workspaces of a legacy client among the folders that it
	// names as its roots, absolute paths, in place of the server's own; none leaves
	// it with these. Where it is nil, no client is asked.
	Roots func(folders []string) (workspaces []string)
	// Usage is told each call of a skill, by its qualified name; nil counts none.
	// It must not block.
	Usage Usage
	// Logger gets what a person who runs the server may want to know; nil
	// discards it.
	Logger *slog.Logger
}

// A Server serves the catalog that was published last.
type Server struct {
	options   Options
	logger    *slog.Logger
	core      *mcpserver.MCPServer
	invoke    *invoker // closed by Close
	fixed     *fixedTools
	skills    *skillTools
	prompts   *prompts
	resources *resources

	digests       skillsext.Digests // of skills' files
	subscriptions *subscriptions

	view  atomic.Pointer[view] // what calls see; replaced as a whole
	state atomic.Uint64        // counts the beginnings and ends of changes of the tools

	publishing sync.Mutex      // one publication at a time
	shown      []byte          // fingerprint of the tools that clients know; under publishing
	active     map[string]bool // skills that the workspace has files for; under publishing
}

// New returns a server that runs skills with calls, and has an empty catalog. It
// has to be closed.
func New(calls *run.Executor, options Options) *Server {
	s := &Server{options: options, logger: options.Logger, subscriptions: newSubscriptions()}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.invoke = &invoker{
		executor: calls, roots: clientroots.New(options.Roots, s.logger), pending: elicit.NewPendingCalls(),
		tasks: tasks.New(&tasks.Options{Logger: s.logger}), outputs: output.New(nil), usage: options.Usage, failures: failures{s.logger},
	}
	finds := &finder{s.view.Load, options.Reloader}
	maker, loads := &toolMaker{s.view.Load, failures{s.logger}}, &loader{options.Snapshots, s.invoke.used}
	sandboxes := &sandboxTools{maker, finds, s.invoke, options.KeptSandboxes, options.RunCode}
	s.fixed = newFixedTools(maker, finds, s.invoke, loads, sandboxes, options.Sandbox)
	s.skills = &skillTools{maker, finds, s.invoke, loads, newArguments[argsOnly](true)}
	s.prompts = &prompts{s.view.Load, finds, s.invoke, loads}
	s.resources = &resources{s.view.Load, s.invoke}
	completes := completer{s.view.Load, s.invoke}
	s.core = mcpserver.NewMCPServer(serverName, options.Version,
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
	)
	s.core.AddNotificationHandler(mcp.MethodNotificationRootsListChanged, s.invoke.roots.Changed)
	s.core.AddResourceTemplates(s.resources.template())
	s.core.AddPrompts(mcpserver.ServerPrompt{Prompt: usePrompt(), Handler: s.prompts.get})
	s.publish(&skills.Catalog{})
	return s
}

// Close ends the calls that are tasks or wait for an answer, and waits for them.
func (s *Server) Close() {
	s.invoke.close()
}

// hooks notice sessions, what they subscribe to, and errors that say what to
// answer; and they fill in lists.
func (s *Server) hooks() *mcpserver.Hooks {
	hooks := &mcpserver.Hooks{}
	hooks.AddOnError(transport.OnError)
	s.hookLists(hooks)
	hooks.AddBeforeCallTool(forwardTool(s.view.Load, func(name string) bool { return s.core.GetTool(name) != nil }))
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, out *mcp.ListToolsResult) {
		out.Tools, out.NextCursor = toolPage(out.Tools)
	})
	s.invoke.roots.Hook(hooks)
	s.subscriptions.hook(hooks, func() *skillsext.Library { return s.view.Load().library })
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) {
		if p := principalOf(session); p.Session == session.SessionID() {
			s.invoke.leave(p.Key())
		}
	})
	return hooks
}

// instructions tell a model how to use the server as a whole. Clients cut them
// at 2 KB.
const instructions = `This server offers the skills that the person has installed.

- A tool whose description names a skill either runs it, in a fresh sandbox, without network but for what the person granted, or returns its instructions.
- Not every skill has a tool: the description of search_skills names some of those that have none, and search_skills finds all. Where the person names a skill, or the task is one that a skill may cover, search before you start, unless a tool fits already.
- When a skill fits the task, load it with load_skill before you act, follow what it says, and read the files it names only when you need them. Do not load skills that do not fit, nor one twice.
- run_skill runs any executable skill by name, also one that has no tool or was added after this session began; get_skill tells its parameters.
- Files are named by their path in the workspace (/workspace); what a skill writes to /out is returned. A failed call says what to do next.`

// serverName is what the server calls itself to clients.
const serverName = "skills-mcp"

// ProtocolVersions are the revisions of MCP that are spoken, newest first.
func ProtocolVersions() []string { return slices.Clone(mcp.ValidProtocolVersions) }

// Backend is what the transports serve.
func (s *Server) Backend() transport.Backend {
	return transport.Backend{
		Core: s.core, Info: mcp.Implementation{Name: serverName, Version: s.options.Version},
		Methods: s.Methods(), Listen: s.listen, State: s.state.Load,
	}
}

// MCP is the protocol core.
func (s *Server) MCP() *mcpserver.MCPServer { return s.core }

// Catalog returns the catalog that was published last.
func (s *Server) Catalog() *skills.Catalog { return s.view.Load().catalog }

// Publish replaces the catalog. Calls under way keep theirs. Clients are
// notified once when the tools they know have changed, and once when the resources
// that are listed have, and not otherwise; the result says whether the tools have.
func (s *Server) Publish(catalog *skills.Catalog) (changed bool) {
	s.log(s.Catalog(), catalog)
	return s.publish(catalog)
}

func (s *Server) publish(catalog *skills.Catalog) (changed bool) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	return s.show(catalog)
}

// show makes a catalog what clients see. The caller holds publishing.
func (s *Server) show(catalog *skills.Catalog) (changed bool) {
	before, v := s.view.Load(), s.viewOf(catalog)
	tools := append(s.fixed.tools(v), s.skills.tools(v)...)
	v.list(tools)
	s.view.Store(v)
	if before != nil { // else there is no client yet
		s.offer(before, v)
	}
	shown := fingerprint(tools)
	if bytes.Equal(shown, s.shown) {
		return false
	}
	s.shown = shown
	s.state.Add(1)
	defer s.state.Add(1)
	s.core.SetTools(append(tools, s.skills.unlisted())...)
	return true
}

// fingerprint differs where clients would see a difference.
func fingerprint(tools []mcpserver.ServerTool) []byte {
	var b bytes.Buffer
	for _, t := range tools {
		a := t.Tool.Annotations
		fmt.Fprintf(&b, "%q %q %q %t %t %t %s %s\n", t.Tool.Name, t.Tool.Description, a.Title, *a.ReadOnlyHint, *a.DestructiveHint, *a.OpenWorldHint, t.Tool.RawInputSchema, t.Tool.RawOutputSchema)
	}
	return b.Bytes()
}

// log says what is new about a catalog: problems once, not at every change.
func (s *Server) log(before, after *skills.Catalog) {
	known := map[skills.Problem]bool{}
	for _, p := range before.Problems {
		if p.Severity == skills.Error {
			known[p] = true
		}
	}
	for _, p := range after.Problems {
		if p.Severity == skills.Error && !known[p] {
			s.logger.Warn("a skill did not load as written", "problem", p.String())
		}
	}
	taken := map[skills.Problem]bool{}
	for _, p := range before.Taken() {
		taken[p] = true
	}
	for _, p := range after.Taken() {
		if !taken[p] {
			s.logger.Warn("the workspace hides what is the person's", "problem", p.String())
		}
	}
	s.logLoaded(before, after)
	hidden := map[[2]string]bool{}
	for _, shadow := range before.Shadowed {
		hidden[[2]string{shadow.Skill.File, shadow.By.File}] = true
	}
	for _, shadow := range after.Shadowed {
		if !hidden[[2]string{shadow.Skill.File, shadow.By.File}] {
			s.logger.Info("a skill is shadowed", "skill", shadow.Skill.QualifiedName(), "file", shadow.Skill.File, "by", shadow.By.File)
		}
	}
}

// logLoaded logs each skill that is new or was read again, with its manifest.
func (s *Server) logLoaded(before, after *skills.Catalog) {
	if !s.logger.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	known := map[*skills.Skill]bool{}
	for _, skill := range before.Skills {
		known[skill] = true
	}
	for _, skill := range after.Skills {
		if !known[skill] && skill.Of == nil {
			s.logger.Info("a skill is loaded", "skill", skill.QualifiedName(), "file", skill.File)
		}
	}
}
