//go:build amd64 || arm64

package native

import (
	"encoding/binary"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A script is system calls for an init to make one after the other. The init is
// a fork of a Go program and so must not use Go's runtime: it allocates nothing,
// and its stack cannot grow. What it is to do is therefore decided, and put into
// bytes, by the server; the init only makes the calls.
type script struct {
	calls    []call
	data     []byte
	pointers []uint64 // offsets in data of words that are offsets in data, and become addresses
}

// A call is one system call.
type call struct {
	number    uintptr
	args      [maxArgs]arg
	otherwise otherwise
	keep      slot  // where the result is kept, unless it is noSlot
	place     place // what it is for, for errors
}

const maxArgs = 6

// An otherwise says what an error means.
type otherwise uint64

const (
	fails    otherwise = iota // the script has failed
	goesOn                    // nothing
	skipsOne                  // the next call is not made; EACCES is remembered
	searches                  // nothing if it is EACCES, which is remembered; else the script has failed
)

// A place is what a call is for.
type place struct {
	step step
	what string
}

// A slot is where an init keeps a descriptor: first those that came with the
// script, in their order, then results.
type slot uint64

const (
	slots = maxRights + 4

	slotResult  slot = maxRights // of a call, for the next ones
	slotContext slot = maxRights + 1
	slotProc    slot = maxRights + 2
	noSlot      slot = maxRights + 3 // what is kept here is not used
)

// An arg is an argument: a number, an offset in the script's data that becomes
// an address, or a slot whose descriptor it becomes.
type arg struct {
	kind  argKind
	value uint64
}

type argKind uint64

const (
	isNumber argKind = iota
	isOffset
	isSlot
)

// giveUp is the number of a call that is none: the script fails, with EACCES if
// that is remembered and else with ENOENT.
const giveUp = 1 << 20

// number returns an argument that is passed as it is.
func number[T ~int | ~int32 | ~int64 | ~uint32 | ~uint64 | ~uintptr](v T) arg {
	return arg{isNumber, uint64(v)}
}

func (s slot) arg() arg { return arg{isSlot, uint64(s)} }

// here is the folder that relative paths begin at, AT_FDCWD.
func here() arg { return number(unix.AT_FDCWD) }

// text returns the address of a C string.
func (s *script) text(v string) arg { return s.bytes(append([]byte(v), 0)) }

// bytes returns the address of b, aligned as any C type is.
func (s *script) bytes(b []byte) arg {
	s.align()
	at := len(s.data)
	s.data = append(s.data, b...)
	return arg{isOffset, uint64(at)}
}

func (s *script) align() {
	for len(s.data)%8 != 0 {
		s.data = append(s.data, 0)
	}
}

// words returns the address of machine words, of which those that are addresses
// are set when it is run.
func (s *script) words(words ...arg) arg {
	s.align()
	at := len(s.data)
	for i, w := range words {
		if w.kind == isOffset {
			s.pointers = append(s.pointers, uint64(at+8*i))
		}
		s.data = binary.LittleEndian.AppendUint64(s.data, w.value)
	}
	return arg{isOffset, uint64(at)}
}

// strings returns the address of a list of C strings that ends with NULL, such
// as argv.
func (s *script) strings(list []string) arg {
	words := make([]arg, 0, len(list)+1)
	for _, v := range list {
		words = append(words, s.text(v))
	}
	return s.words(append(words, number(0))...)
}

// add adds a call, an error of which fails the script, and returns it for other
// wishes.
func (s *script) add(at place, nr uintptr, args ...arg) *call {
	s.calls = append(s.calls, call{number: nr, place: at, keep: noSlot})
	c := &s.calls[len(s.calls)-1]
	copy(c.args[:], args)
	return c
}

// The packed form, in words of the machine's, which is little-endian: a header,
// the calls, the pointers, the data.
const (
	headerWords = 4               // kind, calls, pointers, bytes of data
	callWords   = 2 + 1 + maxArgs // number, how, keep, the arguments
	kindBits    = 2               // of each argument, in how, above otherwise's byte
	wordBytes   = 8
)

// A kind is what an init does with a script.
type kind uint64

const (
	kindGeneric kind = iota // makes it, itself, before it has anything from the server
	kindSetup               // makes it, itself
	kindJob                 // makes it in a new process, the command's
	kindOnce                // the same; with the command's end the init's work is done
	kindEnd                 // ends all other processes; the script is empty
)

// pack appends the script to b.
func (s *script) pack(b []byte, k kind) []byte {
	s.align()
	word := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	word(uint64(k))
	word(uint64(len(s.calls)))
	word(uint64(len(s.pointers)))
	word(uint64(len(s.data)))
	for i := range s.calls {
		c := &s.calls[i]
		how := uint64(c.otherwise)
		for j, a := range c.args {
			how |= uint64(a.kind) << (8 + kindBits*j)
		}
		word(uint64(c.number))
		word(how)
		word(uint64(c.keep))
		for _, a := range c.args {
			word(a.value)
		}
	}
	for _, p := range s.pointers {
		word(p)
	}
	return append(b, s.data...)
}

// handover is the descriptor that a script gives a file to send it.
const handover = 200

func (s *script) prctl(what string, option int, args ...uintptr) *call {
	words := []arg{number(option)}
	for _, a := range args {
		words = append(words, number(a))
	}
	return s.add(place{stepSetup, what}, unix.SYS_PRCTL, words...)
}

func (s *script) close(fd slot) { s.add(place{}, unix.SYS_CLOSE, fd.arg()).otherwise = goesOn }

// folder makes a folder, and those above it, where there is none.
func (s *script) folder(path string) {
	for i, c := range path[1:] {
		if c == '/' {
			s.makeFolder(path[:i+1])
		}
	}
	s.makeFolder(path)
}

// makeFolder makes one folder. That it is there, or cannot be made, shows in what
// is done with it.
func (s *script) makeFolder(path string) {
	s.add(place{}, unix.SYS_MKDIRAT, here(), s.text(path), number(0o755)).otherwise = goesOn
}

// tmpfs mounts one at a folder that it makes.
func (s *script) tmpfs(path string, size int64, mode int) {
	at := place{stepSetup, "make " + strings.TrimPrefix(path, newRoot)}
	s.newMount(at, "tmpfs", noPrivileges, tmpfsOptions(size, mode)...)
	s.folder(path)
	s.attach(at, slotResult, path)
}

// newMount makes a detached mount of a new file system.
func (s *script) newMount(at place, kind string, attributes int, options ...option) {
	fs := slotContext
	s.add(at, unix.SYS_FSOPEN, s.text(kind), number(unix.FSOPEN_CLOEXEC)).keep = fs
	for _, o := range options {
		s.add(at, unix.SYS_FSCONFIG, fs.arg(), number(unix.FSCONFIG_SET_STRING), s.text(o.key), s.text(o.value), number(0))
	}
	s.add(at, unix.SYS_FSCONFIG, fs.arg(), number(unix.FSCONFIG_CMD_CREATE), number(0), number(0), number(0))
	s.add(at, unix.SYS_FSMOUNT, fs.arg(), number(unix.FSMOUNT_CLOEXEC), number(attributes)).keep = slotResult
	s.close(fs)
}

// attach puts a detached mount at a path and closes it.
func (s *script) attach(at place, tree slot, path string) {
	s.add(at, unix.SYS_MOVE_MOUNT, tree.arg(), s.text(""), here(), s.text(path), number(unix.MOVE_MOUNT_F_EMPTY_PATH))
	s.close(tree)
}

// tell sends the server a report.
func (s *script) tell(what news) {
	words := encodeReport(what)
	s.add(place{stepControl, ""}, unix.SYS_SENDTO, number(initControl), s.bytes(words), number(len(words)), number(unix.MSG_NOSIGNAL), number(0), number(0))
}

// report sends the server a report with a descriptor, which it closes.
func (s *script) report(what news, fd slot) {
	at := place{stepControl, ""}
	s.add(at, unix.SYS_DUP3, fd.arg(), number(handover), number(unix.O_CLOEXEC))
	s.close(fd)
	words := encodeReport(what)
	vector := s.words(s.bytes(words), number(len(words)))
	rights := unix.UnixRights(handover)
	header := s.words(number(0), number(0), vector, number(1), s.bytes(rights), number(len(rights)), number(0))
	s.add(at, unix.SYS_SENDMSG, number(initControl), header, number(unix.MSG_NOSIGNAL))
	s.add(at, unix.SYS_CLOSE, number(handover))
}

func encodeReport(what news) []byte {
	words := make([]byte, 4*reportWords)
	binary.LittleEndian.PutUint32(words, uint32(what))
	return words
}

// sizeOfHeader fails to compile where report's header is not struct msghdr.
const _ = uint(7*wordBytes-unsafe.Sizeof(unix.Msghdr{})) + uint(unsafe.Sizeof(unix.Msghdr{})-7*wordBytes)

// failed returns what a report of a failed call means.
func (s *script) failed(call int, errno unix.Errno) *failure {
	if call < 0 || call >= len(s.calls) {
		return &failure{Step: stepControl, Errno: errno}
	}
	at := s.calls[call].place
	if at.step == stepInterpreter && errno != unix.ENOENT { // the program is there
		at.step = stepExec
	}
	return &failure{Step: at.step, What: at.what, Errno: errno}
}
