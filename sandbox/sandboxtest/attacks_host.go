package sandboxtest

import "github.com/skillsmcp/skills-mcp/sandbox"

// sharedKey is the key of a segment of shared memory, in decimal as the host
// lists it.
const sharedKey = "1522427489" // 0x5abe5a61

// hostAttacks try to read data of the host, the server or another call.
func hostAttacks() []attack {
	return []attack{
		{
			name: "read the host's home and passwords",
			bash: `
				cat /etc/shadow 2>/dev/null && echo shadow
				cat /etc/gshadow 2>/dev/null && echo gshadow
				for home in "$HOST_HOME" /root /home/*; do
					case $home in "$WORKSPACE"*|/tmp) continue;; esac
					for entry in "$home"/.[!.]* "$home"/*; do
						[ -e "$entry" ] && echo "$entry"
					done
				done 2>/dev/null
				cat /root/.ssh/* /var/lib/sudo/* /etc/ssh/*_key 2>/dev/null && echo keys
				ls /var/lib/docker /var/lib/containers 2>/dev/null | grep . && echo store`,
			bare: true,
		},
		{
			name: "find the engine's socket",
			python: `
for path in ["/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/systemd/private", "/run/dbus/system_bus_socket"]:
    if os.path.exists(path):
        worked(path)
for root, dirs, files in os.walk("/", onerror=lambda e: None):
    if root == "/":
        dirs[:] = [d for d in dirs if d not in ("proc", "sys")]
    for name in files:
        path = os.path.join(root, name)
        try:
            s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(path); worked(path)
        except (OSError, ValueError):
            pass
        finally:
            s.close()
attempt("abstract socket", lambda: socket.socket(socket.AF_UNIX).connect("\0skills-mcp-suite-" + os.environ["PORT"]))
for line in open("/proc/net/unix").read().splitlines() if os.path.exists("/proc/net/unix") else []:
    if "skills-mcp-suite" in line:
        worked(line)
`,
		},
		{
			name: "read other processes",
			python: `
import re
secret = re.compile(rb"host-secre[t]-[a-z0-9]+")
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline", "comm"):
        try:
            data = open("/proc/%s/%s" % (pid, name), "rb").read()
        except OSError:
            continue
        if secret.search(data) or data.startswith(b"dockerd") or b"sandboxtest" in data.split(b"\0")[0]:
            worked("/proc/%s/%s" % (pid, name))
    for link in ("cwd", "root"):
        try:
            if os.path.exists("/proc/%s/%s%s" % (pid, link, os.environ["SECRET_FILE"])):
                worked("/proc/%s/%s" % (pid, link))
        except OSError:
            pass
`,
			bare: true,
		},
		{
			name: "read the server's environment",
			bash: `
				env | grep -E '^(SKILLS_MCP|DOCKER_|GO[A-Z]*=|XDG_|SSH_|AWS_|USER=|LOGNAME=|SUITE_SECRET)'
				tr '\0' '\n' </proc/1/environ 2>/dev/null | grep -aE '^(SKILLS_MCP|DOCKER_|GO[A-Z]*=|XDG_|SSH_|SUITE_SECRET)'
				tr '\0' '\n' </proc/$PPID/environ 2>/dev/null | grep -aE '^(SKILLS_MCP|DOCKER_|GO[A-Z]*=|XDG_|SSH_|SUITE_SECRET)'
				true`,
		},
		{
			name: "use inherited descriptors",
			python: `
for fd in range(3, 4096):
    try:
        os.fstat(fd)
        worked("%d is %s" % (fd, os.readlink("/proc/self/fd/%d" % fd)))
    except OSError:
        pass
for fd in (0, 1, 2):
    target = os.readlink("/proc/self/fd/%d" % fd)
    if not target.startswith(("pipe:", "socket:", "/dev/null", "host:")):
        worked("%d is %s" % (fd, target))
for pid in {"1", str(os.getppid())}:
    try:
        for fd in os.listdir("/proc/%s/fd" % pid):
            target = os.readlink("/proc/%s/fd/%s" % (pid, fd))
            if target.startswith("/") and not target.startswith(("/dev/", "/proc/", "/skill", "/tmp")):
                worked("%s has %s" % (pid, target))
    except OSError:
        pass
`,
			bare: true,
		},
		{
			name: "have the server's terminal",
			bash: `
				(: </dev/tty) 2>/dev/null && echo tty
				[ -t 0 ] && echo stdin; [ -t 1 ] && echo stdout; [ -t 2 ] && echo stderr
				python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b"x")' 2>/dev/null && echo typed
				true`,
		},
	}
}

// settingAttacks try to change the host, or to read its kernel.
func settingAttacks() []attack {
	return []attack{
		{
			name: "signal other processes",
			python: `
for n in (signal.SIGHUP, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
    try:
        os.kill(-1, n) # everything there is but the caller
    except OSError:
        pass
seen = [int(p) for p in os.listdir("/proc") if p.isdigit()]
for pid in range(2, 70000):
    if pid in (os.getpid(), os.getppid()):
        continue
    try:
        os.kill(pid, 0)
        if pid not in seen:
            worked("%d is hidden, and there" % pid)
    except OSError:
        pass
`,
			limits: sandbox.Limits{Timeout: attackTimeout},
			// The parent may be ended with the rest, and the call with it.
			judge: ended,
		},
		{
			name: "change the host's settings",
			bash: `
				try() { (echo "$2" >"$1") 2>/dev/null && echo "$1"; }
				try /proc/sys/kernel/panic 1; try /proc/sys/kernel/core_pattern '|/bin/false'; try /proc/sys/vm/drop_caches 1
				try /proc/sys/kernel/hostname x; try /proc/sys/net/ipv4/ip_forward 1; try /proc/sysrq-trigger h
				try /proc/sys/user/max_user_namespaces 100; try /proc/1/oom_score_adj -1000; try /proc/self/oom_score_adj -1000
				for file in /sys/fs/cgroup/*/memory.limit_in_bytes /sys/fs/cgroup/memory.max /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/cgroup.procs /sys/kernel/mm/transparent_hugepage/enabled /sys/power/state /sys/block/*/queue/scheduler /sys/class/leds/*/brightness; do
					[ -e "$file" ] && try "$file" "$(head -n 1 "$file" 2>/dev/null)"
				done
				hostname changed 2>/dev/null && echo hostname
				date -s 2001-01-01 >/dev/null 2>&1 && echo date
				renice -n -5 $$ >/dev/null 2>&1 && echo priority
				ulimit -n 1000000 2>/dev/null && echo limit
				true`,
			inside: []string{"/proc/1/oom_score_adj", "/proc/self/oom_score_adj", "priority"},
		},
		{
			name: "read the kernel's memory and log",
			bash: `
				for file in /proc/kcore /proc/kmsg /dev/mem /dev/kmem /dev/port /dev/kmsg /proc/kpagecount /proc/kpageflags /sys/kernel/debug/tracing/trace /sys/firmware/efi/efivars; do
					head -c 1 "$file" 2>/dev/null | grep -q . && echo "$file"
				done
				grep -qv '^00* ' /proc/kallsyms 2>/dev/null && echo addresses
				dmesg 2>/dev/null | grep -q . && echo log
				true`,
			inside: []string{"log"},
		},
		{
			name: "leave shared memory behind",
			python: `
n = libc.shmget(` + sharedKey + `, 1 << 20, 0o1666)
open("/dev/shm/" + os.environ["SUITE_MARK"], "wb").write(b"x" * 4096) if os.path.isdir("/dev/shm") else None
`,
		},
	}
}
