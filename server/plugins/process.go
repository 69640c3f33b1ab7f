package plugins

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/plugins/conduit"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
)

// Bounds of a process.
const (
	lifetime    = 12 * time.Hour
	startTime   = 30 * time.Second // until it has listed its tools
	pingTime    = 3 * time.Second  // for an answer after a call that it has not answered
	listPause   = time.Second      // between two lists of its tools; it doubles while they change
	exitTime    = 2 * time.Second  // for a server that is not needed any more
	maxFollowed = 64               // resources whose changes are told
	maxWait     = time.Minute      // between two lists of its tools, and after a failure
)

// errIdle ends a server that is not needed any more, which is no failure.
var errIdle = errors.New("it was idle")

// errHung ends a server that answers nothing any more.
var errHung = errors.New("it answers nothing any more")

// A process is one running server.
type process struct {
	*client
	name    string           // of the server, for people
	skill   *skills.Skill    // of the server
	book    *Book            // nil keeps nothing
	version string           // of this program
	folder  string           // its files
	dir     string           // its data folder, or ""
	ended   func(why string) // called when its sandbox is gone; "" is no failure
	changed func(uri string) // called when a resource has changed that was read
	callers map[string]bool  // names of the skills that have used it; Servers.mu guards it

	ctx  context.Context // done when it is to end, with the reason
	end  context.CancelCauseFunc
	free func() // of the timer in ctx

	changes chan struct{} // holds an element when its tools have changed

	ready chan struct{}  // closed when it has listed its tools, or has failed to
	fault error          // why it has failed to; valid after ready
	gone  chan struct{}  // closed when its sandbox is gone
	final error          // why it has ended; valid after gone
	work  sync.WaitGroup // its goroutines, of spawn; its end waits for them

	answered atomic.Bool // a call, since it started

	connections connections

	state       sync.Mutex        // guards what follows
	over        bool              // nothing is spawned any more
	users       int               // calls
	idle        *time.Timer       // stopped while there are users
	printed     []byte            // the end of its standard error
	definitions map[string]string // of its tools, by name
	followed    map[string]bool   // URIs of resources whose changes it tells
}

// newProcess returns a process of a server's skill that is not started.
func newProcess(owner *skills.Skill, book *Book, version string, cmd *sandbox.Command, ended func(*process, string)) *process {
	p := &process{name: owner.QualifiedName(), skill: owner, book: book, version: version, folder: cmd.Folder, callers: map[string]bool{}, followed: map[string]bool{}, changes: make(chan struct{}, 1), ready: make(chan struct{}), gone: make(chan struct{})}
	p.ended = func(why string) { ended(p, why) }
	p.ctx, p.free = context.WithTimeoutCause(context.Background(), lifetime, errIdle)
	p.ctx, p.end = context.WithCancelCause(p.ctx)
	p.idle = time.AfterFunc(lifetime, func() { p.end(errIdle) })
	return p
}

// discard forgets a process that was not started.
func (p *process) discard() {
	p.end(errIdle)
	p.free()
	p.idle.Stop()
}

