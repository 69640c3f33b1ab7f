package native

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	auditArch   = unix.AUDIT_ARCH_X86_64 // this architecture in struct seccomp_data
	tableColumn = 1                      // of syscallTable
)

// threadMemory returns the address of the thread's memory that compiled Go reads after each
// call of assembly.
func threadMemory() uintptr {
	const getFS = 0x1003 // ARCH_GET_FS
	var base uintptr
	_, _, _ = unix.RawSyscall(unix.SYS_ARCH_PRCTL, getFS, uintptr(unsafe.Pointer(&base)), 0)
	return base - 8
}
