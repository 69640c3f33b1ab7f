// Package sandboxtest is the suite that every sandbox driver passes: what a
// command finds, what it is kept from, and what is left when it is gone. Call
// [Run] from a driver's test.
//
// The cases need bash, coreutils and python3 in the sandbox, and nothing else.
package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// Run runs the suite on the driver that newDriver returns. The suite closes
// it. Each case has a driver of its own, so that Close is tested as often.
func Run(t *testing.T, newDriver func(t *testing.T) sandbox.Driver) {
	RunWith(t, newDriver, Traits{})
}

// Traits are in what a driver may differ from what the suite expects.
type Traits struct {
	// OwnKernel says that each sandbox has a kernel of its own. What that grants
	// is inside of the sandbox, as a user namespace is; what reaches the host is
	// refused as with any other driver.
	OwnKernel bool
	// HostUser says that a sandbox's user is one of the host's, without a user
	// namespace: the kernel's limits for users count for that one.
	HostUser bool
	// SilentMemory says that the driver cannot tell that a command was ended for
	// its memory. It is ended all the same.
	SilentMemory bool
}

// RunWith is Run for a driver with traits.
func RunWith(t *testing.T, newDriver func(t *testing.T) sandbox.Driver, traits Traits) {
	suite{newDriver, traits}.run(t)
}

func (s suite) run(t *testing.T) {
	t.Run("Output", s.output)
	t.Run("ExitCode", s.exitCode)
	t.Run("Arguments", s.arguments)
	t.Run("Stdin", s.stdin)
	t.Run("Dialogue", s.dialogue)
	t.Run("Environment", s.environment)
	t.Run("Secrets", s.secrets)
	t.Run("Filesystem", s.filesystem)
	t.Run("Workspace", s.workspace)
	t.Run("Identity", s.identity)
	t.Run("Network", s.network)
	t.Run("Escape", s.escape)
	t.Run("Fresh", s.fresh)
	t.Run("Out", s.out)
	t.Run("Kept", s.kept)
	t.Run("Limits", s.limits)
	t.Run("Ending", s.ending)
	t.Run("Unavailable", s.unavailable)
	t.Run("Concurrent", s.concurrent)
	t.Run("Attacks", s.attacks)
}

type suite struct {
	newDriver func(t *testing.T) sandbox.Driver
	traits    Traits
}

// start returns a function that runs a command with a driver of t's own.
func (s suite) start(t *testing.T) func(ctx context.Context, cmd sandbox.Command) (*sandbox.Result, error) {
	t.Helper()
	t.TempDir() // the first is what removes all of them: after the driver is closed
	runner := sandbox.New(s.newDriver(t), nil)
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return func(ctx context.Context, cmd sandbox.Command) (*sandbox.Result, error) {
		t.Helper()
		if cmd.Folder == "" {
			cmd.Folder = Folder(t, nil)
		}
		cmd.RunID = "suite-" + strings.ToLower(filepath.Base(t.TempDir()))
		cmd.Skill = "suite/case"
		return runner.Run(ctx, cmd)
	}
}

// bash runs one bash script and fails the test when it could not be run.
func (s suite) bash(t *testing.T, script string, args ...string) *sandbox.Result {
	t.Helper()
	result, err := s.start(t)(t.Context(), bash(script, args...))
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return result
}

// bash is the command of an inline script.
func bash(script string, args ...string) sandbox.Command {
	return sandbox.Command{Argv: append([]string{"bash", "-c", script, "case"}, args...)}
}

// Folder returns a folder with files, by path, that every user may read, as a
// skill's snapshot is.
func Folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := shared(t)
	for name, content := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

// shared returns a new folder that every user may read.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantStdout compares stdout, and shows stderr where it differs.
func wantStdout(t *testing.T, r *sandbox.Result, want string) {
	t.Helper()
	if got := string(r.Stdout.Bytes()); got != want {
		t.Errorf("stdout = %q, want %q\nexit %d, stderr: %s", got, want, r.Code, r.Stderr.Bytes())
	}
}

