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
	// label is what a [sandbox.Exit] says ran the command.
	label = "native"
	// killed is the exit code when the kernel ended the whole sandbox.
	killed = 128 + 9
)

// A ground is what a sandbox is made of for a command's grant.
type ground struct {
	limits  sandbox.Limits
	mounts  []mount
	trees   []int    // open, one for each mount
	gateway *gateway // nil without hosts
}

// ground checks what cmd is granted and opens it.
func (p *pool) ground(cmd *sandbox.Command) (*ground, error) {
	g := &ground{limits: cmd.Limits.Or(sandbox.DefaultLimits())}
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

// close releases what the sandbox has its own of, and ends its gateway.
func (g *ground) close() {
	closeAll(g.trees)
	g.trees = nil
	g.gateway.close()
}

// run runs one command in a sandbox of its own.
func (p *pool) run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	g, err := p.ground(cmd)
	if err != nil {
		return nil, err
	}
	defer g.close()
	env := p.host.environ(cmd, g.gateway)
	if err := checkLine(cmd, env); err != nil {
		return nil, err
	}
	streams, err := openStdio(cmd, p.host.user)
	if err != nil {
		return nil, err
	}
	defer streams.close()
	defer p.refill(cmd.Warm)()
	b, err := p.take(g.limits)
	if err != nil {
		return nil, diagnose(err)
	}
	defer p.drop(b)
	defer context.AfterFunc(ctx, b.kill)()
	defer b.watchMemory(g.limits.Memory)()

	t := &turn{box: b, cmd: cmd, gateway: g.gateway, streams: streams, limits: g.limits}
	t.setup = p.host.setupScript(g, b.group)
	t.job = jobScript(cmd.Argv, env, slot(len(g.trees)), b.resourceLimits(g.limits))
	t.err = b.line.send(t.job.pack(t.setup.pack(nil, kindSetup), kindOnce), append(g.trees, streams.fds()...))
	streams.closeTheirs()
	t.listen()
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

// A turn is one command's in a box, and how it ended.
type turn struct {
	box        *box
	cmd        *sandbox.Command
	gateway    *gateway
	streams    *stdio
	limits     sandbox.Limits
	setup, job *script // setup is nil where it was made before

	settled bool // the setup is made
	exited  bool // by itself
	code    int
	failure *failure // why the command never began
	err     error    // why nothing is known
}

// listen takes the init's reports until there is nothing more to come.
func (t *turn) listen() {
	for !t.settled && !t.exited && t.failure == nil {
		r, err := t.box.line.report()
		if err == nil {
			err = t.note(r)
		}
		if err != nil {
			if t.err == nil {
				t.err = err
			}
			return
		}
	}
}

// note takes one report.
func (t *turn) note(r report) error {
	switch r.news {
	case isListening:
		if len(r.fds) == 1 && t.gateway != nil {
			return t.gateway.serve(r.fds[0])
		}
	case isSettled:
		t.settled = true
	case hasStarted:
		if t.cmd.Started != nil {
			t.cmd.Started()
		}
		t.streams.start(t.cmd)
	case hasExited:
		t.exited, t.code = true, r.a
	case isSelf:
		t.failure = &failure{Step: stepSelf, Errno: unix.EPERM}
	case hasFailed:
		failed := t.job
		if kind(r.a) == kindSetup {
			failed = t.setup
		}
		t.failure = failed.failed(r.call, unix.Errno(r.b))
	}
	return nil
}

// result returns what came of the turn.
func (t *turn) result(ctx context.Context) (*sandbox.Exit, error) {
	exit := &sandbox.Exit{Code: t.code, Sandbox: label}
	if !t.exited {
		exit.Code = killed
	}
	switch {
	// A command that got over the end of one of its processes is no case for the
	// limit.
	case exit.Code != 0 && (t.box.exceeded.Load() || t.box.group.ranOutOfMemory()):
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

// maxTrees is how many open trees go with a script.
const maxTrees = 200

// setupScript is what an init does when it knows the command's grant and limits:
// it attaches the trees that come with the script, and locks itself down.
func (h *host) setupScript(g *ground, group *cgroup) *script {
	s, limits := &script{}, g.limits
	if limits.Tmp != h.tmp {
		s.resize("/tmp", limits.Tmp)
		s.resize(sandbox.OutDir, limits.Tmp)
		s.resize("/dev/shm", min(limits.Tmp, shmLimit))
	}
	for i, m := range g.mounts {
		if m.Target != sandbox.SkillDir {
			s.folder(m.Target)
		}
		s.attach(place{stepMount, m.Source}, slot(i), m.Target)
	}
	if g.gateway != nil {
		s.listen()
	}
	seal := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	s.add(place{stepSetup, "make the root read-only"}, unix.SYS_MOUNT_SETATTR, here(), s.text("/"), number(0), s.bytes(asBytes(&seal)), number(unix.MOUNT_ATTR_SIZE_VER0))
	s.add(place{stepMount, sandbox.SkillDir}, unix.SYS_CHDIR, s.text(sandbox.SkillDir))
	filter := h.filter
	if !group.boundsMemory() {
		filter = h.noShared
	}
	s.lockDown(h, filter)
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
			mounts = append(mounts, mount{Source: path, Around: around(path, workspaces), Target: sandbox.WorkspaceDir, Write: cmd.Grant.Write})
		}
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(workspaces))) {
		mounts = append(mounts, mount{Source: path, Around: around(path, workspaces), Target: path, Write: cmd.Grant.Write})
	}
	return mounts, nil
}

// around returns the outermost workspace that path is below, "" when none is.
func around(path string, workspaces []string) string {
	outermost := ""
	for _, other := range workspaces {
		if other != path && within(path, other) && (outermost == "" || within(outermost, other)) {
			outermost = other
		}
	}
	return outermost
}

// checkLine refuses what no command line can be.
func checkLine(cmd *sandbox.Command, env []string) error {
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
	if size > maxScript {
		return fmt.Errorf("the arguments and environment are too long: %s", sandbox.Bytes(int64(size)))
	}
	return nil
}

// openMounts opens what is to be mounted for a command: the server, where it has
// the right to, as it may have a way to what its sandboxes' user has not; and
// else the zygote.
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

// A gateway is the proxy of one sandbox that was granted hosts. Its socket is in
// the sandbox's network, where only the init can make it, and is served by the
// server, which is in the host's.
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

// environ returns what tells the command's programs of the proxy.
func (g *gateway) environ() []string {
	if g == nil {
		return nil
	}
	return egress.Environ(egress.Address)
}

// serve serves a listening socket, which it takes over.
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