// launch starts the program of the server in its sandbox. The command's grant has its data
// folder.
func (p *process) launch(runner *sandbox.Runner, cmd *sandbox.Command) error {
	server, launch := &p.skill.Entry.Server.Server, *cmd
	p.dir = cmd.Grant.Data
	e := newExpander(cmd)
	launch.Argv = append([]string{}, cmd.Argv[:len(cmd.Argv)-len(server.Argv)]...) // what has to run before
	if server.Dir != "" {
		launch.Argv = append(launch.Argv, "/bin/sh", "-c", `cd "$0" && exec "$@"`, e.expand(server.Dir))
	}
	argv := server.Argv
	if server.Code != nil {
		launch.Argv, argv = append(launch.Argv, conduit.Command(server.Code)...), argv[1:]
	}
	if packages, _ := dependencies.ParseLaunch(argv); packages != nil {
		launch.Argv, argv = append(launch.Argv, starter(packages)...), packages.Args
	}
	for _, word := range argv {
		launch.Argv = append(launch.Argv, e.expand(word))
	}
	for name, value := range ownVariables(cmd) {
		launch.Env = append(launch.Env, name+"="+value)
	}
	launch.Env = append(launch.Env, e.all(server.Env, "=")...)
	if err := e.err(p.skill); err != nil {
		return err
	}
	in := newQueue(func() { p.end(errors.New("it does not read its input")) })
	out := newQueue(func() { p.end(errFlood) })
	launch.Stdin, launch.Stdout, launch.Stderr = in, out, writerFunc(p.print)
	launch.Sieve, launch.Redact, launch.Waits, launch.Warm = nil, nil, 0, -1
	launch.Limits.Timeout, launch.Proxied = lifetime, p.connections.receive
	p.client = newClient(transport.NewIO(out, in, io.NopCloser(bytes.NewReader(nil))), cmd.Redact, func() { in.allow(); out.allow() }, p.changes)
	life, kill := context.WithCancelCause(context.WithoutCancel(p.ctx))
	forget := context.AfterFunc(p.ctx, func() {
		cause := context.Cause(p.ctx)
		if errors.Is(cause, errIdle) {
			_ = in.Close() // so that it ends by itself
			select {
			case <-p.gone:
			case <-time.After(exitTime):
			}
		}
		kill(cause)
	})
	started, start := context.WithCancel(context.Background()) // or it has ended; an installation may take minutes
	launch.Started = start
	err := runner.Serve(life, launch, func(exit *sandbox.Exit, err error) {
		_ = out.Close()
		start()
		p.finish(exit, err)
	})
	if err != nil {
		start()
		forget()
		kill(err)
		return err
	}
	p.spawn(func() { // first: the other waits for it
		<-started.Done()
		p.greet()
	})
	p.spawn(p.tend)
	return nil
}

// connect connects to the server over HTTP.
func (p *process) connect(cmd *sandbox.Command, options *egress.Options) error {
	dialed := *cmd
	dialed.Proxied = p.connections.receive
	wire, hangUp, err := dial(p.skill, &dialed, options)
	if err != nil {
		return err
	}
	p.client = newClient(wire, cmd.Redact, func() {}, p.changes)
	p.spawn(p.greet)
	p.spawn(p.tend)
	context.AfterFunc(p.ctx, func() {
		hangUp()
		p.finish(nil, nil)
	})
	return nil
}

// spawn starts a goroutine, unless the server has ended.
func (p *process) spawn(work func()) {
	p.state.Lock()
	defer p.state.Unlock()
	if !p.over {
		p.work.Go(work)
	}
}

// tend lists the tools again after notices that they have changed, more rarely the more often
// they do.
func (p *process) tend() {
	<-p.ready
	changes, pause, listed := p.changes, listPause, time.Now()
	var rested <-chan time.Time
	for {
		var err error
		select {
		case <-p.ctx.Done():
			return
		case <-rested:
			changes = p.changes
		case <-changes:
			ctx, cancel := context.WithTimeoutCause(p.ctx, startTime, errHung)
			err = p.list(ctx, "")
			cancel()
			if pause = min(2*pause, maxWait); time.Since(listed) > 2*pause {
				pause = listPause
			}
			changes, rested, listed = nil, time.After(pause), time.Now()
		}
		if err != nil {
			p.end(err)
		}
	}
}

// check ends the server if its data folder is too large, or its plugin is gone. full reports
// that the file system of data folders is filled.
func (p *process) check(full bool) {
	err := checkData(p.dir)
	switch {
	case err != nil:
	case !p.installed():
		err = errIdle
	case full && p.dir != "":
		err = errNoRoom
	}
	if err != nil {
		p.end(err)
	}
}

// installed reports whether the plugin is still there.
func (p *process) installed() bool {
	_, err := os.Stat(p.skill.PluginDir)
	return !errors.Is(err, fs.ErrNotExist)
}

