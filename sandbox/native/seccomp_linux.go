//go:build amd64 || arm64

package native

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

//go:generate go test -run TestSyscallTable -update

// The filter allows the system calls of Docker's default profile, by a table that is made
// from it, less those judged below. It refuses all others, those of future kernels
// included, with EPERM. Another architecture's calls, 32-bit ones included, end the
// process.

// syscallTable has a line for each system call that is allowed whatever its arguments: its
// name, and its number on each architecture, or "-".
//
//go:embed syscalls.txt
var syscallTable string

// allowedCalls returns the numbers of those calls on this architecture.
func allowedCalls() []uint32 {
	var calls []uint32
	for line := range strings.Lines(syscallTable) {
		fields := strings.Fields(line)
		if call, err := strconv.ParseUint(fields[tableColumn], 10, 32); err == nil {
			calls = append(calls, uint32(call))
		}
	}
	return calls
}

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// Offsets in struct seccomp_data. Only the low half of an argument is looked at,
// which is all of it for the calls that are judged by one: the kernel takes int
// or, for clone and ioctl, defines no higher flags or commands.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArg0 = 16
	offsetArg1 = 24
)

func refuse(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

func allow() bpf.Instruction { return bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW} }

// judged returns the filters of calls that depend on their arguments, or are
// refused with an errno of their own.
func judged() map[uint32][]bpf.Instruction {
	return map[uint32][]bpf.Instruction{
		unix.SYS_CLONE: {
			bpf.LoadAbsolute{Off: offsetArg0, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: newNamespaces, SkipFalse: 1},
			refuse(unix.EPERM),
			allow(),
		},
		// Its flags are in memory, where a filter cannot see them; the C library
		// falls back to clone.
		unix.SYS_CLONE3: {refuse(unix.ENOSYS)},
		// The families that programs use; others are much kernel for no purpose.
		unix.SYS_SOCKET: oneOf(offsetArg0, refuse(unix.EAFNOSUPPORT),
			unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK),
		// As Docker's: the default, 32-bit addresses and UNAME26, and the query.
		unix.SYS_PERSONALITY: oneOf(offsetArg0, refuse(unix.EPERM),
			0, 0x8, 0x20000, 0x20008, 0xffffffff),
		// Typing into a terminal.
		unix.SYS_IOCTL: noneOf(offsetArg1, refuse(unix.EPERM),
			unix.TIOCSTI, unix.TIOCLINUX),
	}
}

func oneOf(offset uint32, onError bpf.Instruction, values ...uint32) []bpf.Instruction {
	return match(offset, allow(), onError, values)
}

func noneOf(offset uint32, onError bpf.Instruction, values ...uint32) []bpf.Instruction {
	return match(offset, onError, allow(), values)
}

// match ends in yes when the argument is one of values, else in no.
func match(offset uint32, yes, no bpf.Instruction, values []uint32) []bpf.Instruction {
	code := []bpf.Instruction{bpf.LoadAbsolute{Off: offset, Size: 4}}
	for i, v := range values {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(code, no, yes)
}

// A span is a range of call numbers, up to the next span's first, with the
// filter for them.
type span struct {
	from uint32
	do   []bpf.Instruction
}

// filter returns the program. It refuses some calls more.
func filter(refused ...uint32) []bpf.Instruction {
	head := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: offsetCall, Size: 4},
	}
	return append(head, search(spans(refused))...)
}

// spans returns the spans of all numbers. The last one refuses, and with it
// x32's numbers, which are the highest.
func spans(refused []uint32) []span {
	special, known := judged(), slices.DeleteFunc(allowedCalls(), func(call uint32) bool { return slices.Contains(refused, call) })
	for call := range special {
		known = append(known, call)
	}
	slices.Sort(known)
	var list []span
	end, plain := uint32(0), false // where list ends, and whether it ends in a span that allows
	for _, call := range slices.Compact(known) {
		if call > end {
			list = append(list, span{end, []bpf.Instruction{refuse(unix.EPERM)}})
			plain = false
		}
		if do, judge := special[call]; judge {
			list = append(list, span{call, do})
			plain = false
		} else if !plain {
			list = append(list, span{call, []bpf.Instruction{allow()}})
			plain = true
		}
		end = call + 1
	}
	return append(list, span{end, []bpf.Instruction{refuse(unix.EPERM)}})
}

// search returns a binary search for the span of the loaded number.
func search(list []span) []bpf.Instruction {
	if len(list) == 1 {
		return list[0].do
	}
	middle := len(list) / 2
	low, high := search(list[:middle]), search(list[middle:])
	code := []bpf.Instruction{bpf.JumpIf{
		Cond:     bpf.JumpGreaterOrEqual,
		Val:      list[middle].from,
		SkipTrue: uint8(len(low)),
	}}
	if len(low) > 255 { // as far as a condition reaches
		code = []bpf.Instruction{
			bpf.JumpIf{Cond: bpf.JumpLessThan, Val: list[middle].from, SkipTrue: 1},
			bpf.Jump{Skip: uint32(len(low))},
		}
	}
	return slices.Concat(code, low, high)
}

// assemble returns the filter in the kernel's form.
func assemble(refused ...uint32) ([]unix.SockFilter, error) {
	raw, err := bpf.Assemble(filter(refused...))
	if err != nil {
		return nil, err
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return code, nil
}
