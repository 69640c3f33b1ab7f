package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A lineup is the contenders of a suite that calls a script.
type lineup struct {
	*bench
	host
	entries []entry
	usual   []string // contenders without --only; nil for all, or with --against the servers
	only    []string // names of contenders, of --only
	address string   // the engine's address; "" looks for one
}

// flags adds the flags that choose contenders.
func (l *lineup) flags(f *flag.FlagSet) {
	f.Func("only", "measure only these `contenders`, separated by commas", func(value string) (err error) {
		l.only, err = l.parseOnly(value)
		return err
	})
	f.StringVar(&l.address, "host", "", "the engine's `address`, such as unix:///var/run/docker.sock (default: where Docker's tools look)")
	f.StringVar(&l.image, "image", cmp.Or(os.Getenv("SKILLS_MCP_TEST_IMAGE"), "skills-mcp-test:base"), "the containers' `image`, with bash and python3")
}

func (l *lineup) parseOnly(value string) ([]string, error) {
	names := strings.Split(value, ",")
	for _, name := range names {
		if !slices.ContainsFunc(l.entries, func(e entry) bool { return e.name == name }) {
			return nil, fmt.Errorf("there is no contender %q; see --help", name)
		}
	}
	return names, nil
}

// list describes the contenders for --help.
func (l *lineup) list() string {
	var b strings.Builder
	for _, e := range l.entries {
		if l.usual == nil || slices.Contains(l.usual, e.name) {
			fmt.Fprintf(&b, "  %-23s %s\n", e.name, e.about)
		}
	}
	return b.String()
}

// with calls f with the contenders, which it closes afterwards.
func (l *lineup) with(ctx context.Context, b *bench, f func([]*contender) error) (err error) {
	l.bench, l.host.id, l.host.dir = b, b.id, b.dir
	l.folder = filepath.Join(b.dir, "skill")
	if l.scripts == nil {
		l.scripts = scripts()
	}
	for _, s := range l.scripts {
		err = errors.Join(err, writeFile(filepath.Join(l.folder, s.file), s.content))
	}
	if err != nil {
		return err
	}
	if l.engine, l.noEngine = findEngine(ctx, l.address); l.engine != nil {
		defer l.engine.client.CloseIdleConnections()
		i := l.engine.info
		l.Machine += fmt.Sprintf("; Docker %s (%s, cgroup version %s, %s), image %s", i.ServerVersion, i.Driver, i.CgroupVersion, i.DefaultRuntime, l.image)
	}
	contenders, err := l.open(ctx)
	defer func() { err = errors.Join(err, l.close(ctx, contenders)) }()
	if err != nil {
		return err
	}
	return f(contenders)
}

// wanted reports whether the flags ask for a contender.
func (l *lineup) wanted(e entry) bool {
	switch {
	case len(l.only) > 0:
		return slices.Contains(l.only, e.name)
	case l.usual != nil:
		return slices.Contains(l.usual, e.name)
	}
	return l.against == "" || e.serves
}

// open sets up the contenders that the flags ask for. Those that do not work here
// are absent, unless a flag names them.
func (l *lineup) open(ctx context.Context) (all []*contender, err error) {
	for _, e := range l.entries {
		if !l.wanted(e) {
			continue
		}
		binaries := []binary{{}}
		if e.serves {
			if binaries, err = l.servers(ctx); err != nil {
				return all, err
			}
		}
		for _, b := range binaries {
			one, err := l.openOne(ctx, e, b)
			if err == nil {
				all = append(all, one)
				continue
			}
			err = fmt.Errorf("%s: %w", e.name+b.suffix, err)
			if len(l.only) > 0 || ctx.Err() != nil {
				return all, err
			}
			l.Absent = append(l.Absent, err.Error())
		}
	}
	return all, nil
}

// openOne sets up a contender and runs a script, as an installed program may not
// work.
func (l *lineup) openOne(ctx context.Context, e entry, b binary) (*contender, error) {
	one, err := e.open(&l.host, ctx, e.name+b.suffix, b)
	if err == nil {
		err = one.call(ctx, l.scripts[0], 1)
	}
	if err != nil && one != nil && one.close != nil {
		err = errors.Join(err, one.close())
	}
	return one, err
}

// close closes contenders, also after an interrupt.
func (l *lineup) close(ctx context.Context, contenders []*contender) (err error) {
	for _, one := range contenders {
		if one.close != nil {
			err = errors.Join(err, one.close())
		}
	}
	if l.engine != nil {
		err = errors.Join(err, l.engine.remove(context.WithoutCancel(ctx), l.ownLabel()))
	}
	return err
}

// ready waits until a contender's containers wait for the next call.
func (l *lineup) ready(ctx context.Context, one *contender) error {
	if one.labels == nil {
		return ctx.Err()
	}
	return l.engine.settle(ctx, one.labels...)
}

// relate compares the calls of a contender with those of others in the same
// rounds.
func (l *lineup) relate(name string, one *contender) {
	r := l.result(name, one.name)
	own, bare, alone := r.figure("p50 ms").rounds, l.find(name, "bare"), l.find(name, one.alone)
	if bare != nil && bare != r {
		r.relate("× bare", own, bare.figure("p50 ms").rounds, quotient)
	}
	if alone == nil {
		return
	}
	r.relate("over driver ms", own, alone.figure("p50 ms").rounds, difference)
	if bare != nil {
		r.relate("that × bare", r.figure("over driver ms").rounds, bare.figure("p50 ms").rounds, quotient)
	}
}

// record makes the calls of a contender's turn and adds their figures to r.
func (r *result) record(ctx context.Context, one *contender, calls load) error {
	calls.server = one.server
	s, err := calls.run(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", one.name, err)
	}
	r.times = append(r.times, s.times...)
	r.set("calls", float64(len(r.times)))
	r.add("p50 ms", milliseconds(percentile(s.times, 50)))
	r.set("p95 ms", milliseconds(percentile(r.times, 95)))
	if calls.workers > 1 {
		r.add("calls/s", s.rate)
	}
	if one.server != nil {
		r.add("CPU ms", milliseconds(s.cpu))
	}
	return nil
}

// once returns one call of a script after a rest.
func (one *contender) once(s script, rest time.Duration) load {
	return load{workers: 1, calls: 1, time: time.Hour, before: resting(rest),
		call: func(ctx context.Context, _, _ int) error { return one.call(ctx, s, 1) }}
}