// finish ends what is left of a server that has ended, with an exit or an error.
func (p *process) finish(exit *sandbox.Exit, err error) {
	<-p.ready // its last reply may be the reason
	cause := context.Cause(p.ctx)
	if _, refused := errors.AsType[*replyError](p.fault); refused && cause == nil {
		cause = p.fault
	}
	p.end(errors.New("it has ended"))
	p.free()
	_ = p.wire.Close()
	p.state.Lock()
	p.over = true
	p.idle.Stop()
	p.state.Unlock()
	p.work.Wait()
	var why string
	limit, _ := errors.AsType[*sandbox.LimitError](err)
	switch unavailable, _ := errors.AsType[*sandbox.UnavailableError](err); {
	case errors.Is(cause, errIdle) || errors.Is(err, sandbox.ErrClosed):
		p.final = &sandbox.UnavailableError{Reason: "the MCP server " + p.name + " has ended: " + cmp.Or(cause, err).Error(), Remedy: "try again"}
	case cause != nil:
		why = strings.TrimSpace(cause.Error())
	case unavailable != nil && p.definitions == nil:
		p.final = err // nobody had a sandbox for it
	case limit != nil:
		why = "it was " + limit.Error()
	case err != nil:
		why = err.Error()
	default:
		why = fmt.Sprintf("it ended with exit code %d", exit.Code)
	}
	if why != "" {
		why = p.failed(why)
	}
	p.ended(why)
	close(p.gone)
}

// failed sets the reason of a failure, with the last words of the server, and keeps it.
func (p *process) failed(why string) string {
	const most = 300
	p.state.Lock()
	words := strings.Join(strings.Fields(termtext.Visible(strings.ReplaceAll(strings.ToValidUTF8(string(p.printed), "\ufffd"), "\n", " "))), " ")
	p.state.Unlock()
	if cut := len(words) - most; cut > 0 {
		words = "…" + strings.ToValidUTF8(words[cut:], "")
	}
	if words != "" {
		why += "; it said: " + words
	}
	if p.redact != nil {
		why = p.redact.String(why)
	}
	p.final = &sandbox.UnavailableError{Reason: "the MCP server " + p.name + " has failed: " + why, Remedy: "its maintainer has to fix it, if it happens again"}
	p.book.fail(context.Background(), p.skill, why)
	return why
}

// why returns the reason for which the server has ended, or is ending.
func (p *process) why() error {
	select {
	case <-p.gone:
		return p.final
	case <-time.After(5 * time.Second): // of an engine that removes a container
		return &sandbox.UnavailableError{Reason: "the MCP server " + p.name + " has failed", Remedy: "try again"}
	}
}

// use begins a use by a skill, unless the server is ending.
func (p *process) use(by *skills.Skill) bool {
	p.state.Lock()
	defer p.state.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.users++
	p.callers[by.Name] = true
	p.idle.Stop()
	return true
}

// release ends a use. After the last, the idle time begins.
func (p *process) release(idle time.Duration) {
	p.state.Lock()
	defer p.state.Unlock()
	if p.users--; p.users == 0 && !p.over {
		p.idle.Reset(idle)
	}
}

// retire ends the server if nobody uses it.
func (p *process) retire() bool {
	p.state.Lock()
	defer p.state.Unlock()
	if p.users == 0 {
		p.end(errIdle)
	}
	return p.users == 0
}

