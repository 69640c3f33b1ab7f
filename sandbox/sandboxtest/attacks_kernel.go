package sandboxtest

// privilegeAttacks try to gain rights: by mounts, namespaces, tracing and programs that
// change the user.
func privilegeAttacks() []attack {
	return []attack{
		{
			name: "mount",
			python: `
call("mount", 165, 40, b"none", b"/tmp", b"tmpfs", 0, None)
call("bind mount", 165, 40, b"/", b"/tmp", b"", 4096, None)
call("remount", 165, 40, b"none", b"/", b"", 32, None)
call("umount", 166, 39, b"/skill", 2)
call("pivot_root", 155, 41, b"/tmp", b"/tmp")
call("chroot", 161, 51, b"/tmp")
call("fsopen", 430, 430, b"tmpfs", 0)
call("open_tree", 428, 428, -100, b"/", 1)
call("move_mount", 429, 429, -100, b"/tmp", -100, b"/out", 0)
call("mount_setattr", 442, 442, -100, b"/", 0, b"\0" * 32, 32)
call("open_by_handle_at", 304, 265, -100, b"\0" * 128, 0)
call("swapon", 167, 224, b"/tmp/swap", 0)
`,
			inside: []string{"open_by_handle_at"},
		},
		{
			name: "make namespaces",
			python: `
for name, flag in {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}.items():
    child(lambda: call("unshare " + name, 272, 97, flag))
    child(lambda: call("unshare user and " + name, 272, 97, flag | 0x10000000))
    pid = libc.syscall(56 if x86 else 220, flag | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
        worked("clone " + name)
for name in os.listdir("/proc/self/ns"):
    try:
        fd = os.open("/proc/1/ns/" + name, os.O_RDONLY)
    except OSError:
        continue
    call("setns " + name, 308, 268, fd, 0)
`,
			inside: ownNamespaces(),
		},
		{
			name: "trace processes",
			python: `
child(lambda: call("trace me", 101, 117, 0, 0, 0, 0))
for pid in {1, os.getppid()}:
    call("attach to %s" % ("the first process" if pid == 1 else "the parent"), 101, 117, 0x4206, pid, 0, 0)
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    call("read memory", 310, 270, pid, vector, 1, vector, 1, 0)
    call("write memory", 311, 271, pid, vector, 1, vector, 1, 0)
    call("take a descriptor", 438, 438, os.pidfd_open(pid) if pid != 1 else -1, 0, 0)
    call("compare", 312, 272, pid, os.getpid(), 0, 0, 0)
`,
			// Processes of the sandbox, by the sandbox's own kernel.
			inside: []string{"trace me", "attach to the first process", "attach to the parent", "read memory", "write memory", "take a descriptor", "compare"},
		},
		{
			name: "gain privileges",
			bash: `
				for program in $(find / -xdev -perm /6000 -type f 2>/dev/null); do
					case $program in */su|*/sudo) "$program" -c 'id -u' </dev/null 2>/dev/null | grep -qx 0 && echo "$program";; esac
				done
				cp /bin/bash /tmp/bash && chmod 6755 /tmp/bash && [ "$(/tmp/bash -p -c 'id -u')" = 0 ] && echo "a copy"
				python3 -c 'import os; os.setuid(0)' 2>/dev/null && echo setuid
				python3 -c 'import os; os.setgid(0)' 2>/dev/null && echo setgid
				python3 -c 'import os; os.setgroups([0])' 2>/dev/null && echo groups
				python3 -c 'import os; os.setxattr("/tmp/bash", "security.capability", b"\x01\0\0\x02" + b"\xff" * 16)' 2>/dev/null && echo capabilities
				grep -E '^Cap(Prm|Eff|Bnd|Amb):.*[1-9a-f]' /proc/self/status
				grep -q '^NoNewPrivs:.1' /proc/self/status || echo "new privileges"
				true`,
			bare: true,
		},
	}
}

