package native

import "golang.org/x/sys/unix"

const (
	auditArch   = unix.AUDIT_ARCH_AARCH64 // this architecture in struct seccomp_data
	tableColumn = 2                       // of syscallTable
)

// threadMemory returns 0: compiled Go has all it needs of its thread in a
// register.
func threadMemory() uintptr { return 0 }