func (s suite) output(t *testing.T) {
	t.Run("both streams to the last byte", func(t *testing.T) {
		r := s.bash(t, `printf out; printf err >&2`)
		wantStdout(t, r, "out")
		if got := string(r.Stderr.Bytes()); got != "err" {
			t.Errorf("stderr = %q, want %q", got, "err")
		}
	})
	t.Run("binary", func(t *testing.T) {
		r := s.bash(t, `printf '\x00\xff\x80\r\n\x1b'`)
		wantStdout(t, r, "\x00\xff\x80\r\n\x1b")
	})
	t.Run("one megabyte is complete", func(t *testing.T) {
		r := s.bash(t, `head -c 1048576 /dev/zero | tr '\0' x`)
		if got := r.Stdout; got.Total != 1<<20 || got.Truncated() || bytes.Count(got.Head, []byte("x")) != 1<<20 {
			t.Errorf("got %d bytes, %d kept", got.Total, len(got.Head)+len(got.Tail))
		}
	})
	t.Run("stderr comes live", func(t *testing.T) {
		// The command waits for its stdin, which closes once its line is seen.
		stdin, feed, err := os.Pipe()
		must(t, err)
		defer stdin.Close()
		cmd := bash(`echo first >&2; cat; echo second >&2`)
		cmd.Stdin = stdin
		cmd.Stderr = writer(func(p []byte) {
			if bytes.Contains(p, []byte("first")) {
				feed.Close()
			}
		})
		if _, err := s.start(t)(t.Context(), cmd); err != nil {
			t.Fatal(err)
		}
	})
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

func (s suite) exitCode(t *testing.T) {
	for script, want := range map[string]int{
		`exit 0`:          0,
		`exit 7`:          7,
		`exit 255`:        255,
		`kill -TERM $$`:   143,
		`kill -KILL $$`:   137,
		`no-such-program`: 127,
		// To its process group, which its parents may share.
		`trap : INT TERM HUP QUIT; kill -INT 0; kill -TERM 0; kill -HUP 0; kill -QUIT 0; exit 7`: 7,
		`kill -INT 0; exit 7`: 130,
	} {
		t.Run(script, func(t *testing.T) {
			if r := s.bash(t, script); r.Code != want {
				t.Errorf("exit code %d, want %d; stderr: %s", r.Code, want, r.Stderr.Bytes())
			}
		})
	}
}

// Hostile are argument values that a careless driver would change, split or
// execute.
func Hostile() map[string]string {
	return map[string]string{
		"semicolon":    "; rm -rf /",
		"substitution": "$(id)",
		"backticks":    "`id`",
		"newlines":     "a\nb\r\n\nc\n",
		"flag":         "--flag",
		"quotes":       `'"\'"'\\`,
		"empty":        "",
		"spaces":       "  a  b\t",
		"glob":         "/* ~ {a,b}",
		"variables":    "$HOME ${PATH} %s %n",
		"emoji":        "🦀 é 漢字 \u202e",
		"100 KB":       strings.Repeat("0123456789", 10<<10),
	}
}

func (s suite) arguments(t *testing.T) {
	run := s.start(t)
	for name, value := range Hostile() {
		t.Run(name, func(t *testing.T) {
			r, err := run(t.Context(), bash(`printf %s/ "$#"; printf %s "$2"`, "--value", value))
			if err != nil {
				t.Fatal(err)
			}
			wantStdout(t, r, "2/"+value)
		})
	}
}

func (s suite) stdin(t *testing.T) {
	run := s.start(t)
	t.Run("none is empty", func(t *testing.T) {
		r, err := run(t.Context(), bash(`cat; echo end`))
		must(t, err)
		wantStdout(t, r, "end\n")
	})
	t.Run("arrives whole", func(t *testing.T) {
		cmd := bash(`wc -c`)
		cmd.Stdin = strings.NewReader(strings.Repeat("y", 1<<20))
		r, err := run(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "1048576\n")
	})
	t.Run("unread is no error", func(t *testing.T) {
		cmd := bash(`echo done`)
		cmd.Stdin = strings.NewReader(strings.Repeat("y", 1<<20))
		r, err := run(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "done\n")
	})
	t.Run("that never ends does not keep the command", func(t *testing.T) {
		stdin, feed, err := os.Pipe()
		must(t, err)
		defer stdin.Close()
		defer feed.Close()
		cmd := bash(`echo done`)
		cmd.Stdin = stdin
		r, err := run(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "done\n")
	})
}

// secrets looks at all command lines of the machine, which all its users can
// read, while commands with a secret are made ready and run.
func (s suite) secrets(t *testing.T) {
	run := s.start(t)
	for range 5 {
		stdin, feed, err := os.Pipe()
		must(t, err)
		secret := newMark()
		cmd := bash(`read -r line; echo "$API_KEY"`)
		cmd.Env, cmd.Stdin = []string{"LC_ALL=C", "API_KEY=" + secret}, stdin
		running := make(chan struct{})
		cmd.Started = func() { close(running) }
		looked := make(chan string)
		go func() {
			defer feed.Close()
			for {
				shown := commandLine(secret)
				select {
				case <-running:
					looked <- shown + commandLine(secret)
					return
				default:
				}
				if shown != "" {
					<-running
					looked <- shown
					return
				}
			}
		}()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r, err := run(t.Context(), cmd)
			if err != nil {
				t.Errorf("run: %v", err)
				return
			}
			wantStdout(t, r, secret+"\n")
		}()
		if shown := <-looked; shown != "" {
			t.Errorf("a command line shows the secret: %q", shown)
		}
		<-ended
		stdin.Close()
	}
}

