//go:build amd64 || arm64

package native

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/protect"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
)

// A preparedCall calls one command again and again, each time with all sandboxes ready.
type preparedCall struct {
	driver *Driver
	cmd    sandbox.Command
}

// run runs the command, and reports whether it got the sandbox that was prepared.
func (c preparedCall) run(t *testing.T) (got outcome, used bool) {
	t.Helper()
	before := slices.Clone(c.driver.pool.prepared.ready)
	got = try(t, c.driver, c.cmd)
	awaitRefill(c.driver.pool)
	for _, b := range before {
		if b.streams.copied != nil { // it has run a command
			used = true
		}
	}
	return got, used
}

// newPreparedCall returns the call of a script with a workspace, after its first run.
func newPreparedCall(t *testing.T, grant sandbox.Grant, script string) preparedCall {
	t.Helper()
	c := preparedCall{newDriver(t), sandbox.Command{Argv: []string{"bash", "-c", script}, Folder: openFolder(t), Grant: grant}}
	if got, used := c.run(t); got.err != nil || used {
		t.Fatalf("the first call: %+v, prepared: %v", got, used)
	}
	return c
}

// TestPrepared wants the second of two equal commands to find a sandbox with its mounts,
// and one of another kind not.
func TestPrepared(t *testing.T) {
	workspace := openFolder(t)
	write(t, filepath.Join(workspace, "file"), "text\n", 0o644)
	c := newPreparedCall(t, sandbox.Grant{Workspaces: []string{workspace}}, `cat /workspace/file; cat; pwd; echo x 2>/dev/null >/workspace/file; ls -A /out; echo error >&2; ulimit -n`)
	c.cmd.Stdin = strings.NewReader("input\n")
	got, used := c.run(t)
	if want := "text\ninput\n/skill\n512\n"; !used || got.stdout != want || !strings.Contains(got.stderr, "error\n") {
		t.Errorf("prepared: %v, got %+v, want %q", used, got, want)
	}
	for name, change := range map[string]func(cmd *sandbox.Command){
		"write access":      func(cmd *sandbox.Command) { cmd.Grant.Write = true },
		"another workspace": func(cmd *sandbox.Command) { cmd.Grant.Workspaces = []string{openFolder(t)} },
		"no workspace":      func(cmd *sandbox.Command) { cmd.Grant.Workspaces = nil },
		"another folder":    func(cmd *sandbox.Command) { cmd.Folder = openFolder(t) },
		"hosts":             func(cmd *sandbox.Command) { cmd.Grant.Hosts = []string{"example.com:443"} },
		"less memory":       func(cmd *sandbox.Command) { cmd.Limits.Memory = 100 << 20 },
		"fewer processes":   func(cmd *sandbox.Command) { cmd.Limits.PIDs = 20 },
		"a smaller /tmp":    func(cmd *sandbox.Command) { cmd.Limits.Tmp = 1 << 20 },
	} {
		other := preparedCall{c.driver, c.cmd}
		other.cmd.Stdin = nil
		other.cmd.Argv = []string{"true"}
		change(&other.cmd)
		if got, used := other.run(t); used || got.err != nil {
			t.Errorf("%s: prepared: %v, got %+v", name, used, got)
		}
		// Each is a kind of its own, so the first is prepared for again.
		if _, used := c.run(t); !used {
			t.Errorf("the first command after one with %s was not prepared for", name)
		}
	}
	// These hold for the command alone.
	c.cmd.Limits.Files, c.cmd.Limits.File = 100, 1<<20
	c.cmd.Argv = []string{"bash", "-c", "ulimit -n"}
	if got, used := c.run(t); !used || got.stdout != "100\n" {
		t.Errorf("open files: prepared: %v, got %+v", used, got)
	}
}

