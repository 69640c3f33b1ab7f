//go:build amd64 || arm64

package native

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// TestEscape runs, beside those of the common suite, attempts that this sandbox
// in particular must refuse. Each prints something only when it succeeds.
func TestEscape(t *testing.T) {
	d := newDriver(t)
	for name, script := range map[string]string{
		"read the superuser's home":   `ls /root /home && echo read`,
		"reach the host's root":       `ls /proc/1/root/ && echo reached`,
		"reach it by the init's cwd":  `ls /proc/1/cwd/ && echo reached`,
		"read the init's environment": `cat /proc/1/environ`,
		"read the init's memory":      `head -c 1 /proc/1/mem && echo read`,
		"write the init's memory":     `echo x >/proc/1/mem && echo written`,
		"open the init's executable":  `head -c 4 /proc/1/exe && echo read`,
		"open the init's files":       `ls /proc/1/fd/ && echo read`,
		"write to the host's programs": `
			for dir in /usr /usr/bin /usr/local/bin /bin /lib /opt /etc/ssl/certs; do touch $dir/new && echo $dir; done`,
		"write to the root":      `for dir in / /etc /dev /var /skill; do touch $dir/new && echo $dir; done`,
		"change a device's mode": `chmod 600 /dev/null && echo changed`,
		"see sysfs":              `ls /sys && echo seen`,
		"raise the limit of nested namespaces": `
			echo 100 >/proc/sys/user/max_user_namespaces && echo raised
			[ "$(cat /proc/sys/user/max_user_namespaces)" = 0 ] || echo not zero`,
		"change another's priority": `echo -1000 >/proc/1/oom_score_adj && echo changed`,
		"use setuid programs":       `find /usr/bin -perm -4000 -exec {} --help \; 2>/dev/null | grep -q . ; su -c true root && echo root`,
		"have a terminal":           `: </dev/tty && echo terminal; [ -e /dev/ptmx ] && echo ptmx`,
		"inherit descriptors":       `for ((fd = 3; fd < 255; fd++)); do [ -e /proc/$$/fd/$fd ] && echo $fd; done`,
		"inherit the environment":   `env | grep -vE '^(PATH|HOME|TMPDIR|LANG|PWD|SHLVL|_)='`,
		"write to a system mount": `
			while read -r _ at _ options _; do
				case $at in /tmp|/out|/dev/shm) continue;; esac
				[[ ,$options, = *,ro,* ]] || echo "$at is writable"
				[[ ,$options, = *,nosuid,* ]] || echo "$at has setuid"
				[[ ,$options, = *,nodev,* || $at = /dev/* || $at = /proc/* ]] || echo "$at has devices"
			done </proc/mounts`,
		"see other processes": `cd /proc; for p in [0-9]*; do [ $p -lt 100 ] || echo $p; done`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := bash(t, d, script); got.err != nil || got.stdout != "" {
				t.Errorf("stdout %q, error %v; stderr: %s", got.stdout, got.err, got.stderr)
			}
		})
	}
}