// commandLine returns a command line of the machine's that has the text, and ""
// when there is none.
func commandLine(text string) string {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(text)) {
			return string(line)
		}
	}
	return ""
}

func (s suite) environment(t *testing.T) {
	t.Setenv("SKILLS_MCP_SUITE_SECRET", "of the host")
	cmd := bash(`echo "$HOME $TMPDIR $LANG $GIVEN${SKILLS_MCP_SUITE_SECRET-}"; command -v ls >/dev/null && pwd`)
	cmd.Env = []string{"GIVEN=a=b c"}
	r, err := s.start(t)(t.Context(), cmd)
	must(t, err)
	wantStdout(t, r, "/tmp /tmp C.UTF-8 a=b c\n/skill\n")
}

func (s suite) filesystem(t *testing.T) {
	cmd := bash(`
		cat /skill/SKILL.md scripts/run.sh
		for path in /skill/new /skill/SKILL.md /new /usr/new /etc/new /bin/new /dev/new /proc/new; do
			(echo x >"$path") 2>/dev/null && echo "wrote $path"
		done
		for dir in /tmp /out; do
			echo kept >$dir/file && cat $dir/file
			printf '#!/bin/sh\n' >$dir/set; chmod 6755 $dir/set
			stat -f -c %T $dir
		done
		mkdir /tmp/a && ln -s /etc /tmp/a/b && rm -r /tmp/a
		exit 0`)
	cmd.Folder = Folder(t, map[string]string{"SKILL.md": "skill\n", "scripts/run.sh": "script\n"})
	r, err := s.start(t)(t.Context(), cmd)
	must(t, err)
	wantStdout(t, r, "skill\nscript\nkept\ntmpfs\nkept\ntmpfs\n")
	if entries, err := os.ReadDir(cmd.Folder); err != nil || len(entries) != 2 {
		t.Errorf("the skill's folder has changed: %v, %v", entries, err)
	}
}

