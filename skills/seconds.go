package skills

import (
	"errors"
	"math"
	"time"
)

// Seconds is a number of seconds, as people and models write timeouts, as a
// duration: at least a millisecond, and as long as a duration can be where it
// is more. The error says what to write.
func Seconds(n float64) (time.Duration, error) {
	switch {
	case math.IsNaN(n), math.IsInf(n, 0), n <= 0:
		return 0, errors.New("write a number of seconds above 0")
	case n >= float64(math.MaxInt64)/float64(time.Second):
		return math.MaxInt64, nil
	}
	return max(time.Duration(n*float64(time.Second)), time.Millisecond), nil
}
