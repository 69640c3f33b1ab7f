//go:build unix

package skillfs

import "syscall"

const nonBlocking = syscall.O_NONBLOCK
