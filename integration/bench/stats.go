package main

import (
	"context"
	"math"
	"slices"
	"time"
)

// percentile returns the smallest value that at least p percent of values do not
// exceed (the nearest rank), or zero if there are none.
func percentile[T int | int64 | time.Duration | float64](values []T, p int) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(float64(len(sorted)*p) / 100))
	return sorted[max(rank, 1)-1]
}

// milliseconds returns d in milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// medianInterval returns the 99 % confidence interval of the median of the
// distribution that values come from: by the order statistics, so it assumes no
// shape. Of fewer than 8 values it returns the least and the most.
func medianInterval(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n, cut := len(sorted), 0
	// The probability that cut or fewer of n values lie below the median.
	term := math.Pow(0.5, float64(n))
	for tail := term; tail <= 0.005 && cut < n/2; tail += term {
		cut++
		term *= float64(n-cut+1) / float64(cut)
	}
	cut = max(cut-1, 0)
	return sorted[cut], sorted[n-1-cut]
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// takeTurns calls turn once for each of n contenders in every round, while more
// returns true. The order rotates: each is the first of every nth round.
func takeTurns(n int, more func(round int) bool, turn func(contender int) error) error {
	for round := 0; more(round); round++ {
		for i := range n {
			if err := turn((round + i) % n); err != nil {
				return err
			}
		}
	}
	return nil
}
