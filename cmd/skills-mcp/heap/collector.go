// Package heap sets the target of the garbage collector for a server. Start with
// [New].
package heap

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// The room of the garbage collector: the bytes of garbage between two collections. A
// process that holds 100 MB has a heap of 140 MB at most, one that holds 50 MB of 74, and
// one that holds 2 MB, as a server with few skills, of 24. With 40 % of what it holds
// alone, that one collected every 20 calls, for a third of a call's processor time.
const (
	// startRoom is for the first scan, which makes 2 GB of garbage for 5,000 skills.
	startRoom = 64 << 20
	// servingRoom is for calls, each of which makes 0.2 MB.
	servingRoom = 24 << 20
	// leastPercent is the target of a process that holds much, as a percentage of that.
	leastPercent = 40
	// leastHeap is the heap at which Go collects first with a target of 100 %. It grows
	// with the target.
	leastHeap = 4 << 20
	// quiet is the time after a collection, without another, in which a load has ended.
	quiet = 5 * time.Second
)

// A collector sets the target of the garbage collector from what the process holds,
// after each collection. A person's GOGC turns it off, and a GOMEMLIMIT applies as ever:
// near the limit, Go collects whatever the target is.
type Collector struct {
	closed  atomic.Bool
	rested  atomic.Bool // Rest was called
	room    atomic.Int64
	quiet   time.Duration
	release *time.Timer  // collects the garbage of a load that has ended
	freed   atomic.Int64 // when free began, in Unix nanoseconds
	percent int          // that was set last; of the sentinel's cleanups, which run one at a time
}

// New returns a collector with the room for the start.
func New() *Collector {
	c := &Collector{quiet: quiet}
	c.release = time.AfterFunc(math.MaxInt64, c.free)
	if c.closed.Store(os.Getenv("GOGC") != ""); c.closed.Load() {
		return c
	}
	c.room.Store(startRoom)
	c.aim(0)
	c.follow()
	return c
}

// Rest is called when the server waits for calls. Once no collection has followed for a
// while, as when the skills are indexed, it collects the garbage of the start.
func (c *Collector) Rest() {
	c.rested.Store(true)
	c.release.Reset(c.quiet)
}

// free collects the garbage and returns the memory to the system. Pools keep what they
// have for one collection more.
func (c *Collector) free() {
	c.freed.Store(time.Now().UnixNano())
	c.room.Store(servingRoom)
	runtime.GC()
	debug.FreeOSMemory()
	unmapProgram()
}

// Close stops setting the target.
func (c *Collector) Close() {
	c.closed.Store(true)
	c.release.Stop()
}

// follow sets the target after the next collection, and follows the one behind it: the
// cleanup of an object without references runs after each. Without another the garbage
// of the load since is released.
func (c *Collector) follow() {
	sentinel := new([32]byte) // too large for Go's allocator of tiny objects
	runtime.AddCleanup(sentinel, func(c *Collector) {
		if !c.closed.Load() {
			c.aim(held())
			c.follow()
			if c.rested.Load() && time.Now().UnixNano()-c.freed.Load() >= int64(c.quiet) { // else it is of free
				c.release.Reset(c.quiet)
			}
		}
	}, c)
}

// aim sets the target for a process that holds so many bytes.
func (c *Collector) aim(held uint64) {
	percent := percentFor(held, c.room.Load())
	if percent != c.percent {
		c.percent = percent
		debug.SetGCPercent(percent)
	}
}

// percentFor returns the target for a process that holds so many bytes.
func percentFor(held uint64, room int64) int {
	return max(leastPercent, int(100*uint64(room)/max(held, leastHeap)))
}

// held returns the bytes that the last collection found in use, with those that it
// scans besides the heap: Go's percentage is of both.
func held() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(samples)
	var all uint64
	for _, s := range samples {
		all += s.Value.Uint64()
	}
	return all
}
