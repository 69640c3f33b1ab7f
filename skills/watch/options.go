package watch

import (
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
	// Skip reports whether to ignore a name below a root, of a file or folder. It
	// is called from one goroutine at a time. If nil, [scan.Skip].
	Skip func(name string) bool

	// Logger receives messages for the operator. If nil, [slog.Default].
	Logger *slog.Logger
}

// withDefaults returns a copy of o with every zero field set. o may be nil.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	orDefault(&c.Quiet, 100*time.Millisecond)
	orDefault(&c.MaxDelay, time.Second)
	orDefault(&c.Depth, scan.DefaultDepth)
	orDefault(&c.Folders, 2000)
	c.MaxDelay = max(c.MaxDelay, c.Quiet)
	if c.Skip == nil {
		c.Skip = scan.Skip
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

func orDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
