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
	// Quiet is the time without an event after which a burst counts as settled.
	// 100 ms if zero.
	Quiet time.Duration
	// MaxDelay bounds the time from a burst's first event to its report, settled
	// or not. 1 s if zero, and never less than Quiet.
	MaxDelay time.Duration

	// Depth bounds the levels of watched folders below a root.
	// [scan.DefaultDepth] if zero.
	Depth int
	// Folders bounds the watched folders and links below one root; those nearest
	// to the root come first. Reaching it is a [Gap]. 2000 if zero.
	Folders int

	// Logger receives messages for the operator. If nil, [slog.Default].
	Logger *slog.Logger
}

// withDefaults returns a copy of o with its defaults; o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Quiet = cmp.Or(c.Quiet, 100*time.Millisecond)
	c.MaxDelay = max(cmp.Or(c.MaxDelay, time.Second), c.Quiet)
	c.Depth = cmp.Or(c.Depth, scan.DefaultDepth)
	c.Folders = cmp.Or(c.Folders, 2000)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}
