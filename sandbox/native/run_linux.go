//go:build amd64 || arm64

package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

const (
	// label is the name of this driver in a [sandbox.Exit].
	label = "native"
	// killed is the exit code when the kernel ended the whole sandbox.
	killed = 128 + 9
)

// maxTrees bounds the mount trees that are sent with a sequence.
const maxTrees = 200

// resources are the limits, mounts and proxy that a command's grant gives its
// sandbox.
type resources struct {
	limits  sandbox.Limits
	mounts  []mount
	recipe  *recipe  // nil where nothing can be prepared
	gateway *gateway // nil without hosts
}

// newResources checks a command's grant.
func (p *pool) newResources(cmd *sandbox.Command) (*resources, error) {
	g := &resources{limits: cmd.Limits.Or(sandbox.DefaultLimits())}
	var err error
	var sources []inode
	if g.mounts, sources, err = commandMounts(cmd); err != nil {
		return nil, err
	}
	if g.gateway, err = newGateway(cmd.Grant, p.egress); err != nil {
		return nil, err
	}
	if g.gateway != nil && cmd.Proxied != nil {
		cmd.Proxied(g.gateway.proxy.Connections)
	}
	g.recipe = newRecipe(cmd.Grant, g.limits, g.mounts, sources)
	return g, nil
}

// acquireFor returns an instance for a command's grant and limits: one that was prepared
// for them, and otherwise any, with open trees of the grant's mounts.
func (p *pool) acquireFor(g *resources) (b *instance, trees []int, err error) {
	if b := p.popPrepared(g.recipe); b != nil {
		p.taken(true)
		return b, nil, nil
	}
	if trees, err = p.host.openMounts(g.mounts, p.open); err != nil {
		return nil, nil, diagnose(err)
	}
	if b, err = p.acquire(g.limits); err != nil {
		closeAll(trees)
		return nil, nil, diagnose(err)
	}
	return b, trees, nil
}

// run runs one command in a sandbox of its own.
func (p *pool) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	g, err := p.newResources(cmd)
	if err != nil {
		return nil, err
	}
	defer g.gateway.close()
	env := p.host.environ(cmd, g.gateway)
	if err := checkCommandLine(cmd, env); err != nil {
		return nil, err
	}
	b, trees, err := p.acquireFor(g)
	if err != nil {
		return nil, err
	}
	defer p.retire(b, cmd.Warm, g.recipe)
	if len(cmd.Grant.Covers) > 0 { // which the caller takes away
		defer func() { b.kill(); b.wait() }()
	}
	defer context.AfterFunc(ctx, b.kill)()
	defer b.watchMemory(g.limits.Memory)()

	t := &execution{instance: b, cmd: cmd, gateway: g.gateway, streams: b.streams, limits: g.limits}
	t.err = t.send(p.host, g, trees, env)
	closeAll(trees)
	b.streams.closeTheirs()
	stopRefill := func() {}
	t.onStart = func() { stopRefill = p.refillDuring(cmd.Warm, g.recipe) }
	t.awaitReports()
	stopRefill()
	if !t.exited {
		b.kill()
		b.wait()
	}
	b.streams.finish()
	g.gateway.close()
	exit, err := t.result(ctx)
	if exit != nil {
		exit.Out, exit.Connections = b.collect(), g.gateway.connections(0)
	}
	return exit, err
}

// environ returns a command's environment.
func (h *host) environ(cmd *sandbox.Command, g *gateway) []string {
	return cmd.Environ(append(g.environ(), "PATH="+h.path)...)
}

// An execution is one command in an instance, with its exit status.
type execution struct {
	instance   *instance
	cmd        *sandbox.Command
	gateway    *gateway
	streams    *stdio
	limits     sandbox.Limits
	setup, job *sequence // setup is nil where it was made before
	onStart    func()    // nil for nothing

	settled bool // the setup is made
	exited  bool // by itself
	code    int
	failure *failure // why the command never began
	err     error    // why nothing is known
}

// send sends the command to the init, with the setup unless that is made.
func (t *execution) send(h *host, g *resources, trees []int, env []string) error {
	b := t.instance
	t.job = commandSequence(t.cmd.Argv, env, streamSlots(t.cmd, slot(len(g.mounts))), h.resourceLimits(g.limits, b.group))
	if b.prepared != nil {
		return b.socket.send(t.job.pack(nil, kindLastCommand), nil)
	}
	t.setup = h.setupSequence(g.mounts, g.limits, b.group, g.gateway != nil)
	return b.socket.send(t.job.pack(t.setup.pack(nil, kindSetup), kindLastCommand), append(trees, b.streams.fds(h.null)...))
}

// awaitReports handles the init's reports until the last.
func (t *execution) awaitReports() {
	for !t.settled && !t.exited && t.failure == nil {
		r, err := t.instance.socket.receiveReport()
		if err == nil {
			err = t.handle(r)
		}
		if err != nil {
			t.err = cmp.Or(t.err, err)
			return
		}
	}
}

