package lab

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// An inventory is what this process has of the machine at some moment.
type inventory struct {
	goroutines goleak.Option // that were there
	files      []string      // open ones
	children   []string
	mounts     []string
}

func TakeInventory(t *testing.T) *inventory {
	t.Helper()
	return &inventory{goroutines: goleak.IgnoreCurrent(), files: openFiles(t), children: children(t), mounts: mounts(t)}
}

// CheckNothingLeft fails the test for what there is more of now. mark is an
// argument that processes are known by.
func (before *inventory) CheckNothingLeft(t *testing.T, mark string) {
	t.Helper()
	if err := goleak.Find(before.goroutines); err != nil {
		t.Errorf("goroutines are left: %v", err)
	}
	if now := openFiles(t); len(now) > len(before.files) {
		t.Errorf("%d files are open, before it were %d:\n%s\nbefore:\n%s", len(now), len(before.files), strings.Join(now, "\n"), strings.Join(before.files, "\n"))
	}
	if left := Added(before.children, children(t)); len(left) > 0 {
		t.Errorf("child processes are left: %v", left)
	}
	if Exists(t, mark) {
		t.Error("processes of commands are left")
	}
	if left := Added(before.mounts, mounts(t)); len(left) > 0 {
		t.Errorf("mounts are left:\n%s", strings.Join(left, "\n"))
	}
	if left := cgroupsOf(t, strconv.Itoa(os.Getpid())); len(left) > 0 {
		t.Errorf("cgroups are left: %v", left)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// Added returns what is in now and was not in before.
func Added(before, now []string) []string {
	return slices.DeleteFunc(slices.Clone(now), func(s string) bool { return slices.Contains(before, s) })
}

// openFiles returns what this process has open, but for the folder that says so.
func openFiles(t *testing.T) []string {
	t.Helper()
	const folder = "/proc/self/fd"
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(folder, e.Name())); err == nil {
			open = append(open, e.Name()+" "+target)
		}
	}
	return open
}

// children returns the process ids of this process's children.
func children(t *testing.T) []string {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, list := range lists {
		if text, err := os.ReadFile(list); err == nil { // a thread may have ended
			all = append(all, strings.Fields(string(text))...)
		}
	}
	return all
}

// mounts returns the mount points of this process, but for those of engines,
// which come and go with containers that are others'.
func mounts(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var points []string
	for line := range strings.Lines(string(text)) {
		if point := strings.Fields(line)[4]; !engines(point) {
			points = append(points, point)
		}
	}
	return points
}

// engines reports whether a mount point is one that engines make.
func engines(point string) bool {
	return slices.ContainsFunc([]string{"/overlay", "/containers/", "/netns/", "/rootfs", "/store"}, func(part string) bool {
		return strings.Contains(point, part)
	})
}

// cgroupsOf returns the cgroups whose names have a word between dashes, dots and
// the like.
func cgroupsOf(t *testing.T, word string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // one that has gone while it was looked at
		}
		words := strings.FieldsFunc(d.Name(), func(r rune) bool { return strings.ContainsRune("-._:", r) })
		if d.IsDir() && slices.Contains(words, word) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// MemorySamples has the memory of this process in the first and in the last tenth of many
// calls: the least of several samples, as calls that are under way hold memory rightly.
type MemorySamples struct {
	mu          sync.Mutex
	first, last memorySample
}

type memorySample struct {
	taken     int
	heap, rss uint64 // bytes
}

// What may be added from the first tenth to the last, in bytes: not what is left
// of thousands of calls, but the buffers of as many sandboxes as run and wait at
// a time, which may be there in one sample and not in the other.
const (
	moreHeap = 2 << 20
	moreRSS  = 24 << 20
)

// Take takes a sample after call n of calls, if that is one for it.
func (m *MemorySamples) Take(n, calls int) {
	every := max(calls/200, 1)
	early, late := n < calls/10, n >= calls-calls/10
	if n%every != 0 || !early && !late {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if early {
		m.first.take()
	} else {
		m.last.take()
	}
}

func (s *memorySample) take() {
	debug.FreeOSMemory() // so that what is held is what is used
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	heap, rss := stats.HeapAlloc, residentMemory()
	if s.taken++; s.taken == 1 {
		s.heap, s.rss = math.MaxUint64, math.MaxUint64
	}
	s.heap, s.rss = min(s.heap, heap), min(s.rss, rss)
}

func (m *MemorySamples) Check(t *testing.T) {
	t.Helper()
	first, last := m.first, m.last
	t.Logf("memory, first and last tenth: heap %d and %d KB, resident %d and %d KB", first.heap>>10, last.heap>>10, first.rss>>10, last.rss>>10)
	if first.taken == 0 || last.taken == 0 {
		t.Errorf("%d and %d samples were taken", first.taken, last.taken)
	}
	if last.heap > first.heap+moreHeap {
		t.Errorf("the heap has grown by %d KB", (last.heap-first.heap)>>10)
	}
	if last.rss > first.rss+moreRSS {
		t.Errorf("the resident memory has grown by %d KB", (last.rss-first.rss)>>10)
	}
}

// residentMemory is what the kernel counts as this process's, in bytes; 0 where
// it does not say.
func residentMemory() uint64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes uint64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}
