package watch

import (
	"maps"
	"slices"
	"time"
)

// A Change lists the paths that one settled burst of events touched.
type Change struct {
	// Paths are files and folders that may have appeared, changed or vanished,
	// each with everything below it; nothing else has. They are sorted, unique,
	// none lies below another, and each begins with a root as it was given to
	// [New]: a file that is reached from two roots, or through a link as well,
	// is named once for each. A root itself is named when it appeared, vanished
	// or was replaced, and when too many paths changed to list them.
	Paths []string
}

// maxPaths bounds the paths of one change. A burst that touched more (a
// checkout, an unpacked archive) is reported as all roots.
const maxPaths = 1024

// settle collects the paths of in and offers them on out as one [Change] as
// soon as none has come for quiet, or maxDelay after the first. While nobody
// receives, further paths join the offer, which has to settle again. It always
// receives from in, and closes out and returns when in is closed.
func settle(in <-chan []string, out chan<- Change, roots []string, quiet, maxDelay time.Duration) {
	defer close(out)
	var (
		pending = pending{roots: roots}
		latest  time.Time        // when this burst is reported even if it goes on
		due     <-chan time.Time // nil unless a burst is settling
		offer   chan<- Change    // out while there is a settled change, else nil
		change  Change
	)
	for {
		select {
		case paths, ok := <-in:
			if !ok {
				return
			}
			pending.add(paths)
			if due == nil {
				latest = time.Now().Add(maxDelay)
			}
			if left := time.Until(latest); left > 0 {
				due = time.After(min(quiet, left))
			}
			offer = nil
		case <-due:
			due, offer, change = nil, out, pending.change()
		case offer <- change:
			offer, pending.paths = nil, nil
		}
	}
}

// pending is the set of paths that are not reported yet.
type pending struct {
	roots []string
	paths set
}

func (p *pending) add(paths []string) {
	if p.paths == nil {
		p.paths = set{}
	}
	for _, path := range paths {
		p.paths[path] = struct{}{}
	}
	if len(p.paths) > maxPaths {
		clear(p.paths)
		for _, root := range p.roots {
			p.paths[root] = struct{}{}
		}
	}
}

// change returns the paths without those that lie below another.
func (p *pending) change() Change {
	var paths []string
	for _, path := range slices.Sorted(maps.Keys(p.paths)) {
		if !p.paths.covers(path) {
			paths = append(paths, path)
		}
	}
	return Change{Paths: paths}
}