func (s suite) workspace(t *testing.T) {
	first, second := Folder(t, map[string]string{"a.txt": "first\n"}), Folder(t, map[string]string{"b.txt": "second\n"})
	t.Run("read-only", func(t *testing.T) {
		cmd := bash(`cat /workspace/a.txt "$1/a.txt" "$2/b.txt"; (echo x >"$1/new" || echo x >/workspace/new) 2>/dev/null || echo refused`, first, second)
		cmd.Grant.Workspaces = []string{first, second}
		r, err := s.start(t)(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "first\nfirst\nsecond\nrefused\n")
	})
	t.Run("writable", func(t *testing.T) {
		must(t, os.Chmod(first, 0o777)) // the command may run as nobody
		cmd := bash(`umask; echo one >/workspace/new && echo two >>"$1/new"`, first)
		cmd.Grant = sandbox.Grant{Workspaces: []string{first}, Write: true}
		r, err := s.start(t)(t.Context(), cmd)
		must(t, err)
		wantStdout(t, r, "0022\n")
		got, err := os.ReadFile(filepath.Join(first, "new"))
		if err != nil || string(got) != "one\ntwo\n" {
			t.Errorf("the file in the workspace: %q, %v; stderr: %s", got, err, r.Stderr.Bytes())
		}
	})
	t.Run("not granted is not there", func(t *testing.T) {
		r := s.bash(t, `ls "$1" /workspace 2>/dev/null; echo end`, first)
		wantStdout(t, r, "end\n")
	})
	t.Run("with an awkward name", func(t *testing.T) {
		// Whoever writes a mount as text may read another one than was meant.
		for _, name := range []string{"a, b", "a,rw", "a,dst=/usr", "a,src=/etc", "a:rw", "a=b", `a"b'c`, "a b\tc", "ä"} {
			folder := filepath.Join(shared(t), name)
			must(t, os.MkdirAll(folder, 0o755))
			must(t, os.WriteFile(filepath.Join(folder, "file"), []byte("read\n"), 0o666))
			must(t, os.Chmod(filepath.Join(folder, "file"), 0o666))
			cmd := bash(`cat "$1/file"; (echo x >"$1/file") 2>/dev/null || echo refused`, folder)
			cmd.Grant.Workspaces = []string{folder}
			r, err := s.start(t)(t.Context(), cmd)
			if err != nil {
				if text := err.Error(); !strings.Contains(text, "workspace") {
					t.Errorf("workspace %q: error %v, want one that tells of the workspace", name, err)
				}
				continue
			}
			wantStdout(t, r, "read\nrefused\n")
		}
	})
	t.Run("that would hide the sandbox is refused", func(t *testing.T) {
		for _, path := range []string{"/", sandbox.SkillDir, "/proc", "/dev", sandbox.OutDir, "relative"} {
			cmd := bash(`echo ran`)
			cmd.Grant.Workspaces = []string{path}
			if r, err := s.start(t)(t.Context(), cmd); err == nil {
				t.Errorf("workspace %s: ran: %s", path, r.Stdout.Bytes())
			}
		}
	})
}

// out leaves files of which some cannot be taken: each is named, and none takes
// long.
func (s suite) out(t *testing.T) {
	r := s.bash(t, `
		cd /out
		echo taken >ok
		truncate -s 400M sparse
		echo secret >unreadable && chmod 000 unreadable
		mkdir closed && echo x >closed/file && chmod 000 closed
		python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
		mkfifo fifo`)
	left := strings.Join(r.Out.Left, "\n")
	for _, name := range []string{"sparse", "socket", "fifo"} {
		if !strings.Contains(left, name) {
			t.Errorf("%s is not named: %q", name, left)
		}
	}
	taken := map[string]string{}
	for _, f := range r.Out.Taken {
		taken[f.Name] = string(f.Data)
	}
	for _, name := range []string{"unreadable", "closed"} { // which root can read
		if _, ok := taken[strings.Replace(name, "closed", "closed/file", 1)]; !ok && !strings.Contains(left, name) {
			t.Errorf("%s is neither taken nor named: %q", name, left)
		}
	}
	if taken["ok"] != "taken\n" || len(taken) > 3 {
		t.Errorf("taken are %q", taken)
	}
}

// kept runs a program that is not there in a sandbox which is kept: that is no
// reason to lose it.
func (s suite) kept(t *testing.T) {
	sessions, keeps := s.openSession(t)
	if !keeps {
		t.Skip("the driver keeps no sandboxes")
	}
	run := func(argv ...string) (*sandbox.Result, error) {
		return sessions.Run(t.Context(), sessionID, sandbox.Command{RunID: "suite-kept-run", Skill: "suite/case", Argv: argv})
	}
	_, err := run("bash", "-c", "echo here >/tmp/file")
	must(t, err)
	var unavailable *sandbox.UnavailableError
	if _, err := run("no-such-program"); !errors.As(err, &unavailable) || unavailable.Program != "no-such-program" {
		t.Errorf("error %v, want one that names the program", err)
	}
	r, err := run("cat", "/tmp/file")
	must(t, err)
	wantStdout(t, r, "here\n")
}

