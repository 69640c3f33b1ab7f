//go:build amd64 || arm64

package native

import (
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A sequence is a list of system calls that an init makes. The init is a fork of a
// Go program and must not use Go's runtime: it allocates nothing, and its stack
// cannot grow. So the server makes all decisions and packs the calls with their
// arguments; the init only makes them. Its figure is that of the fork
// (fork_linux.go): an init that can decide is a Go program that was executed.
type sequence struct {
	calls    []call
	data     []byte
	pointers []uint64 // offsets in data of words that are offsets in data, and become addresses
}

// A call is one system call.
type call struct {
	number  uintptr
	args    [maxArgs]arg
	onError onError
	result  slot    // of the call; or noSlot
	purpose purpose // for errors
}

const maxArgs = 6

// An onError says how an error of a call is handled.
type onError uint64

const (
	failSequence   onError = iota // the sequence has failed
	ignoreError                   // nothing
	skipNext                      // the next call is not made; EACCES is remembered
	continueSearch                // nothing if it is EACCES, which is remembered; else the sequence has failed
)

// A purpose describes a call, for errors.
type purpose struct {
	step step
	what string
}

// A slot is a place for a descriptor in an init: first those that were sent
// with the sequence, in their order, then results.
type slot uint64

const (
	slots = maxRights + 4

	slotResult  slot = maxRights // of a call, for the next ones
	slotContext slot = maxRights + 1
	slotProc    slot = maxRights + 2
	noSlot      slot = maxRights + 3 // discards a result
)

// An arg is an argument: a number, an offset in the sequence's data that becomes
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

// failNotFound is not a system call: it fails the sequence, with EACCES if that
// is remembered and otherwise with ENOENT.
const failNotFound = 1 << 20

// number returns an argument that is passed as it is.
func number[T ~int | ~int32 | ~int64 | ~uint32 | ~uint64 | ~uintptr](v T) arg {
	return arg{isNumber, uint64(v)}
}

func (s slot) arg() arg { return arg{isSlot, uint64(s)} }

// here is the folder that relative paths begin at, AT_FDCWD.
func here() arg { return number(unix.AT_FDCWD) }

// text returns the address of a C string.
func (s *sequence) text(v string) arg { return s.bytes(append([]byte(v), 0)) }

// bytes returns the address of b, aligned as any C type is.
func (s *sequence) bytes(b []byte) arg {
	s.align()
	at := len(s.data)
	s.data = append(s.data, b...)
	return arg{isOffset, uint64(at)}
}

func (s *sequence) align() {
	for len(s.data)%8 != 0 {
		s.data = append(s.data, 0)
	}
}

// words returns the address of machine words, of which those that are addresses
// are set when it is run.
func (s *sequence) words(words ...arg) arg {
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
func (s *sequence) strings(list []string) arg {
	words := make([]arg, 0, len(list)+1)
	for _, v := range list {
		words = append(words, s.text(v))
	}
	return s.words(append(words, number(0))...)
}

// add appends a call and returns it. Its error fails the sequence unless the caller
// sets another onError.
func (s *sequence) add(at purpose, nr uintptr, args ...arg) *call {
	s.calls = append(s.calls, call{number: nr, purpose: at, result: noSlot})
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

// A kind says how an init executes a sequence.
type kind uint64

const (
	kindGeneric     kind = iota // makes it, itself, before it has anything from the server
	kindSetup                   // makes it, itself
	kindCommand                 // makes it in a new process, the command's
	kindLastCommand             // the same; with the command's end the init's work is done
	kindKillAll                 // ends all other processes; the sequence is empty
)

// pack appends the sequence to b.
func (s *sequence) pack(b []byte, k kind) []byte {
	s.align()
	b = slices.Grow(b, wordBytes*(headerWords+callWords*len(s.calls)+len(s.pointers))+len(s.data))
	word := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	word(uint64(k))
	word(uint64(len(s.calls)))
	word(uint64(len(s.pointers)))
	word(uint64(len(s.data)))
	for i := range s.calls {
		c := &s.calls[i]
		how := uint64(c.onError)
		for j, a := range c.args {
			how |= uint64(a.kind) << (8 + kindBits*j)
		}
		word(uint64(c.number))
		word(how)
		word(uint64(c.result))
		for _, a := range c.args {
			word(a.value)
		}
	}
	for _, p := range s.pointers {
		word(p)
	}
	return append(b, s.data...)
}

// handover is the number that a descriptor gets to be sent.
const handover = 200

func (s *sequence) prctl(what string, option int, args ...uintptr) *call {
	words := []arg{number(option)}
	for _, a := range args {
		words = append(words, number(a))
	}
	return s.add(purpose{stepSetup, what}, unix.SYS_PRCTL, words...)
}

func (s *sequence) close(fd slot) { s.add(purpose{}, unix.SYS_CLOSE, fd.arg()).onError = ignoreError }

// folder makes a folder, and those above it, where there is none.
func (s *sequence) folder(path string) {
	for i, c := range path[1:] {
		if c == '/' {
			s.makeFolder(path[:i+1])
		}
	}
	s.makeFolder(path)
}

// makeFolder makes one folder. Whether it exists shows at its first use.
func (s *sequence) makeFolder(path string) {
	s.add(purpose{}, unix.SYS_MKDIRAT, here(), s.text(path), number(0o755)).onError = ignoreError
}

// tmpfs mounts one at a folder that it makes.
func (s *sequence) tmpfs(path string, size int64, mode int) {
	at := purpose{stepSetup, "make " + strings.TrimPrefix(path, newRoot)}
	s.newMount(at, "tmpfs", noPrivileges, tmpfsOptions(size, mode)...)
	s.folder(path)
	s.attach(at, slotResult, path)
}

// newMount makes a detached mount of a new file system.
func (s *sequence) newMount(at purpose, kind string, attributes int, options ...option) {
	fs := slotContext
	s.add(at, unix.SYS_FSOPEN, s.text(kind), number(unix.FSOPEN_CLOEXEC)).result = fs
	for _, o := range options {
		s.add(at, unix.SYS_FSCONFIG, fs.arg(), number(unix.FSCONFIG_SET_STRING), s.text(o.key), s.text(o.value), number(0))
	}
	s.add(at, unix.SYS_FSCONFIG, fs.arg(), number(unix.FSCONFIG_CMD_CREATE), number(0), number(0), number(0))
	s.add(at, unix.SYS_FSMOUNT, fs.arg(), number(unix.FSMOUNT_CLOEXEC), number(attributes)).result = slotResult
	s.close(fs)
}

// attach puts a detached mount at a path and closes it.
func (s *sequence) attach(at purpose, tree slot, path string) {
	s.add(at, unix.SYS_MOVE_MOUNT, tree.arg(), s.text(""), here(), s.text(path), number(unix.MOVE_MOUNT_F_EMPTY_PATH))
	s.close(tree)
}

// sendReport sends the server a report.
func (s *sequence) sendReport(what event) {
	words := encodeReport(what)
	s.add(purpose{stepControl, ""}, unix.SYS_SENDTO, number(initControl), s.bytes(words), number(len(words)), number(unix.MSG_NOSIGNAL), number(0), number(0))
}

// sendFile sends the server a report with a descriptor, which it closes.
func (s *sequence) sendFile(what event, fd slot) {
	at := purpose{stepControl, ""}
	s.add(at, unix.SYS_DUP3, fd.arg(), number(handover), number(unix.O_CLOEXEC))
	s.close(fd)
	words := encodeReport(what)
	vector := s.words(s.bytes(words), number(len(words)))
	rights := unix.UnixRights(handover)
	header := s.words(number(0), number(0), vector, number(1), s.bytes(rights), number(len(rights)), number(0))
	s.add(at, unix.SYS_SENDMSG, number(initControl), header, number(unix.MSG_NOSIGNAL))
	s.add(at, unix.SYS_CLOSE, number(handover))
}

func encodeReport(what event) []byte {
	words := make([]byte, 4*reportWords)
	binary.LittleEndian.PutUint32(words, uint32(what))
	return words
}

// sizeOfHeader fails to compile where report's header is not struct msghdr.
const _ = uint(7*wordBytes-unsafe.Sizeof(unix.Msghdr{})) + uint(unsafe.Sizeof(unix.Msghdr{})-7*wordBytes)

// failed returns the failure that a report of a failed call describes.
func (s *sequence) failed(call int, errno unix.Errno) *failure {
	if call < 0 || call >= len(s.calls) {
		return &failure{Step: stepControl, Errno: errno}
	}
	at := s.calls[call].purpose
	if at.step == stepInterpreter && errno != unix.ENOENT { // the program is there
		at.step = stepExec
	}
	return &failure{Step: at.step, What: at.what, Errno: errno}
}
