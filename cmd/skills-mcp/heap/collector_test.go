package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// The heap of a process is at most what it holds with the room, or with 40 %.
func TestPercentFor(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		held, room, want int
	}{
		{0, 64, 64}, {2, 24, 24}, {4, 24, 28}, {50, 24, 74}, {60, 24, 84}, {100, 24, 140},
	} {
		percent := percentFor(uint64(c.held)*mb, int64(c.room)*mb)
		if heap := max(c.held+c.held*percent/100, leastHeap/mb*percent/100); heap > c.want || heap < c.want-1 {
			t.Errorf("a process that holds %d MB has %d %%, so a heap of %d MB, want %d", c.held, percent, heap, c.want)
		}
	}
}

// The target follows what the process holds, until the collector is closed.
func TestCollector(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	c := New()
	defer c.Close()
	if got := debug.SetGCPercent(c.percent); got != 100*startRoom/leastHeap {
		t.Errorf("at the start the target is %d %%", got)
	}
	large := make([]byte, 100<<20)
	target := func(least, most int) func() bool {
		return func() bool {
			runtime.GC()
			percent := debug.SetGCPercent(100)
			debug.SetGCPercent(percent)
			return least <= percent && percent <= most
		}
	}
	wait(t, "a target for the start", target(leastPercent+1, 100))
	c.free()
	wait(t, "a small target", target(leastPercent, leastPercent))
	runtime.KeepAlive(large)
}

// A person's GOGC stays.
func TestCollectorOff(t *testing.T) {
	t.Setenv("GOGC", "70")
	before := debug.SetGCPercent(70)
	defer debug.SetGCPercent(before)
	c := New()
	defer c.Close()
	c.Rest()
	if got := debug.SetGCPercent(before); got != 70 {
		t.Errorf("the target is %d %%, want 70", got)
	}
}

// wait waits until something holds.
func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// The memory of the start is released once it has ended, and that of a load.
func TestCollectorReleases(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	c := New()
	defer c.Close()
	c.quiet = 100 * time.Millisecond
	c.Rest()
	wait(t, "release of the start", func() bool { return c.freed.Load() != 0 })
	c.freed.Store(0) // long ago
	runtime.GC()     // of a load
	wait(t, "release", func() bool { return c.freed.Load() != 0 })
}