func (s suite) identity(t *testing.T) {
	uid, gid := sandbox.User()
	r := s.bash(t, `id -u; id -g; grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\t'; hostname >/tmp/h 2>/dev/null; echo $$`)
	none, filter := "0000000000000000", 2
	if s.traits.OwnKernel {
		filter = 0 // the filter is around the kernel, and not seen from inside
	}
	want := fmt.Sprintf("%d\n%d\nCapInh:%s\nCapPrm:%s\nCapEff:%s\nCapBnd:%s\nCapAmb:%s\nNoNewPrivs:1\nSeccomp:%d\n", uid, gid, none, none, none, none, none, filter)
	if got := string(r.Stdout.Bytes()); !strings.HasPrefix(got, want) {
		t.Errorf("identity:\n%swant:\n%s", got, want)
	}
}

func (s suite) network(t *testing.T) {
	r := s.bash(t, `
		python3 - <<'EOF'
import os, socket
links = sorted(name for _, name in socket.if_nameindex())
print("links:", [n for n in links if n != "lo"])
for address in [("192.0.2.1", 80), ("169.254.169.254", 80)]:
    try:
        socket.create_connection(address, 5)
        print("connected to", address)
    except OSError:
        pass
for path in ["/var/run/docker.sock", "/run/docker.sock"]:
    print(path, os.path.exists(path))
EOF`)
	wantStdout(t, r, "links: []\n/var/run/docker.sock False\n/run/docker.sock False\n")
}

// escape has one attempt a line; each prints its name only when it succeeds.
func (s suite) escape(t *testing.T) {
	r := s.bash(t, `
		try() { local name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name"; fi; }
		try "read the host's passwords" cat /etc/shadow
		try "mount" mount -t tmpfs none /tmp
		try "remount" mount -o remount,rw /
		try "new user namespace" unshare -U true
		try "new mount namespace" unshare -m true
		try "chroot" chroot / true
		try "change the hostname" hostname changed
		try "set the clock" date -s 2001-01-01
		try "make a device" mknod /tmp/device c 1 3
		try "read kernel memory" head -c 1 /proc/kcore
		try "write a sysctl" bash -c 'echo 1 >/proc/sys/kernel/panic'
		try "trigger sysrq" bash -c 'echo h >/proc/sysrq-trigger'
		try "become root" python3 -c 'import os; os.setuid(0)'
		try "raw socket" python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'
		try "signal a process outside" bash -c 'for p in /proc/[0-9]*; do [ "${p#/proc/}" -gt 1000 ] && exit 0; done; exit 1'
		try "raise a limit" bash -c 'ulimit -n 1000000'
		python3 - <<'EOF'
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def refused(name, *args):
    ctypes.set_errno(0)
    number = {"x86_64": {"ptrace": 101, "keyctl": 250, "add_key": 248, "bpf": 321, "perf_event_open": 298, "io_uring_setup": 425, "mount": 165, "unshare": 272, "userfaultfd": 323},
              "aarch64": {"ptrace": 117, "keyctl": 219, "add_key": 217, "bpf": 280, "perf_event_open": 241, "io_uring_setup": 425, "mount": 40, "unshare": 97, "userfaultfd": 282}}[__import__("platform").machine()][name]
    if libc.syscall(number, *args) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.ENODEV):
        print(name, errno.errorcode.get(ctypes.get_errno(), "succeeded"))
refused("keyctl", 0, -3, 0)
refused("add_key", b"user", b"k", b"v", 1, -3)
refused("bpf", 0, 0, 0)
refused("perf_event_open", 0, 0, -1, -1, 0)
refused("mount", b"none", b"/tmp", b"tmpfs", 0, 0)
refused("unshare", 0x10000000)
refused("userfaultfd", 0)
EOF
		echo end`)
	got := string(r.Stdout.Bytes())
	if s.traits.OwnKernel { // of which these are
		got = strings.NewReplacer("new user namespace\n", "", "keyctl succeeded\n", "", "unshare succeeded\n", "").Replace(got)
	}
	if got != "end\n" {
		t.Errorf("these worked, or the script did not end: %q\nexit %d, stderr: %s", got, r.Code, r.Stderr.Bytes())
	}
}