// TestSystemCalls makes system calls that the filter judges.
func TestSystemCalls(t *testing.T) {
	const script = `
import ctypes, errno, os, platform, socket, fcntl
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
def call(name, amd64, arm64, *args):
    ctypes.set_errno(0)
    if libc.syscall(amd64 if x86 else arm64, *args) >= 0:
        return print(name, "succeeded")
    code = errno.errorcode.get(ctypes.get_errno())
    if code != "EPERM":
        print(name, code)
def refused(name, code, f):
    try:
        f()
        print(name, "succeeded")
    except OSError as e:
        if e.errno != code:
            print(name, errno.errorcode[e.errno])
call("ptrace", 101, 117, 0, 0, 0, 0)
call("process_vm_readv", 310, 270, 1, 0, 0, 0, 0, 0)
call("process_vm_writev", 311, 271, 1, 0, 0, 0, 0, 0)
call("pidfd_getfd", 438, 438, 0, 0, 0)
call("setns", 308, 268, 0, 0)
call("pivot_root", 155, 41, b"/tmp", b"/tmp")
call("umount2", 166, 39, b"/usr", 2)
call("fsopen", 430, 430, b"tmpfs", 0)
call("open_tree", 428, 428, -100, b"/", 1)
call("move_mount", 429, 429, -1, b"", -1, b"", 0)
call("mount_setattr", 442, 442, -100, b"/", 0, 0, 0)
call("mount", 165, 40, b"none", b"/tmp", b"tmpfs", 0, 0)
call("fsconfig", 431, 431, -1, 0, 0, 0, 0)
call("fsmount", 432, 432, -1, 0, 0)
call("fspick", 433, 433, -100, b"/tmp", 0)
call("open_tree_attr", 467, 467, -100, b"/", 1, 0, 0)
call("open_by_handle_at", 304, 265, -100, 0, 0)
call("request_key", 249, 218, b"user", b"k", 0, 0)
call("add_key", 248, 217, b"user", b"k", b"v", 1, -3)
call("keyctl", 250, 219, 0, -3, 0)
call("bpf", 321, 280, 0, 0, 0)
call("perf_event_open", 298, 241, 0, 0, -1, -1, 0)
call("userfaultfd", 323, 282, 0)
call("io_uring_setup", 425, 425, 1, 0)
call("io_uring_register", 427, 427, -1, 0, 0, 0)
call("io_uring_enter", 426, 426, 0, 0, 0, 0, 0, 0)
call("kexec_load", 246, 104, 0, 0, 0, 0)
call("kexec_file_load", 320, 294, -1, -1, 0, 0, 0)
call("finit_module", 313, 273, -1, b"", 0)
call("delete_module", 176, 106, b"x", 0)
call("init_module", 175, 105, 0, 0, 0)
call("reboot", 169, 142, 0, 0, 0, 0)
call("swapon", 167, 224, b"/tmp/x", 0)
call("personality", 135, 92, 0x0040000)
for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
    call("clone with %#x" % flag, 56, 220, flag | 17, 0, 0, 0, 0)
    call("unshare with %#x" % flag, 272, 97, flag)
if x86:
    call("x32", 0x40000000 + 39, 0)
ctypes.set_errno(0)
libc.syscall(435, 0, 0)
print("clone3", errno.errorcode[ctypes.get_errno()])
for family in (2, 10, 1, 16):
    socket.socket(family, socket.SOCK_DGRAM).close()
for family in (17, 38, 40, 21, 29):
    refused("family %d" % family, errno.EAFNOSUPPORT, lambda: socket.socket(family, socket.SOCK_RAW))
refused("TIOCSTI", errno.EPERM, lambda: fcntl.ioctl(0, 0x5412, b"x"))
refused("TIOCLINUX", errno.EPERM, lambda: fcntl.ioctl(0, 0x541c, b"x"))
refused("another ioctl", errno.ENOTTY, lambda: fcntl.ioctl(0, 0x5413, b"12345678"))
`
	d := newDriver(t)
	got := try(t, d, sandbox.Command{Argv: []string{"python3", "-c", script}})
	if got.stdout != "clone3 ENOSYS\n" || got.code != 0 {
		t.Errorf("code %d, error %v, stdout:\n%s\nstderr:\n%s", got.code, got.err, got.stdout, got.stderr)
	}
}

