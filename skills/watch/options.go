package watch

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// Options change how folders are watched. A nil *Options, and every zero field,
// means the default.
type Options struct {
	// Depth bounds the levels of watched folders below a root.
	// [scan.DefaultDepth] if zero.
	Depth int
	// Folders bounds the watched folders and links below one root; those nearest
	// to the root come first. Reaching it is a [Gap]. 2000 if zero.
	Folders int

	// Logger receives messages for the operator. If nil, [slog.Default].
	Logger *slog.Logger

	// quiet is the time without an event after which a burst counts as settled; 100 ms
	// if zero. maxDelay bounds the time from a burst's first event to its report,
	// settled or not; 1 s if zero, and never less than quiet. Tests set them.
	quiet, maxDelay time.Duration
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.quiet = cmp.Or(c.quiet, 100*time.Millisecond)
	c.maxDelay = max(cmp.Or(c.maxDelay, time.Second), c.quiet)
	c.Depth = cmp.Or(c.Depth, scan.DefaultDepth)
	c.Folders = cmp.Or(c.Folders, 2000)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}