func (s suite) fresh(t *testing.T) {
	run := s.start(t)
	for range 2 {
		r, err := run(t.Context(), bash(`ls /tmp /out; touch /tmp/left /out/left; nohup tail -f /dev/null >/dev/null 2>&1 & disown; ls /proc | grep -c '^[0-9]*$' >/dev/null; echo end`))
		must(t, err)
		wantStdout(t, r, "/out:\n\n/tmp:\nend\n")
	}
}

func (s suite) limits(t *testing.T) {
	limited := func(t *testing.T, limits sandbox.Limits, script string) (*sandbox.Result, error) {
		t.Helper()
		cmd := bash(script)
		cmd.Limits = limits
		return s.start(t)(t.Context(), cmd)
	}
	wantLimit := func(t *testing.T, r *sandbox.Result, err error, limit string) {
		t.Helper()
		var e *sandbox.LimitError
		if !errors.As(err, &e) || e.Limit != limit || r == nil {
			t.Fatalf("result %v, error %v; want a result and the %s limit", r, err, limit)
		}
	}
	t.Run("time", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{Timeout: 300 * time.Millisecond}, `trap '' TERM INT; echo before; sleep 600`)
		wantLimit(t, r, err, sandbox.LimitTime)
	})
	t.Run("output", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{Output: 64 << 10}, `echo head; head -c 1073741824 /dev/zero; sleep 600`)
		wantLimit(t, r, err, sandbox.LimitOutput)
		if !bytes.HasPrefix(r.Stdout.Head, []byte("head\n")) || len(r.Stdout.Head)+len(r.Stdout.Tail) > 64<<10 {
			t.Errorf("kept %d and %d bytes", len(r.Stdout.Head), len(r.Stdout.Tail))
		}
	})
	t.Run("memory", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{Memory: 64 << 20}, `exec python3 -c 'x = b"x" * (1 << 30); print(len(x))'`)
		if s.traits.SilentMemory && err == nil && r.Code == 137 {
			return
		}
		var e *sandbox.LimitError
		// Without cgroups the allocation itself fails, which the command reports.
		if refused := err == nil && r.Code != 0 && bytes.Contains(r.Stderr.Bytes(), []byte("MemoryError")); !refused && !(errors.As(err, &e) && e.Limit == sandbox.LimitMemory) {
			t.Errorf("result %+v, error %v; want the memory limit", r, err)
		}
	})
	t.Run("processes", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{PIDs: 32, Timeout: 30 * time.Second}, `
			exec python3 - <<'EOF'
import os, time
children = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(600)
        children += 1
except BlockingIOError:
    pass
print("bounded" if children < 40 else children, flush=True) # _exit does not flush
os._exit(0)
EOF`)
		if s.traits.OwnKernel && err == nil && r.Code != 0 {
			return // its own threads count too, and without one more it ends
		}
		must(t, err)
		wantStdout(t, r, "bounded\n")
	})
	t.Run("fork bomb", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{PIDs: 32, Timeout: 2 * time.Second}, `bomb() { bomb | bomb & }; bomb; sleep 600`)
		if err == nil && r.Code == 0 {
			t.Errorf("the fork bomb ended well: %+v", r)
		}
	})
	t.Run("temporary files", func(t *testing.T) {
		for _, dir := range []string{"/tmp", "/out"} {
			r, err := limited(t, sandbox.Limits{Tmp: 1 << 20}, `head -c 8388608 /dev/zero >`+dir+`/file 2>/dev/null || echo full`)
			must(t, err)
			wantStdout(t, r, "full\n")
		}
	})
	t.Run("open files", func(t *testing.T) {
		r, err := limited(t, sandbox.Limits{Files: 64}, `ulimit -n; ulimit -c`)
		must(t, err)
		wantStdout(t, r, "64\n0\n")
	})
}

