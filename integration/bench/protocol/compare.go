package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
	"github.com/skillsmcp/skills-mcp/integration/bench/figures"
)

// atOnce is how many requests are in flight for the figures of a second.
const atOnce = 8

// A row is one request, on one transport, of one generation, to both servers.
type row struct {
	request, kind, generation string
	ours, bare                tally
	ratios                    []float64 // of each round's requests a second
}

// A tally is what was measured of one server.
type tally struct {
	times []time.Duration // of single requests
	count int             // of requests, several at a time
	spent time.Duration   // in those
	cpu   time.Duration   // of the server, in those
	bytes int             // of the last reply
}

func (t tally) perSecond() float64 { return float64(t.count) / t.spent.Seconds() }
func (t tally) cpuEach() float64   { return float64(t.cpu.Nanoseconds()) / 1000 / float64(t.count) }
func (t tally) p50() float64       { return figures.Milliseconds(figures.Percentile(t.times, 50)) }

// A side is a server with its connections of one generation.
type side struct {
	*process
	conns []conn
}

// servers are both.
type servers struct{ ours, bare *process }

func compare(ctx context.Context, o *options, kind, folder string) (rows []row, err error) {
	var s servers
	if s.ours, err = start(ctx, "ours", kind, folder); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.ours.close()) }()
	if s.bare, err = start(ctx, "bare", kind, folder); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.bare.close()) }()
	for _, modern := range []bool{false, true} {
		some, err := s.generation(ctx, o, kind, modern)
		rows = append(rows, some...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (s servers) generation(ctx context.Context, o *options, kind string, modern bool) (rows []row, err error) {
	ours, err := s.ours.connect(atOnce, modern)
	if err != nil {
		return nil, err
	}
	defer closeAll(ours)
	bare, err := s.bare.connect(atOnce, modern)
	if err != nil {
		return nil, err
	}
	defer closeAll(bare)
	for _, q := range []question{
		{method: "tools/list"},
		{"tools/call", nothing, `"arguments":{"tag":"x"}`},
		{"tools/call", "load_skill", fmt.Sprintf(`"arguments":{"name":%q}`, catalog.Name(0))},
	} {
		r := row{request: q.method, kind: kind, generation: "legacy"}
		if modern {
			r.generation = "modern"
		}
		if q.name != "" {
			r.request += " " + q.name
		}
		if err := r.measure(ctx, o, q, [2]side{{s.ours, ours}, {s.bare, bare}}); err != nil {
			return rows, fmt.Errorf("%s, %s, %s: %w", kind, r.generation, r.request, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// measure lets the servers take turns. Each is first in every second round.
func (r *row) measure(ctx context.Context, o *options, q question, sides [2]side) error {
	turn := o.duration / time.Duration(2*o.rounds)
	for round := range o.rounds {
		var got [2]tally
		for i := range 2 {
			which := (round + i) % 2
			var err error
			if got[which], err = sides[which].measure(ctx, q, turn); err != nil {
				return err
			}
		}
		r.ours.add(got[0])
		r.bare.add(got[1])
		r.ratios = append(r.ratios, got[0].perSecond()/got[1].perSecond())
	}
	return nil
}

func (t *tally) add(other tally) {
	t.times = append(t.times, other.times...)
	t.count += other.count
	t.spent += other.spent
	t.cpu += other.cpu
	t.bytes = other.bytes
}

// measure makes requests for so long: one at a time for a third of it, of which
// the first few are not counted.
func (s side) measure(ctx context.Context, q question, turn time.Duration) (t tally, err error) {
	const warm = 5
	for i, end := 0, time.Now().Add(turn/3); i <= warm || time.Now().Before(end); i++ {
		began := time.Now()
		reply, err := ask(s.conns[0], i, q)
		if err != nil {
			return t, err
		}
		if i >= warm {
			t.times = append(t.times, time.Since(began))
		}
		t.bytes = len(reply)
	}
	counts, errs := make([]int, len(s.conns)), make([]error, len(s.conns))
	cpu, began := figures.CPU(s.cmd.Process.Pid), time.Now()
	end := began.Add(turn - turn/3)
	var all sync.WaitGroup
	for i, c := range s.conns {
		all.Go(func() { counts[i], errs[i] = keepAsking(ctx, c, q, max(atOnce/len(s.conns), 1), end) })
	}
	all.Wait()
	t.spent = time.Since(began)
	t.cpu = figures.CPU(s.cmd.Process.Pid) - cpu
	for _, n := range counts {
		t.count += n
	}
	return t, errors.Join(errs...)
}

// keepAsking keeps so many requests in flight until end, and counts the replies.
func keepAsking(ctx context.Context, c conn, q question, window int, end time.Time) (count int, err error) {
	flying := map[int]bool{}
	for sent := 0; ; count++ {
		for len(flying) < window && ctx.Err() == nil && time.Now().Before(end) {
			sent++
			flying[sent] = true
			if err := c.send(sent, q); err != nil {
				return count, err
			}
		}
		if len(flying) == 0 {
			return count, ctx.Err()
		}
		reply, err := c.receive()
		if err != nil {
			return count, err
		}
		id, err := check(reply)
		if err == nil && !flying[id] {
			err = fmt.Errorf("a reply to %d, which was not asked", id)
		}
		if err != nil {
			return count, err
		}
		delete(flying, id)
	}
}
