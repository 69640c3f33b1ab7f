package call

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

// timeout is what the call asks for, or else the skill, and no longer than the
// configuration allows; 0 asks for nothing. This is the only place where it is
// decided.
func (x *Executor) timeout(skill, asked time.Duration) (time.Duration, error) {
	if asked < 0 {
		return 0, invalid("a timeout of %s has passed before it began; give one above 0", asked)
	}
	if wanted := cmp.Or(asked, skill); wanted > 0 {
		return min(wanted, x.options.MaxTimeout), nil
	}
	return x.options.MaxTimeout, nil
}