// print receives the server's standard error, for the calls that run.
func (p *process) print(text []byte) (int, error) {
	const most = 2 << 10
	p.state.Lock()
	p.printed = append(p.printed, text...)
	p.printed = bytes.Clone(p.printed[max(0, len(p.printed)-most):])
	p.state.Unlock()
	p.each(func(r *running) { r.print(text) })
	return len(text), nil
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// greet agrees with the server on the protocol and lists its tools.
func (p *process) greet() {
	ctx, cancel := context.WithTimeoutCause(p.ctx, startTime, fmt.Errorf("it did not start within %s", startTime))
	defer cancel()
	p.read, p.updated = p.follow, p.changed
	instructions, err := p.initialize(ctx, p.ctx, p.version)
	if p.skill.Entry.Server.Server.Code == nil {
		delete(p.offers, "experimental") // hooks: our host alone has some
	}
	if err == nil {
		err = p.list(ctx, instructions)
	}
	p.fault = err
	close(p.ready)
	if errors.Is(err, transport.ErrTransportClosed) { // it ends by itself, with a better reason
		select {
		case <-p.ctx.Done():
		case <-time.After(pingTime):
		}
	}
	if err != nil {
		p.end(err)
	}
}

// follow has the server tell when a resource changes that was read.
func (p *process) follow(uri string) {
	p.state.Lock()
	known := p.followed[uri] || len(p.followed) == maxFollowed
	if !known {
		p.followed[uri] = true
	}
	p.state.Unlock()
	if !known {
		p.spawn(func() {
			ctx, cancel := context.WithTimeout(p.ctx, startTime)
			defer cancel()
			_, _ = p.request(ctx, p.ids.Add(1), string(mcp.MethodResourcesSubscribe), map[string]any{"uri": uri}) // without it, nobody is told
		})
	}
}

// list asks the server for its tools, prompts and resources, and writes them to the book.
func (p *process) list(ctx context.Context, instructions string) error {
	all, err := p.lists(ctx)
	if err != nil {
		return err
	}
	definitions := map[string]string{}
	for i := range all.Tools {
		definitions[skills.CallTool+all.Tools[i].Name] = all.Tools[i].definition()
	}
	for i := range all.Prompts {
		definitions[skills.GetPrompt+all.Prompts[i].Name] = all.Prompts[i].tool().definition()
	}
	all.Hooks = p.hooks()
	for _, event := range all.Hooks {
		definitions[skills.RunHooks+event] = strings.Join(all.Hooks, " ")
	}
	p.state.Lock()
	p.definitions = definitions
	p.state.Unlock()
	return p.book.write(context.WithoutCancel(ctx), p.skill, func(l *listing) {
		all.Instructions, all.Known = cmp.Or(instructions, l.Instructions), true
		*l = all
	})
}

// await waits until the server has listed its tools.
func (p *process) await(ctx context.Context, cmd *sandbox.Command) error {
	select {
	case <-p.ready:
	default:
		cmd.Progress("starting the MCP server " + p.name)
	}
	select {
	case <-p.ready:
	case <-p.gone: // before it was greeted
		return p.final
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if p.fault != nil {
		return p.why()
	}
	return nil
}

// answer makes a call: of the server, or for its list of tools.
func (p *process) answer(ctx context.Context, cmd *sandbox.Command, skill *skills.Skill) (*result, error) {
	to := skill.Entry.Server
	p.state.Lock()
	definitions := p.definitions
	p.state.Unlock()
	if to.Method == "" {
		p.answered.Store(true)
		if p.book == nil {
			return textResult(false, "The MCP server %s has started. Its tools here are those that the person of this machine has listed: skills-mcp run %s lists them.", p.name, p.name), nil
		}
		return textResult(false, "The MCP server %s has started. Its tools and prompts (%d) are here now, with %s__ before their names.", p.name, len(definitions)-len(p.hooks()), p.skill.PlainToolName()), nil
	}
	if definitions[to.Method+to.Tool] != to.Definition {
		return nil, &sandbox.UnavailableError{Reason: fmt.Sprintf("the MCP server %s has no tool or prompt %q any more that is as it was listed", p.name, to.Tool), Remedy: "list the tools again"}
	}
	answer, id, err := p.call(ctx, cmd, skill)
	switch {
	case err == nil:
		p.answered.Store(true)
	case ctx.Err() != nil:
		p.spawn(func() {
			ctx, cancel := context.WithTimeout(p.ctx, pingTime)
			defer cancel()
			if !p.answers(ctx, id) {
				p.end(errHung)
			}
		})
	default:
		if to.Server.Address != "" { // which has no process that could end
			p.end(err)
		}
		err = p.why()
	}
	return answer, err
}