func (s suite) ending(t *testing.T) {
	t.Run("cancellation", func(t *testing.T) {
		cause := errors.New("the client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		cmd := bash(`trap '' TERM INT; echo running >&2; sleep 600 & wait; sleep 600`)
		cmd.Stderr = writer(func([]byte) { cancel(cause) })
		r, err := s.start(t)(ctx, cmd)
		if !errors.Is(err, cause) || r == nil {
			t.Errorf("result %v, error %v; want a result and the cause", r, err)
		}
	})
	t.Run("before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.start(t)(ctx, bash(`true`)); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the cancellation", err)
		}
	})
	t.Run("children that hold the output open", func(t *testing.T) {
		r := s.bash(t, `sleep 600 & sleep 600 >/dev/null & echo done`)
		wantStdout(t, r, "done\n")
	})
	t.Run("zombies are reaped", func(t *testing.T) {
		r := s.bash(t, `
			for i in 1 2 3; do (sleep 0 & exec true) & done; wait
			python3 - <<'EOF'
import os, time
deadline = time.monotonic() + 30
while True: # an orphan is reaped by init some time after it ended
    states = []
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                states.append(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0])
            except OSError:
                pass
    if "Z" not in states or time.monotonic() > deadline:
        break
    time.sleep(0.01)
print("zombies" if "Z" in states else "none")
EOF`)
		wantStdout(t, r, "none\n")
	})
	t.Run("close ends what runs", func(t *testing.T) {
		runner := sandbox.New(s.newDriver(t), nil)
		started := make(chan struct{})
		cmd := bash(`sleep 600`)
		cmd.RunID, cmd.Skill, cmd.Folder = "suite-close", "suite/close", Folder(t, nil)
		cmd.Started = func() { close(started) }
		ended := make(chan error, 1)
		go func() {
			_, err := runner.Run(t.Context(), cmd)
			ended <- err
		}()
		select {
		case <-started:
		case err := <-ended:
			t.Fatal(err)
		}
		must(t, runner.Close())
		if err := <-ended; !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("error %v, want %v", err, sandbox.ErrClosed)
		}
	})
}

func (s suite) unavailable(t *testing.T) {
	t.Run("program", func(t *testing.T) {
		_, err := s.start(t)(t.Context(), sandbox.Command{Argv: []string{"no-such-program", "x"}})
		var e *sandbox.UnavailableError
		if !errors.As(err, &e) || !strings.Contains(e.Reason, "no-such-program") || e.Remedy == "" {
			t.Errorf("error %v, want an unavailable program with a remedy", err)
		}
	})
	t.Run("folder", func(t *testing.T) {
		cmd := bash(`true`)
		cmd.Folder = filepath.Join(t.TempDir(), "gone")
		if _, err := s.start(t)(t.Context(), cmd); err == nil {
			t.Error("ran without its folder")
		}
	})
	t.Run("an argument that is too long", func(t *testing.T) {
		_, err := s.start(t)(t.Context(), bash(`true`, strings.Repeat("x", 4<<20)))
		if err == nil || !strings.Contains(err.Error(), "argument") {
			t.Errorf("error %v, want one about the arguments", err)
		}
	})
}

func (s suite) concurrent(t *testing.T) {
	run := s.start(t)
	const calls = 8
	outputs := make(chan string, calls)
	for i := range calls {
		go func() {
			r, err := run(t.Context(), bash(`echo "$1" >/tmp/mine; cat /tmp/mine`, fmt.Sprint(i)))
			if err != nil {
				outputs <- err.Error()
				return
			}
			outputs <- strings.TrimSpace(string(r.Stdout.Bytes()))
		}()
	}
	got := map[string]bool{}
	for range calls {
		got[<-outputs] = true
	}
	for i := range calls {
		if !got[fmt.Sprint(i)] {
			all, _ := json.Marshal(got)
			t.Errorf("call %d has no answer of its own; answers: %s", i, all)
		}
	}
}
