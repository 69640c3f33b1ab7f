//go:build unix

package skills

import "syscall"

const nonBlocking = syscall.O_NONBLOCK