// deviceAttacks open devices and kinds of sockets that a skill never needs.
func deviceAttacks() []attack {
	return []attack{
		{
			name: "make and open devices",
			bash: `
				for dir in /tmp /out /dev/shm; do
					mknod "$dir/c$SUITE_MARK" c 1 3 2>/dev/null && echo "$dir character" && rm "$dir/c$SUITE_MARK"
					mknod "$dir/b$SUITE_MARK" b 8 0 2>/dev/null && echo "$dir block" && rm "$dir/b$SUITE_MARK"
				done
				for device in /dev/mem /dev/sda /dev/vda /dev/nvme0n1 /dev/loop-control /dev/fuse /dev/kvm /dev/net/tun /dev/vsock /dev/dri /dev/snd /dev/input /dev/bus /dev/mapper /dev/console /dev/uinput; do
					[ -r "$device" ] && echo "$device"
				done
				for device in /dev/*; do
					[ -b "$device" ] && echo "$device"
				done
				true`,
			inside: []string{"/dev/fuse", "/dev/net/tun"},
			bare:   true,
		},
		{
			name: "open raw sockets",
			python: `
attempt("icmp", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
attempt("raw ip", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 255).close())
attempt("icmp6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58).close())
attempt("packet", lambda: socket.socket(17, socket.SOCK_RAW, 0x300).close())
`,
			bare: true,
		},
		{
			name: "open other kinds of sockets",
			python: `
for family in range(46):
    if family in (0, 1, 2, 10, 16):
        continue
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close()
            worked("family %d" % family)
        except OSError as e:
            if e.errno not in REFUSED | {errno.EAFNOSUPPORT} or family == 40 and e.errno == errno.ENODEV:
                worked("family %d: %s" % (family, errno.errorcode[e.errno]))
REFUSED.add(errno.EAFNOSUPPORT)
call("vsock by a high half", 41, 198, ctypes.c_long(1 << 32 | 40), 1, 0)
`,
		},
	}
}

// syscallAttacks make system calls that a skill never needs: each is a large surface of
// the kernel.
func syscallAttacks() []attack {
	return []attack{
		{
			name: "load kernel modules",
			python: `
call("init_module", 175, 105, b"", 0, b"")
call("finit_module", 313, 273, 0, b"", 0)
call("delete_module", 176, 106, b"none", 0)
call("kexec_load", 246, 104, 0, 0, None, 0)
call("kexec_file_load", 320, 294, -1, -1, 0, None, 0)
call("reboot", 169, 142, 0xfee1dead, 672274793, 0, None)
call("iopl", 172, None, 3)
call("ioperm", 173, None, 0, 1, 1)
`,
		},
		{
			name:   "use io_uring",
			python: `call("io_uring_setup", 425, 425, 1, ctypes.create_string_buffer(256))`,
		},
		{
			name:   "use bpf",
			python: `call("bpf", 321, 280, 0, ctypes.create_string_buffer(b"\1\0\0\0\4\0\0\0\4\0\0\0\1", 128), 128)`,
			bare:   true,
		},
		{
			name:   "use performance counters",
			python: `call("perf_event_open", 298, 241, ctypes.create_string_buffer(b"\1\0\0\0\x70", 0x70), 0, -1, -1, 0)`,
		},
		{
			name: "use keyrings",
			python: `
call("keyctl", 250, 219, 0, -3, 0)
call("add_key", 248, 217, b"user", b"suite", b"v", 1, -2)
call("request_key", 249, 218, b"user", b"suite", None, 0)
`,
			inside: []string{"keyctl"},
			bare:   true,
		},
		{
			name: "handle page faults",
			python: `
call("userfaultfd", 323, 282, 1)
attempt("/dev/userfaultfd", lambda: os.open("/dev/userfaultfd", os.O_RDWR))
`,
			bare: true,
		},
		{
			name: "use another architecture's calls",
			python: `
import mmap
def x32():
    if libc.syscall(0x40000000 + 39) > 0:
        worked("x32")
def i386():
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(b"\xb8\x14\0\0\0\xcd\x80\xc3") # getpid by interrupt
    if ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))() > 0:
        worked("i386")
if x86:
    child(x32)
    child(i386)
`,
		},
	}
}

// ownNamespaces returns the lines that are no escape where the sandbox has a kernel of
// its own.
func ownNamespaces() []string {
	var all []string
	for _, name := range []string{"mount", "cgroup", "uts", "ipc", "user", "pid", "net"} {
		all = append(all, "unshare "+name, "unshare user and "+name, "clone "+name, "setns "+name)
	}
	return all
}
