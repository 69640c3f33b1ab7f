//go:build amd64 || arm64

package native

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// As fork_linux.go, this file is for forks: nothing in it may use Go's runtime.

// obey takes one script from the server and does what it is for.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) obey() {
	n.receive()
	switch kind(*n.word(n.incoming)) {
	case kindSetup:
		n.setUp(n.incoming)
	case kindJob:
		n.start()
	case kindOnce:
		n.once = true
		n.start()
	case kindEnd:
		n.killAll()
		n.reap(0)
	}
}

//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) setUp(at uintptr) {
	if failed, errno := n.run(at); errno != 0 {
		n.report[3] = int32(failed)
		n.tell(initControl, hasFailed, int32(*n.word(at)), int32(errno))
		exit()
	}
}

// receive puts a script into the incoming area, and the descriptors that come
// with it into the slots. Without the server there is nothing to live for.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) receive() {
	n.header.Controllen = rightsBytes
	got, errno := raw4(unix.SYS_RECVMSG, initControl, uintptr(unsafe.Pointer(&n.header)), unix.MSG_CMSG_CLOEXEC|unix.MSG_WAITALL, 0)
	if errno != 0 || got != headerWords*wordBytes {
		exit()
	}
	if n.header.Controllen >= unix.SizeofCmsghdr {
		head := (*unix.Cmsghdr)(unsafe.Pointer(&n.rights))
		count := (uintptr(head.Len) - unix.SizeofCmsghdr) / 4
		for i := uintptr(0); i < count && i < maxRights; i++ {
			n.slots[i] = *(*int32)(unsafe.Add(unsafe.Pointer(&n.rights), unix.SizeofCmsghdr+4*i))
		}
	}
	at := n.incoming
	rest := uintptr(wordBytes*(callWords**n.word(at + 8)+*n.word(at + 16)) + *n.word(at + 24))
	if rest > n.room {
		exit()
	}
	for at += headerWords * wordBytes; rest > 0; {
		got, errno := raw4(unix.SYS_READ, initControl, uintptr(n.memory)+at, rest, 0)
		if errno != 0 || got == 0 {
			exit()
		}
		at, rest = at+got, rest-got
	}
}

// run makes the calls of the script at an offset in memory. When it fails it
// returns the index of the call, and its errno.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) run(at uintptr) (failed uintptr, errno syscall.Errno) {
	calls, pointers := uintptr(*n.word(at + 8)), uintptr(*n.word(at + 16))
	at += headerWords * wordBytes
	list := at + calls*callWords*wordBytes
	data := list + pointers*wordBytes
	for i := uintptr(0); i < pointers; i++ {
		*n.word(data + uintptr(*n.word(list + i*wordBytes))) += uint64(uintptr(n.memory) + data)
	}
	denied := false
	for i := uintptr(0); i < calls; i++ {
		c := at + i*callWords*wordBytes
		if *n.word(c) == giveUp {
			if denied {
				return i, unix.EACCES
			}
			return i, unix.ENOENT
		}
		result, _, errno := syscall.RawSyscall6(uintptr(*n.word(c)), n.arg(c, 0, data), n.arg(c, 1, data),
			n.arg(c, 2, data), n.arg(c, 3, data), n.arg(c, 4, data), n.arg(c, 5, data))
		if errno == 0 {
			n.slots[*n.word(c + 16)] = int32(result)
			continue
		}
		n.slots[*n.word(c + 16)] = -1
		switch otherwise(*n.word(c + 8) & 0xff) {
		case goesOn:
		case skipsOne:
			i++
			denied = denied || errno == unix.EACCES
		case searches:
			if errno != unix.EACCES {
				return i, errno
			}
			denied = true
		default:
			return i, errno
		}
	}
	return 0, 0
}

// arg returns an argument of the call at c, in a script whose data is at data.
//
//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) arg(c, index, data uintptr) uintptr {
	value := uintptr(*n.word(c + 24 + index*wordBytes))
	switch argKind(*n.word(c + 8) >> (8 + kindBits*index) & (1<<kindBits - 1)) {
	case isOffset:
		return uintptr(n.memory) + data + value
	case isSlot:
		return uintptr(n.slots[value])
	}
	return value
}

//go:nosplit
//go:norace
//go:nocheckptr
func (n *nest) word(at uintptr) *uint64 { return (*uint64)(unsafe.Add(n.memory, at)) }
