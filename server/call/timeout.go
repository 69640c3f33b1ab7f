package call

import (
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

// timeout is the smallest of what the skill, the call and the configuration
// allow; 0 allows anything. This is the only place where it is decided.
func (x *Executor) timeout(skill, asked time.Duration) (time.Duration, error) {
	if asked < 0 {
		return 0, invalid("a timeout of %s has passed before it began; give one above 0", asked)
	}
	smallest := x.options.MaxTimeout
	for _, t := range []time.Duration{skill, asked} {
		if t > 0 {
			smallest = min(smallest, t)
		}
	}
	return smallest, nil
}
