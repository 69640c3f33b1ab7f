package native

import "golang.org/x/sys/unix"

// auditArch is this architecture in struct seccomp_data.
const auditArch = unix.AUDIT_ARCH_AARCH64

// threadMemory returns 0: compiled Go has all it needs of its thread in a
// register.
func threadMemory() uintptr { return 0 }