// TestRefusedCalls makes every system call that the filter refuses whatever its
// arguments, and every number that is none.
func TestRefusedCalls(t *testing.T) {
	special, allowed := judged(), allowedCalls()
	argv := []string{"python3", "-c", `
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in map(int, sys.argv[1:]):
    ctypes.set_errno(0)
    if libc.syscall(number, -1, -1, -1, -1, -1, -1) != -1 or ctypes.get_errno() != 1:
        print(number, ctypes.get_errno())
`}
	for call := range uint32(600) {
		if runtime.GOARCH == "amd64" && call == 336 {
			continue // uprobe, which the kernel keeps from filters: without a probe it does nothing
		}
		if _, judge := special[call]; !judge && !slices.Contains(allowed, call) {
			argv = append(argv, fmt.Sprint(call))
		}
	}
	got := try(t, newDriver(t), sandbox.Command{Argv: argv})
	if got.stdout != "" || got.code != 0 || got.err != nil || len(argv) < 200 {
		t.Errorf("of %d calls: %+v", len(argv)-3, got)
	}
}

// TestInitIsImmune signals the init from inside, as soon as there is somebody to
// do so, which nothing must come of.
func TestInitIsImmune(t *testing.T) {
	d := newDriver(t)
	for range 30 { // the earlier a signal comes, the more likely it once was to harm
		got := bash(t, d, `trap '' TERM; kill -TERM 1; for s in HUP INT QUIT TERM SEGV CHLD URG TSTP TTIN TTOU CONT 33 34 KILL STOP; do kill -$s 1; done; echo still here`)
		if got.stdout != "still here\n" || got.code != 0 {
			t.Fatalf("code %d, error %v, stdout %q, stderr %q", got.code, got.err, got.stdout, got.stderr)
		}
	}
}

// TestSignalsAreAsUsual shows that what the init ignores the command does not.
func TestSignalsAreAsUsual(t *testing.T) {
	got := try(t, newDriver(t), sandbox.Command{Argv: []string{"python3", "-S", "-c", `
status = dict(line.split(":\t") for line in open("/proc/self/status") if ":\t" in line)
usual = {13, 25} # which Python itself ignores
print([n + 1 for n in range(64) if int(status["SigIgn"], 16) >> n & 1 and n + 1 not in usual and not 32 <= n + 1 <= 34], int(status["SigBlk"], 16))
`}})
	if got.stdout != "[] 0\n" || got.code != 0 {
		t.Errorf("ignored or blocked: %q, code %d, error %v, stderr %q", got.stdout, got.code, got.err, got.stderr)
	}
}

// TestOwnExecutable has a skill try to be executed as the host's file that the
// init runs.
func TestOwnExecutable(t *testing.T) {
	d := newDriver(t)
	folder := openFolder(t)
	write(t, filepath.Join(folder, "script"), "#!/proc/self/exe\n", 0o755)
	if err := os.Symlink("/proc/self/exe", filepath.Join(folder, initName)); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"/proc/self/exe", "./script", "./" + initName} {
		got := try(t, d, sandbox.Command{Argv: []string{program}, Folder: folder})
		if got.err == nil || !strings.Contains(got.err.Error(), "init") || got.started != 0 {
			t.Errorf("%s: got %+v", program, got)
		}
	}
}

// TestNoSecretsOutside looks at what the host's other users, and the sandbox, can
// see of an init and its zygote.
func TestNoSecretsOutside(t *testing.T) {
	d := newDriver(t)
	looked := 0
	got := try(t, d, sandbox.Command{
		Argv: []string{"bash", "-c", `read; tr '\0' ' ' </proc/1/cmdline; cat /proc/1/comm`, "secret"},
		Env:  []string{"TOKEN=secret"},
		Started: func() {
			for _, id := range processesOf(d.pool.zygote) {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id))
				environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", id)) // which only root can
				if !strings.HasPrefix(string(line), initName) {
					continue // the command
				}
				looked++
				if strings.Contains(string(line)+string(environ), "secret") {
					t.Errorf("an init has %q and %q", line, environ)
				}
			}
		},
		Stdin: strings.NewReader("\n"),
	})
	if got.err != nil || got.stdout == "" || strings.Contains(got.stdout, "secret") || looked < 2 {
		t.Errorf("got %+v, looked at %d processes", got, looked)
	}
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
