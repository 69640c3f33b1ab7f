//go:build amd64 || arm64

package native

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter runs the filter outside the kernel, on every number a call can
// have.
func TestFilter(t *testing.T) {
	vm, err := bpf.NewVM(filter())
	if err != nil {
		t.Fatal(err)
	}
	verdict := func(arch, call uint32, args ...uint64) uint32 {
		// The machine reads its input in network order, the kernel natively.
		data := binary.BigEndian.AppendUint32(nil, call)
		data = binary.BigEndian.AppendUint32(data, arch)
		data = binary.BigEndian.AppendUint64(data, 0)
		for i := range 6 {
			var arg uint64
			if i < len(args) {
				arg = args[i]
			}
			data = binary.BigEndian.AppendUint32(data, uint32(arg))
			data = binary.BigEndian.AppendUint32(data, uint32(arg>>32))
		}
		n, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(n)
	}
	errno := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

	special := judged()
	allowed := map[uint32]bool{}
	for _, call := range allowedCalls() {
		allowed[call] = true
	}
	for call := range uint32(1024) {
		if _, judge := special[call]; judge {
			continue
		}
		want := errno(unix.EPERM)
		if allowed[call] {
			want = unix.SECCOMP_RET_ALLOW
		}
		if got := verdict(auditArch, call); got != want {
			t.Errorf("call %d: got %#x, want %#x", call, got, want)
		}
	}
	for name, test := range map[string]struct{ got, want uint32 }{
		"fork":          {verdict(auditArch, unix.SYS_CLONE, uint64(unix.SIGCHLD)), unix.SECCOMP_RET_ALLOW},
		"thread":        {verdict(auditArch, unix.SYS_CLONE, 0x3d0f00), unix.SECCOMP_RET_ALLOW},
		"new user":      {verdict(auditArch, unix.SYS_CLONE, unix.CLONE_NEWUSER|17), errno(unix.EPERM)},
		"clone3":        {verdict(auditArch, unix.SYS_CLONE3), errno(unix.ENOSYS)},
		"AF_INET6":      {verdict(auditArch, unix.SYS_SOCKET, unix.AF_INET6), unix.SECCOMP_RET_ALLOW},
		"AF_VSOCK":      {verdict(auditArch, unix.SYS_SOCKET, unix.AF_VSOCK), errno(unix.EAFNOSUPPORT)},
		"high half":     {verdict(auditArch, unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI), errno(unix.EPERM)},
		"TCGETS":        {verdict(auditArch, unix.SYS_IOCTL, 0, unix.TCGETS), unix.SECCOMP_RET_ALLOW},
		"personality":   {verdict(auditArch, unix.SYS_PERSONALITY, 0xffffffff), unix.SECCOMP_RET_ALLOW},
		"no randomness": {verdict(auditArch, unix.SYS_PERSONALITY, 0x40000), errno(unix.EPERM)},
		"x32":           {verdict(auditArch, 0x40000000|unix.SYS_GETPID), errno(unix.EPERM)},
		"last":          {verdict(auditArch, 0xffffffff), errno(unix.EPERM)},
		"i386":          {verdict(unix.AUDIT_ARCH_I386, 20), unix.SECCOMP_RET_KILL_PROCESS},
		"ARM":           {verdict(unix.AUDIT_ARCH_ARM, 20), unix.SECCOMP_RET_KILL_PROCESS},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %#x, want %#x", name, test.got, test.want)
		}
	}
}
