package sandboxtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func (s suite) identity(t *testing.T) {
	uid, gid := sandbox.User()
	r := s.bash(t, `id -u; id -g; grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\t'; hostname >/tmp/h 2>/dev/null; echo $$`)
	none, filter := "0000000000000000", 2
	if s.traits.OwnKernel {
		filter = 0 // the filter is around the kernel, and invisible from inside
	}
	got := string(r.Stdout.Bytes())
	if s.traits.OwnUser {
		if n, err := fmt.Sscan(got, &uid, &gid); n != 2 || uid <= 0 || gid <= 0 {
			t.Errorf("it runs as user %d and group %d: %v", uid, gid, err)
		}
	}
	want := fmt.Sprintf("%d\n%d\nCapInh:%s\nCapPrm:%s\nCapEff:%s\nCapBnd:%s\nCapAmb:%s\nNoNewPrivs:1\nSeccomp:%d\n", uid, gid, none, none, none, none, none, filter)
	if !strings.HasPrefix(got, want) {
		t.Errorf("identity:\n%swant:\n%s", got, want)
	}
}

func (s suite) network(t *testing.T) {
	r := s.bash(t, `
		python3 - "$1" <<'EOF'
import os, socket, sys
links = sorted(name for _, name in socket.if_nameindex())
print("links:", [n for n in links if n != "lo" and sys.argv[1] == "false"])
for address in [("192.0.2.1", 80), ("169.254.169.254", 80)]:
    try:
        socket.create_connection(address, 5)
        print("connected to", address)
    except OSError:
        pass
for path in ["/var/run/docker.sock", "/run/docker.sock"]:
    print(path, os.path.exists(path))
EOF`, fmt.Sprint(s.traits.Interface))
	wantStdout(t, r, "links: []\n/var/run/docker.sock False\n/run/docker.sock False\n")
}

// escape runs a script with one attempt a line; each prints its name only when it
// succeeds.
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
