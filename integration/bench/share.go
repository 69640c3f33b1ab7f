package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/figures"
)

// A share is what the server takes of a call, one at a time: the difference
// between a call through it and one of its driver alone, made right before or
// after.
type share struct {
	Script string  `json:"script"`
	Server string  `json:"server"`
	Driver string  `json:"driver"`
	Pairs  int     `json:"pairs"`
	Median float64 `json:"median_ms"`
	P25    float64 `json:"p25_ms"`
	P75    float64 `json:"p75_ms"`
}

// minPairs is how many pairs are measured at least, however long that takes.
const minPairs = 4

// shares measures the servers that are there with their drivers.
func shares(ctx context.Context, o *options, contenders []*contender) ([]share, error) {
	var all []share
	for _, names := range [][2]string{{"serve-native", "native"}, {"serve-docker", "docker-warm"}} {
		server, driver := named(contenders, names[0]), named(contenders, names[1])
		if server == nil || driver == nil {
			continue
		}
		for _, script := range scripts() {
			differences, err := pairs(ctx, o.duration/4, part{script, 1}, server, driver)
			if err != nil {
				return all, fmt.Errorf("%s and %s: %w", server.name, driver.name, err)
			}
			all = append(all, share{
				Script: script.name, Server: server.name, Driver: driver.name, Pairs: len(differences),
				Median: figures.Milliseconds(figures.Percentile(differences, 50)),
				P25:    figures.Milliseconds(figures.Percentile(differences, 25)),
				P75:    figures.Milliseconds(figures.Percentile(differences, 75)),
			})
		}
	}
	return all, nil
}

// named returns the contender of a name, or nil.
func named(contenders []*contender, name string) *contender {
	if i := slices.IndexFunc(contenders, func(c *contender) bool { return c.name == name }); i >= 0 {
		return contenders[i]
	}
	return nil
}

// pairs returns by how much a took longer than b, of calls made in pairs for so
// long. Each is the first of a pair in turn.
func pairs(ctx context.Context, duration time.Duration, p part, a, b *contender) ([]time.Duration, error) {
	var differences []time.Duration
	for began := time.Now(); len(differences) < minPairs || time.Since(began) < duration; {
		first, second, sign := a, b, time.Duration(1)
		if len(differences)%2 == 1 {
			first, second, sign = b, a, -1
		}
		_, one, err := first.timed(ctx, p)
		if err != nil {
			return nil, err
		}
		// What the first clears up is not to hold up the second.
		if _, err := first.ready(ctx); err != nil {
			return nil, err
		}
		_, other, err := second.timed(ctx, p)
		if err != nil {
			return nil, err
		}
		if _, err := second.ready(ctx); err != nil {
			return nil, err
		}
		differences = append(differences, sign*(one-other))
	}
	return differences, nil
}
