package skills

import (
	"math"
	"testing"
	"time"
)

func TestSeconds(t *testing.T) {
	for n, want := range map[float64]time.Duration{
		1: time.Second, 0.25: 250 * time.Millisecond, 1e-30: time.Millisecond, 1e300: math.MaxInt64, math.MaxInt64: math.MaxInt64,
		9223372036: 9223372036 * time.Second, 9223372037: math.MaxInt64,
		0: 0, -1: 0, math.Inf(1): 0, math.Inf(-1): 0, math.NaN(): 0,
	} {
		got, err := Seconds(n)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%v: %d, %v; want %d", n, got, err, want)
		}
	}
}
