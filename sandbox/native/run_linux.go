//go:build amd64 || arm64

package native

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
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

// resources are the limits, open mounts and proxy that a command's grant gives
// its sandbox.
type resources struct {
	limits  sandbox.Limits
	mounts  []mount
	trees   []int    // open, one for each mount
	gateway *gateway // nil without hosts
}

// openResources checks a command's grant and opens its resources.
func (p *pool) openResources(cmd *sandbox.Command) (*resources, error) {
	g := &resources{limits: cmd.Limits.Or(sandbox.DefaultLimits())}
	var err error
	if g.mounts, err = commandMounts(cmd); err != nil {
		return nil, err
	}
	if g.gateway, err = newGateway(cmd.Grant, p.egress); err != nil {
		return nil, err
	}
	if g.trees, err = p.host.openMounts(g.mounts, p.open); err != nil {
		return nil, diagnose(err)
	}
	return g, nil
}

// close closes the trees and ends the gateway.
func (g *resources) close() {
	closeAll(g.trees)
	g.trees = nil
	g.gateway.close()
}

// run runs one command in a sandbox of its own.
func (p *pool) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	g, err := p.openResources(cmd)
	if err != nil {
		return nil, err
	}
	defer g.close()
	env := p.host.environ(cmd, g.gateway)
	if err := checkCommandLine(cmd, env); err != nil {
		return nil, err
	}
	streams, err := openStdio(cmd, p.host.user)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	defer p.scheduleRefill(cmd.Warm)()
	b, err := p.acquire(g.limits)
	if err != nil {
		return nil, diagnose(err)
	}
	defer p.drop(b)
	defer context.AfterFunc(ctx, b.kill)()
	defer b.watchMemory(g.limits.Memory)()

	t := &execution{instance: b, cmd: cmd, gateway: g.gateway, streams: streams, limits: g.limits}
	t.setup = p.host.setupSequence(g, b.group)
	t.job = commandSequence(cmd.Argv, env, slot(len(g.trees)), b.resourceLimits(g.limits))
	t.err = b.socket.send(t.job.pack(t.setup.pack(nil, kindSetup), kindLastCommand), append(g.trees, streams.fds()...))
	streams.closeTheirs()
	t.awaitReports()
	if !t.exited {
		b.kill()
		b.wait()
	}
	streams.finish()
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

	settled bool // the setup is made
	exited  bool // by itself
	code    int
	failure *failure // why the command never began
	err     error    // why nothing is known
}

// awaitReports handles the init's reports until the last.
func (t *execution) awaitReports() {
	for !t.settled && !t.exited && t.failure == nil {
		r, err := t.instance.socket.receiveReport()
		if err == nil {
			err = t.handle(r)
		}
		if err != nil {
			if t.err == nil {
				t.err = err
			}
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
		return exit, &sandbox.LimitError{Limit: sandbox.LimitMemory, Value: sandbox.Bytes(t.limits.Memory)}
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

// maxTrees bounds the mount trees that are sent with a sequence.
const maxTrees = 200

// setupSequence returns the calls that apply a command's grant and limits: they
// attach the trees that are sent with them, and lock the init down.
func (h *host) setupSequence(g *resources, group *cgroup) *sequence {
	s, limits := &sequence{}, g.limits
	if limits.Tmp != h.tmp {
		resizeTmpfs(s, "/tmp", limits.Tmp)
		resizeTmpfs(s, sandbox.OutDir, limits.Tmp)
		resizeTmpfs(s, "/dev/shm", min(limits.Tmp, shmLimit))
	}
	for i, m := range g.mounts {
		if m.Target != sandbox.SkillDir {
			s.folder(m.Target)
		}
		s.attach(purpose{stepMount, m.Source}, slot(i), m.Target)
	}
	if g.gateway != nil {
		listenForProxy(s)
	}
	seal := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	s.add(purpose{stepSetup, "make the root read-only"}, unix.SYS_MOUNT_SETATTR, here(), s.text("/"), number(0), s.bytes(asBytes(&seal)), number(unix.MOUNT_ATTR_SIZE_VER0))
	s.add(purpose{stepMount, sandbox.SkillDir}, unix.SYS_CHDIR, s.text(sandbox.SkillDir))
	filter := h.filter
	if !group.boundsMemory() {
		filter = h.noShared
	}
	lockDown(s, h.user, h.notify, filter)
	return s
}

// commandMounts returns the skill's folder and the workspaces, a workspace
// before those below it.
func commandMounts(cmd *sandbox.Command) ([]mount, error) {
	if err := checkFolder(cmd.Folder); err != nil {
		return nil, fmt.Errorf("skill's folder: %w", err)
	}
	workspaces := cmd.Grant.Workspaces
	if len(workspaces)+2 > maxTrees {
		return nil, fmt.Errorf("%d workspaces are too many: at most %d", len(workspaces), maxTrees-2)
	}
	mounts := []mount{{Source: cmd.Folder, Target: sandbox.SkillDir}}
	for i, path := range workspaces {
		if err := checkWorkspace(path); err != nil {
			return nil, err
		}
		if i == 0 && cmd.Grant.Aliased() {
			mounts = append(mounts, mount{Source: path, Around: cmd.Grant.Around(path), Target: sandbox.WorkspaceDir, Write: cmd.Grant.Write})
		}
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(workspaces))) {
		mounts = append(mounts, mount{Source: path, Around: cmd.Grant.Around(path), Target: path, Write: cmd.Grant.Write})
	}
	return mounts, nil
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

// openMounts opens a command's mounts: in the server where it may, as it may
// reach folders that the sandbox's user cannot, and otherwise in the zygote.
func (h *host) openMounts(mounts []mount, zygote func([]mount) ([]int, error)) ([]int, error) {
	if h.user.changes {
		trees, err := openTrees(mounts)
		if !errors.Is(err, unix.EPERM) { // of root without the right to mount
			return trees, explainMount(mounts, err)
		}
	}
	trees, err := zygote(mounts)
	return trees, explainMount(mounts, err)
}

// explainMount returns an error for people.
func explainMount(mounts []mount, err error) error {
	var f *failure
	if !errors.As(err, &f) || f.Step != stepMount {
		return err
	}
	for _, m := range mounts {
		if m.Source == f.What && m.Around != "" && f.Errno == unix.ELOOP {
			return fmt.Errorf("workspace %s: a symbolic link leads there from workspace %s; remove the link", m.Source, m.Around)
		}
	}
	if f.Errno == unix.EACCES { // a path's matter, not the system's
		return fmt.Errorf("mount %s: permission denied; let the user that sandboxes run as reach it", f.What)
	}
	return fmt.Errorf("mount %s: %w", f.What, f.Errno)
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
	proxy, err := egress.New(grant.Hosts, options)
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