// TestNeverPrepared is about grants that no waiting sandbox may have.
func TestNeverPrepared(t *testing.T) {
	outer := openFolder(t)
	inner := filepath.Join(outer, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, grant := range map[string]sandbox.Grant{
		"write access":     {Workspaces: []string{outer}, Write: true},
		"nested workspace": {Workspaces: []string{outer, inner}},
		"hosts":            {Hosts: []string{"example.com:443"}},
	} {
		c := newPreparedCall(t, grant, `true`)
		if got, used := c.run(t); used || got.err != nil || len(c.driver.pool.prepared.ready) > 0 {
			t.Errorf("%s: prepared: %v, waiting: %d, got %+v", name, used, len(c.driver.pool.prepared.ready), got)
		}
	}
}

// TestPreparedForAnotherFolder puts another folder in the place of one that a waiting
// sandbox has.
func TestPreparedForAnotherFolder(t *testing.T) {
	parent := openFolder(t)
	place := filepath.Join(parent, "place")
	create := func(text string) {
		t.Helper()
		if err := os.Mkdir(place, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(place, "file"), text, 0o644)
	}
	create("old\n")
	c := newPreparedCall(t, sandbox.Grant{Workspaces: []string{place}}, `cat /workspace/file`)
	for _, move := range []func() error{
		func() error { return os.Rename(place, place+".old") },
		func() error { return os.RemoveAll(place) },
	} {
		if err := move(); err != nil {
			t.Fatal(err)
		}
		create("new\n")
		if got, used := c.run(t); used || got.stdout != "new\n" {
			t.Errorf("prepared: %v, got %+v", used, got)
		}
		if got, used := c.run(t); !used || got.stdout != "new\n" {
			t.Errorf("again: prepared: %v, got %+v", used, got)
		}
	}
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	if got, used := c.run(t); used || got.err == nil {
		t.Errorf("without the folder: prepared: %v, got %+v", used, got)
	}
}

// TestPreparedBeforeMount mounts a file system below a workspace, and takes it away: a
// command sees neither too late.
func TestPreparedBeforeMount(t *testing.T) {
	workspace := openFolder(t)
	below := filepath.Join(workspace, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	c := newPreparedCall(t, sandbox.Grant{Workspaces: []string{workspace}}, `ls /workspace/below`)
	if err := unix.Mount("tmpfs", below, "tmpfs", 0, "mode=0755"); err != nil {
		t.Skipf("SKIPPED: mount: %v", err)
	}
	mounted := true
	defer func() {
		if mounted {
			_ = unix.Unmount(below, unix.MNT_DETACH)
		}
	}()
	write(t, filepath.Join(below, "mounted"), "", 0o644)
	for _, want := range []bool{false, true} { // the second finds one that has the mount
		if got, used := c.run(t); used != want || got.stdout != "mounted\n" {
			t.Errorf("mounted: prepared: %v, got %+v", used, got)
		}
	}
	if err := unix.Unmount(below, 0); err != nil {
		t.Fatal(err)
	}
	mounted = false
	for _, want := range []bool{false, true} {
		if got, used := c.run(t); used != want || got.stdout != "" || got.err != nil {
			t.Errorf("unmounted: prepared: %v, got %+v", used, got)
		}
	}
	// One elsewhere changes nothing.
	elsewhere := openFolder(t)
	if err := unix.Mount("tmpfs", elsewhere, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Unmount(elsewhere, unix.MNT_DETACH) }()
	if got, used := c.run(t); !used || got.err != nil {
		t.Errorf("mounted elsewhere: prepared: %v, got %+v", used, got)
	}
}

// TestPreparedIsKilled has a command outlive the end of the sandbox that was prepared
// for it.
func TestPreparedIsKilled(t *testing.T) {
	c := newPreparedCall(t, sandbox.Grant{}, `echo ran`)
	for _, b := range c.driver.pool.prepared.ready {
		b.kill()
		b.wait()
	}
	if got, used := c.run(t); used || got.stdout != "ran\n" {
		t.Errorf("prepared: %v, got %+v", used, got)
	}
	if got, used := c.run(t); !used || got.stdout != "ran\n" {
		t.Errorf("again: prepared: %v, got %+v", used, got)
	}
}

func TestMountView(t *testing.T) {
	const (
		root  = "22 1 8:1 / / rw - ext4 /dev/sda rw\n"
		home  = "23 22 8:2 / /home rw - ext4 /dev/sdb rw\n"
		blank = `24 23 8:3 / /home/a\040b rw - ext4 /dev/sdc rw` + "\n"
		deep  = "25 23 8:4 / /home/a/work/deep rw - ext4 /dev/sdd rw\n"
		other = "26 22 8:5 / /home/ab rw - ext4 /dev/sde rw\n"
	)
	table := &mountTable{fd: -1, text: []byte(root + home + blank + deep + other + "junk\n")}
	for folder, want := range map[string]string{
		"/home/a/work":  root + home + deep,
		"/home/a b/c":   root + home + blank,
		"/home/ab":      root + home + other,
		"/srv":          root,
		"/":             root + home + blank + deep + other,
		"/home/a/work/": root + home + deep,
	} {
		if got := table.view([]string{folder}); got != want {
			t.Errorf("%s: got\n%swant\n%s", folder, got, want)
		}
	}
}

func TestEmptyFolder(t *testing.T) {
	for _, name := range []string{"", "file", ".hidden", strings.Repeat("n", 255)} {
		folder := t.TempDir()
		if name != "" {
			write(t, filepath.Join(folder, name), "", 0o644)
		}
		fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := emptyFolder(fd); got != (name == "") {
			t.Errorf("with %q: %v", name, got)
		}
		_ = unix.Close(fd)
	}
	if emptyFolder(-1) {
		t.Error("a folder that cannot be read is empty")
	}
}

// TestPreparedIsTheSame compares all that a process can see of its restrictions in a
// sandbox that was prepared and in one that was not.
func TestPreparedIsTheSame(t *testing.T) {
	c := preparedCall{newDriver(t), sandbox.Command{
		Argv: []string{"bash", "-c", `
			grep -v -E '^(Vm|Rss|Hugetlb|voluntary|nonvoluntary|Cpus|Mems|Pid|Tgid|NSpid|NStgid|NSpgid|NSsid|PPid|Ngid|THP|x86|untag|StaBrk)' /proc/self/status
			cut -d ' ' -f 4- /proc/self/mountinfo | sed -e 's/0:[0-9]* //' | sort
			cat /proc/self/limits /proc/self/uid_map /proc/self/gid_map /proc/self/setgroups /proc/self/attr/current
			ls -l /proc/self/fd | sed -e 's/.*[0-9] //' -e 's/[0-9]*\]//' -e 's#/proc/[0-9]*/#/proc/N/#'
			cat /proc/self/oom_score_adj /proc/sys/user/max_user_namespaces /proc/sys/user/max_inotify_watches
			ps -e -o args 2>/dev/null; id; umask; pwd; env | sort; stat -c '%A %U %G %n' /* /tmp /out /dev/* /skill; stat -f -c '%b %c' /tmp /out /dev/shm
		`},
		Folder: openFolder(t), Env: []string{"GRANTED=1"}, Grant: sandbox.Grant{Workspaces: []string{openFolder(t)}},
	}}
	first, used := c.run(t)
	if used || first.err != nil {
		t.Fatalf("the first call: prepared: %v, %+v", used, first)
	}
	second, used := c.run(t)
	if !used || second.err != nil {
		t.Fatalf("the second call: prepared: %v, %+v", used, second)
	}
	if diff := cmp.Diff(first.stdout, second.stdout); diff != "" || !strings.Contains(first.stdout, "NoNewPrivs:\t1") {
		t.Errorf("(-not prepared +prepared):\n%s", diff)
	}
}

// TestSuitePrepared has the suite, with its attacks, find a prepared sandbox for each
// command that one may be prepared for.
func TestSuitePrepared(t *testing.T) {
	var used atomic.Int64
	sandboxtest.Run(t, func(t *testing.T) sandbox.Driver {
		newDriver(t) // skips
		return preparing{New(&Options{Guard: protect.New(t.TempDir())}), &used}
	})
	if used.Load() == 0 {
		t.Error("no command found a prepared sandbox")
	}
}

// A preparing driver prepares a sandbox for each command before it runs it.
type preparing struct {
	*Driver
	used *atomic.Int64 // commands for which there was one
}

func (d preparing) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	if p, err := d.detect(); err == nil {
		if g, err := p.newResources(cmd); err == nil {
			g.gateway.close()
			if g.recipe != nil && awaitPrepared(p, g.recipe) {
				d.used.Add(1)
			}
		}
	}
	return d.Driver.Run(ctx, cmd)
}

// awaitPrepared prepares for a recipe, and reports whether it could.
func awaitPrepared(p *pool, r *recipe) bool {
	p.fill(r)
	for {
		p.mu.Lock()
		ready, filling := p.prepared.index(r) >= 0, p.filling
		p.mu.Unlock()
		if ready || !filling {
			return ready
		}
		runtime.Gosched()
	}
}
