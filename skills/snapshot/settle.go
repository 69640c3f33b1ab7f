package snapshot

import (
	"context"
	"crypto/sha256"
	"io"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/stamp"
)

const (
	// quiet is the time without a write after which a folder counts as settled.
	quiet = 50 * time.Millisecond
	// quietEmpty is the same for an empty file: on a busy machine tens of
	// milliseconds pass between emptying a file and writing it.
	quietEmpty = 500 * time.Millisecond
	// writerPoll is the interval in which a file with a writer is looked at.
	writerPoll = 10 * time.Millisecond
	// settleTimeout bounds the wait for files that are rewritten, growTimeout that for
	// folders, and for files that only grow: a log may be written all the time.
	settleTimeout = 5 * time.Second
	growTimeout   = time.Second
)

// settled waits until nothing was just written and no file that was is still open for
// writing, and returns the entries: a file that is rewritten in place is empty for a
// moment, and then lacks its end. The bounds count from began.
func (s *source) settled(ctx context.Context, before *record, began time.Time) (tree, error) {
	for grown := false; ; {
		t, err := s.list(before)
		if err != nil {
			return nil, err
		}
		busy, rest := s.busy(t, time.Now())
		waited := time.Since(began)
		if len(busy) == 0 || waited >= settleTimeout {
			return t, nil
		}
		if waited >= growTimeout && !grown {
			if grown = true; s.onlyGrow(busy, before) {
				return t, nil
			}
		}
		if err := sleep(ctx, rest); err != nil {
			return nil, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// busy returns the entries that were just written or are being written, and the time
// after which to look again.
func (s *source) busy(t tree, now time.Time) (busy []*entry, rest time.Duration) {
	for i := range t {
		e := &t[i]
		left := e.unquiet(now)
		if left <= 0 && e.isFile() && s.hasWriter(e) {
			left = writerPoll
		}
		if left > 0 {
			busy, rest = append(busy, e), max(rest, left)
		}
	}
	return busy, rest
}

// unquiet returns the time until an entry does not count as just written. Times in the
// future are ignored.
func (e *entry) unquiet(now time.Time) (rest time.Duration) {
	for _, at := range []int64{e.stamp.Changed, e.stamp.Modified} {
		wanted := quiet
		if e.isFile() && e.stamp.Size == 0 {
			wanted = quietEmpty
		}
		if age := now.Sub(time.Unix(0, at)); age > -quiet {
			rest = max(rest, min(quiet, wanted-age))
		}
	}
	return rest
}

// hasWriter reports whether a file that was written lately may be written on.
func (s *source) hasWriter(e *entry) bool {
	if e.certain || e.stamp.Changed == 0 { // it was written long ago, or is not on the host
		return false
	}
	opened, err := skillfs.OpenRegular(s.files, e.name)
	if err != nil {
		return false
	}
	defer opened.Close()
	return stamp.Written(opened)
}

// onlyGrow reports whether every file among busy has only grown at its end since the last
// snapshot.
func (s *source) onlyGrow(busy []*entry, before *record) bool {
	known := before.byName()
	for _, e := range busy {
		if e.isFile() && !s.continues(e, known[e.name]) {
			return false
		}
	}
	return true
}

// continues reports whether a file begins with all of an earlier one, which may be nil.
func (s *source) continues(e, was *entry) bool {
	if was == nil || !was.read || e.stamp.Size < was.stamp.Size {
		return false
	}
	opened, err := skillfs.OpenRegular(s.files, e.name)
	if err != nil {
		return false
	}
	defer opened.Close()
	sum := sha256.New()
	_, err = io.CopyN(sum, opened, int64(was.stamp.Size))
	return err == nil && [sha256.Size]byte(sum.Sum(nil)) == was.sum
}

// same reports whether a file has the content of its sum, and nobody writes it.
func (s *source) same(e *entry) bool {
	again := *e
	return e.unquiet(time.Now()) <= 0 && !s.hasWriter(e) && s.copy(&again, nil) == nil && again.sum == e.sum
}
