//go:build amd64 || arm64

package native

import (
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// start starts the command and returns its process id. It knows when the
// program cannot be executed, so what it returns without an error has begun.
func start(j *job) (pid int, err error) {
	argv := j.Argv
	program, err := find(argv[0], j.Env)
	if err != nil {
		return 0, err
	}
	ignoreSignals()
	pid, err = syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Env:   j.Env,
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err == unix.ENOENT && unix.Access(program, unix.F_OK) == nil {
		return 0, fail(stepInterpreter, argv[0], err)
	}
	if err != nil {
		return 0, fail(stepExec, argv[0], err)
	}
	if runsThisFile(pid) {
		return 0, fail(stepSelf, argv[0], unix.EPERM)
	}
	// Only the command's own copies may keep its streams open.
	for fd := range 3 {
		_ = unix.Close(fd)
	}
	return pid, nil
}

// runsThisFile reports whether the process executes the host's file that this
// one does, as a program "/proc/self/exe" would. That file may be the user's
// own, and nothing in the sandbox may have a way to it.
func runsThisFile(pid int) bool {
	var mine, its unix.Stat_t
	if unix.Stat("/proc/self/exe", &mine) != nil {
		return true
	}
	if unix.Stat("/proc/"+strconv.Itoa(pid)+"/exe", &its) != nil {
		return false // it has ended or is not to be looked into, so it is another
	}
	return mine.Dev == its.Dev && mine.Ino == its.Ino
}

// find looks program up as execvp(3) does, in the sandbox's PATH.
func find(program string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		return program, nil
	}
	found := unix.ENOENT
	for _, folder := range strings.Split(lookup(env, "PATH"), ":") {
		candidate := path.Join(folder, program)
		if folder == "" {
			candidate = "./" + program
		}
		info, err := os.Stat(candidate)
		if err != nil || info.IsDir() {
			continue
		}
		if unix.Access(candidate, unix.X_OK) == nil {
			return candidate, nil
		}
		found = unix.EACCES
	}
	return "", fail(stepFind, program, found)
}

func lookup(env []string, key string) string {
	for _, entry := range env {
		if k, v, _ := strings.Cut(entry, "="); k == key {
			return v
		}
	}
	return ""
}

// reap waits for the command, and for the orphans that come to process 1 until
// then, and returns the command's exit code.
//
// The raw system call hides the waiting from Go's scheduler, which would
// otherwise start a thread to take over; and where the command uses up its
// processes there is none to be had, which Go takes for fatal.
func reap(command int) (code int64) {
	for {
		var status unix.WaitStatus
		pid, _, errno := unix.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0),
			uintptr(unsafe.Pointer(&status)), unix.WALL, 0, 0, 0)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return 255 // no children: cannot happen before the command's end
		case int(pid) == command && status.Signaled():
			return 128 + int64(status.Signal())
		case int(pid) == command && status.Exited():
			return int64(status.ExitStatus())
		}
	}
}

// ignoreSignals keeps process 1 from what its own sandbox sends it. That a
// process 1 without handlers gets none of it holds only while its first thread
// does not block signals, as Go does around a fork: then one that would be fatal
// is, if another thread takes it.
//
// The command does not inherit this: Go gives a child the default of every
// signal that it handles itself. Those that it does not are the three that C
// libraries keep for themselves, and those left out here: they stop or continue
// a process, which is never fatal.
func ignoreSignals() {
	const signals, setBytes = 64, 8
	ignore := [4]uint64{1} // struct sigaction, its handler first: SIG_IGN
	for signal := uintptr(1); signal <= signals; signal++ {
		switch syscall.Signal(signal) {
		case unix.SIGCHLD: // ignored, it would take away the children's exit codes
			continue
		case unix.SIGCONT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
			continue
		}
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, signal,
			uintptr(unsafe.Pointer(&ignore)), 0, setBytes, 0, 0)
	}
}
