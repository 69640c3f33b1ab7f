package run

import (
	"cmp"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Seconds is what a caller asks for as a number of seconds. The error is an
// [*Error].
func Seconds(name string, n float64) (time.Duration, error) {
	d, err := skills.Seconds(n)
	if err != nil {
		return 0, invalid("%q is %v; %v", name, n, err)
	}
	return d, nil
}

// timeout returns the call's timeout, or else the skill's, capped by the
// configuration; 0 is unset. No other place decides it.
func (x *Executor) timeout(skill, asked time.Duration) (time.Duration, error) {
	if asked < 0 {
		return 0, invalid("a timeout of %s has passed before it began; give one above 0", asked)
	}
	if wanted := cmp.Or(asked, skill); wanted > 0 {
		return min(wanted, x.options.MaxTimeout), nil
	}
	return x.options.MaxTimeout, nil
}
