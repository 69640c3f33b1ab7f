package watch

import (
	"log/slog"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// Options change how folders are watched. A nil *Options, and every zero field,
// means the default.
type Options struct {
	// Quiet is how long nothing may happen before a burst counts as settled.
	// 100 ms if zero.
	Quiet time.Duration
	// MaxDelay is how long after its first event a burst is reported at the
	// latest, settled or not. 1 s if zero, and never less than Quiet.
	MaxDelay time.Duration

	// Depth is how many levels of folders below a root are watched.
	// [scan.DefaultDepth] if zero.
	Depth int
	// Folders is how many folders and links below one root are watched; those
	// nearest to the root come first. Reaching it is a [Gap]. 2000 if zero.
	Folders int
	// Skip tells which names below a root are not looked at, whether file or
	// folder. It is called from one goroutine at a time. If nil, [scan.Skip].
	Skip func(name string) bool

	// Logger receives what the operator should know. If nil, [slog.Default].
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
