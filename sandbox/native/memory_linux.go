//go:build amd64 || arm64

package native

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// watchInterval is the least time between two checks of a sandbox's memory, and
	// from a command's start to the first, which most never see.
	watchInterval = 100 * time.Millisecond
	// watchShare is the pause before the next check, in durations of the last one.
	watchShare = 20
	// watchTime bounds a check: a sandbox can make one long by millions of mappings.
	watchTime = time.Second
)

// threadTime returns the processor time of the calling thread, which the caller has
// locked. Durations of checks are measured by it: on a machine so busy that a check waits
// half a second for a processor, the next would else come ten seconds later.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // never fails
	return time.Duration(t.Nano())
}

// A memoryWatch ends an instance that uses more memory than its limit. It
// replaces the memory cgroup where there is none: a resource limit holds for
// each process, and counts no shared memory.
type memoryWatch struct {
	instance *instance
	limit    int64
	host     int64  // shared memory of the whole machine when the watch began
	proc     string // the sandbox's /proc, seen from here; "" before the first look
	timer    *time.Timer

	mu      sync.Mutex // held during a look
	stopped bool
}

// watchMemory starts a watch, until stop is called. It does nothing where a
// cgroup bounds the memory.
func (b *instance) watchMemory(limit int64) (stop func()) {
	if b.group.boundsMemory() {
		return func() {}
	}
	w := &memoryWatch{instance: b, limit: limit, host: hostShared()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(watchInterval, w.check)
	return w.stop
}

func (w *memoryWatch) stop() {
	if w.timer.Stop() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}

// check measures once, and schedules the next check or ends the instance.
func (w *memoryWatch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime()
	if w.exceeded() {
		w.instance.exceeded.Store(true)
		w.instance.kill()
		return
	}
	w.timer.Reset(max(watchInterval, watchShare*(threadTime()-began)))
}

// exceeded reports whether the sandbox has more than its limit. The resident memory
// of each process plus the growth of the machine's shared memory is a cheap upper
// bound; only above the limit is the exact sum counted. One of processes that fork meanwhile
// has some of what they share twice, so that it takes two.
func (w *memoryWatch) exceeded() bool {
	if w.proc == "" {
		w.proc = w.instance.proc()
	}
	bound := max(0, hostShared()-w.host)
	for _, p := range processesIn(w.proc) {
		bound += p.resident()
	}
	if bound <= w.limit {
		return false
	}
	for range 2 {
		u := usage{end: threadTime() + watchTime, device: sharedDevice(), opened: map[uint64]int64{}, mapped: map[uint64]int64{}}
		for _, p := range processesIn(w.proc) {
			u.add(p)
		}
		if !u.late() && u.total(hostShared()-w.host) <= w.limit {
			return false
		}
	}
	return true
}

// proc returns the path of the sandbox's own /proc, "" where it is not seen.
func (b *instance) proc() (path string) {
	_ = b.raw.Control(func(fd uintptr) {
		info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
		if pid := counter(strings.ReplaceAll(string(info), ":\t", " "), "Pid"); err == nil && pid > 0 {
			path = fmt.Sprintf("/proc/%d/root/proc", pid)
		}
	})
	return path
}

// A process is the folder of one, or of a thread, in a /proc.
type process string

func processesIn(proc string) []process {
	folder, err := os.Open(proc)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	var all []process
	for _, name := range names {
		if name[0] >= '1' && name[0] <= '9' {
			all = append(all, process(filepath.Join(proc, name)))
		}
	}
	return all
}

// resident returns the bytes that the process has in memory, shared or not.
func (p process) resident() int64 {
	text, _ := os.ReadFile(string(p) + "/statm")
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

// A usage is the memory of several processes together.
type usage struct {
	end    time.Duration    // of the thread's time to count it in
	device uint64           // of files without a name
	opened map[uint64]int64 // bytes of such files that are open, by inode
	mapped map[uint64]int64 // the most bytes of such files that are mapped, by inode

	private int64 // bytes, each counted once
	touched int64 // bytes of shared memory that processes have touched, each counted once
	unseen  bool  // a process does not let its open files be seen, so there may be any
}

func (u *usage) late() bool { return threadTime() > u.end }

// total returns the number of bytes. A mapping whose writing process has ended
// is not visible: it counts with all its size, up to the growth of the
// machine's shared memory.
func (u *usage) total(grown int64) int64 {
	open := int64(0)
	for _, size := range u.opened {
		open += size
	}
	possible := open
	for inode, size := range u.mapped {
		if _, known := u.opened[inode]; !known {
			possible += size
		}
	}
	if u.unseen {
		possible = grown
	}
	return u.private + max(u.touched, open, min(grown, possible))
}

func (u *usage) add(p process) {
	if u.late() {
		return
	}
	text, err := os.ReadFile(string(p) + "/smaps_rollup")
	if err != nil { // it has ended, or is not to be looked into
		u.private += p.resident()
		return
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kB, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "Pss_Anon:", "SwapPss:":
			u.private += kB << 10
		case "Pss_Shmem:":
			u.touched += kB << 10
		}
	}
	u.addMapped(p)
	if filepath.Base(string(p)) == "1" { // ours, which hides and has no such files
		return
	}
	for _, thread := range processesIn(string(p) + "/task") { // which may have descriptors of its own
		u.addOpened(thread)
	}
}

// addMapped adds files without a name that are mapped, each up to the end of the
// last part that is.
func (u *usage) addMapped(p process) {
	file, err := os.Open(string(p) + "/maps")
	if err != nil {
		return
	}
	defer file.Close()
	device := fmt.Sprintf("%02x:%02x", unix.Major(u.device), unix.Minor(u.device))
	lines := bufio.NewScanner(file)
	for lines.Scan() && !u.late() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 || fields[3] != device {
			continue
		}
		m, _ := parseMapping(lines.Text())
		offset, _ := strconv.ParseInt(fields[2], 16, 64)
		inode, _ := strconv.ParseUint(fields[4], 10, 64)
		u.mapped[inode] = max(u.mapped[inode], offset+int64(m.end-m.start))
	}
}

// addOpened adds files without a name that are open.
func (u *usage) addOpened(p process) {
	folder, err := os.Open(string(p) + "/fd")
	if err != nil {
		u.unseen = u.unseen || errors.Is(err, fs.ErrPermission)
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		path := string(p) + "/fd/" + name
		var stat unix.Stat_t
		target, _ := os.Readlink(path) // others may be on a file system that does not answer
		if strings.HasPrefix(target, "/memfd:") && unix.Stat(path, &stat) == nil && stat.Dev == u.device {
			const blockBytes = 512
			u.opened[stat.Ino] = stat.Blocks * blockBytes
		}
	}
}

// hostShared returns the bytes of shared memory that all of the machine has.
func hostShared() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Sharedram) * int64(info.Unit)
}

// sharedDevice returns the device of files in memory that have no name: those of
// memfd_create(2), and behind shared mappings and segments.
func sharedDevice() uint64 {
	fd, err := unix.MemfdCreate("skills-mcp", unix.MFD_CLOEXEC)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	_ = unix.Fstat(fd, &stat)
	return stat.Dev
}
