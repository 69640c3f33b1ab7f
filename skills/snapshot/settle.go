package snapshot

import (
	"context"
	"io/fs"
	"time"
)

const (
	// quiet is the time without a write after which a folder counts as settled.
	quiet = 50 * time.Millisecond
	// quietEmpty is the same for an empty file: on a busy machine tens of
	// milliseconds pass between emptying a file and writing it.
	quietEmpty = 500 * time.Millisecond
	// settleTimeout bounds the wait.
	settleTimeout = time.Second
)

// settled waits until no file was just written, at most settleTimeout, and returns
// the entries: a file that is rewritten in place is empty for a moment.
func settled(ctx context.Context, fsys fs.FS) (tree, error) {
	end := time.Now().Add(settleTimeout)
	for {
		t, err := list(fsys)
		if err != nil {
			return nil, err
		}
		rest := t.unquiet(time.Now())
		if rest <= 0 || time.Now().After(end) {
			return t, nil
		}
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// unquiet returns the time until no file counts as just written. Files with times
// in the future are ignored.
func (t tree) unquiet(now time.Time) time.Duration {
	rest := time.Duration(0)
	for _, e := range t {
		wanted := quiet
		if e.size == 0 {
			wanted = quietEmpty
		}
		if age := now.Sub(e.time); age > -quiet {
			rest = max(rest, min(quiet, wanted-age))
		}
	}
	return rest
}
