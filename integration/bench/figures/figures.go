// Package figures is what the benchmarks have in common: what is made of the
// values that were measured, and what they were measured on.
package figures

import (
	"math"
	"slices"
	"time"
)

// Percentile is the smallest value that at least p percent of values are not
// above (the nearest rank); the zero value when there are none.
func Percentile[T int | time.Duration | float64](values []T, p int) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(float64(len(sorted)*p) / 100))
	return sorted[max(rank, 1)-1]
}

// Milliseconds is d in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