// handle processes one report.
func (t *execution) handle(r report) error {
	switch r.event {
	case eventListening:
		if len(r.fds) == 1 && t.gateway != nil {
			return t.gateway.serve(r.fds[0])
		}
	case eventSettled:
		t.settled = true
	case eventStarted:
		if t.cmd.Started != nil {
			t.cmd.Started()
		}
		t.streams.start(t.cmd)
		if t.onStart != nil {
			t.onStart()
		}
	case eventExited:
		t.exited, t.code = true, r.a
	case eventExecutedInit:
		t.failure = &failure{Step: stepSelf, Errno: unix.EPERM}
	case eventFailed:
		failed := t.job
		if kind(r.a) == kindSetup {
			failed = t.setup
		}
		t.failure = failed.failed(r.call, unix.Errno(r.b))
	}
	return nil
}

// result returns the command's exit, or why there is none.
func (t *execution) result(ctx context.Context) (*sandbox.Exit, error) {
	exit := &sandbox.Exit{Code: t.code, Sandbox: label}
	if !t.exited {
		exit.Code = killed
	}
	switch {
	// A command that got over the end of one of its processes is no case for the
	// limit.
	case exit.Code != 0 && (t.instance.exceeded.Load() || t.instance.group.ranOutOfMemory()):
		return exit, t.limits.OutOfMemory()
	case t.exited:
		return exit, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case t.failure != nil:
		return nil, explain(t.failure, t.cmd)
	}
	return nil, &sandbox.UnavailableError{
		Reason: "the sandbox was killed from outside before its command ended",
		Remedy: "try again",
		Err:    t.err,
	}
}

// commandMounts returns the skill's folder and the workspaces, a workspace before
// those below it, and which folders they are.
func commandMounts(cmd *sandbox.Command) (mounts []mount, sources []inode, err error) {
	folder, err := checkFolder(cmd.Folder)
	if err != nil {
		return nil, nil, fmt.Errorf("skill's folder: %w", err)
	}
	workspaces := cmd.Grant.Workspaces
	mounts, sources = []mount{{Source: cmd.Folder, Target: sandbox.SkillDir}}, []inode{folder}
	if data := cmd.Grant.Data; data != "" {
		folder, err := checkFolder(data)
		if err != nil {
			return nil, nil, fmt.Errorf("data folder: %w", err)
		}
		mounts, sources = append(mounts, mount{Source: data, Target: sandbox.DataDir, Write: true}), append(sources, folder)
	}
	show := func(path, target string) error {
		folder, err := checkWorkspace(path)
		mounts = append(mounts, mount{Source: path, Around: cmd.Grant.Around(path), Target: target, Write: cmd.Grant.Write})
		sources = append(sources, folder)
		for _, c := range cmd.Grant.Covers {
			if c.Workspace == path {
				mounts = append(mounts, mount{Source: filepath.Join(path, c.Path), Around: path, Target: filepath.Join(target, c.Path), Write: c.Write, Inside: true})
			}
		}
		return err
	}
	if cmd.Grant.Aliased() {
		if err := show(workspaces[0], sandbox.WorkspaceDir); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(workspaces))) {
		if err := show(path, path); err != nil {
			return nil, nil, err
		}
	}
	if len(mounts) > maxTrees {
		return nil, nil, fmt.Errorf("%d workspaces are too many: they take %d mounts, of at most %d", len(workspaces), len(mounts), maxTrees)
	}
	return mounts, sources, nil
}

// checkCommandLine returns an error for arguments or an environment that no
// process can have.
func checkCommandLine(cmd *sandbox.Command, env []string) error {
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return errors.New("the command is empty")
	}
	size := 0
	for _, s := range slices.Concat(cmd.Argv, env) {
		if strings.ContainsRune(s, 0) {
			return errors.New("the command has a NUL byte in its arguments or environment")
		}
		size += len(s) + 2*wordBytes
	}
	if size > maxSequence {
		return fmt.Errorf("the arguments and environment are too long: %s", sandbox.Bytes(int64(size)))
	}
	return nil
}

// A gateway is the proxy of one sandbox that was granted hosts. The init makes
// its socket, in the sandbox's network; the server, in the host's network,
// serves it.
type gateway struct {
	proxy   *egress.Proxy
	serving sync.WaitGroup // close waits for it
}

// newGateway returns nil where no hosts are granted.
func newGateway(grant sandbox.Grant, options *egress.Options) (*gateway, error) {
	if len(grant.Hosts) == 0 {
		return nil, nil
	}
	proxy, err := egress.New(grant, options)
	if err != nil {
		return nil, err
	}
	return &gateway{proxy: proxy}, nil
}

// environ returns the variables that point the command's programs to the proxy.
func (g *gateway) environ() []string {
	if g == nil {
		return nil
	}
	return egress.Environ(egress.Address)
}

// serve serves a listening socket, which it owns from then on.
func (g *gateway) serve(socket int) error {
	file := os.NewFile(uintptr(socket), "proxy")
	listener, err := net.FileListener(file)
	_ = file.Close()
	if err != nil {
		return err
	}
	g.serving.Go(func() { _ = g.proxy.Serve(listener) }) // ends with the proxy
	return nil
}

// close ends the proxy and all that goes over it.
func (g *gateway) close() {
	if g != nil {
		_ = g.proxy.Close() // of connections that nobody needs any more
		g.serving.Wait()
	}
}

// connections returns those from the first on.
func (g *gateway) connections(first int) []sandbox.Connection {
	if g == nil {
		return nil
	}
	all := g.proxy.Connections()
	return all[min(first, len(all)):]
}
