package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// steps is a run of the suite steps.
type steps struct {
	lineup
	calls uint
}

func stepSuite() suite {
	s := &steps{lineup: lineup{entries: entries(), usual: []string{"serve-native", "serve-docker"}}}
	return suite{
		name: "steps", quick: []string{"calls=1"},
		about: fmt.Sprintf(`steps shows where the time of a call goes, and how many system calls the server makes
from the end of the read of a request to the beginning of the write of the command
to the sandbox. Each call runs the script in bash after a rest of %v.

The times come from the kernel's tracing, as root: probes of four functions of the
server, its writes, and the script's start, output and end. "a call" is the client's
time with them, and "not traced" that of the same round without. The last row of the
phases is the rest of the client's time: waking up, writing and reading.

The system calls come from strace, which makes a call take several times as long.
Those of Go's scheduler grow with that time, so they are counted apart.

Contenders:
%s`, folderRest, s.list()),
		flags: func(f *flag.FlagSet) {
			s.flags(f)
			f.UintVar(&s.calls, "calls", 20, "how many calls of each kind are measured")
		},
		measure: func(ctx context.Context, b *bench) error {
			s.blocking = true
			return s.with(ctx, b, func(contenders []*contender) error {
				return errors.Join(s.times(ctx, contenders), s.systemCalls(ctx, contenders))
			})
		},
	}
}

// call returns the time of a call after a rest.
func (s *steps) call(ctx context.Context, one *contender) (time.Duration, error) {
	sample, err := one.once(s.scripts[0], folderRest).run(ctx)
	return percentile(sample.times, 50), err
}

// systemCalls counts the system calls of each contender.
func (s *steps) systemCalls(ctx context.Context, contenders []*contender) error {
	const name = "system calls of the server from the request to the command"
	for _, one := range contenders {
		output, err := one.server.traced(ctx, filepath.Join(s.bench.dir, "strace", one.name), func() error {
			all := one.once(s.scripts[0], folderRest)
			all.calls = int(s.calls)
			_, err := all.run(ctx)
			return err
		})
		if err != nil {
			s.Absent = append(s.Absent, fmt.Sprintf("system calls of %s: %v", one.name, err))
			continue
		}
		calls, err := systemCalls(output)
		if err = errors.Join(err, output.Close()); err != nil {
			return err
		}
		if len(calls) != int(s.calls) {
			s.Absent = append(s.Absent, fmt.Sprintf("system calls of %s: strace shows the commands of %d of %d calls", one.name, len(calls), s.calls))
		}
		s.result(name, one.name).addSystemCalls(calls)
	}
	return ctx.Err()
}

// times measures the phases of each contender's calls.
func (s *steps) times(ctx context.Context, contenders []*contender) (err error) {
	dir := filepath.Join(s.bench.dir, "tracing")
	unmount, err := mountTracing(ctx, dir)
	if err != nil {
		s.Absent = append(s.Absent, fmt.Sprintf("phases: %v", err))
		return ctx.Err()
	}
	defer func() { err = errors.Join(err, unmount()) }()
	var all []*contender
	tracers := map[*contender]*tracer{}
	for i, one := range contenders {
		t := &tracer{dir: dir, group: fmt.Sprintf("bench_%s_%d", s.bench.id, i)}
		defer func() { err = errors.Join(err, t.detach()) }()
		if err := t.attach(one.server, serverFunctions(), serverEvents(), scriptEvents()); err != nil {
			s.Absent = append(s.Absent, fmt.Sprintf("phases of %s: %v", one.name, err))
			continue
		}
		all, tracers[one] = append(all, one), t
	}
	return takeTurns(all, rounds(s.calls), func(one *contender) error { return s.timeCall(ctx, one, tracers[one]) })
}

// serverFunctions returns functions that begin a phase of a call, by the name of
// their probe.
func serverFunctions() map[string]string {
	return map[string]string{
		"request":  "github.com/skillsmcp/skills-mcp/server/transport.(*stream).receive",
		"resolved": "github.com/skillsmcp/skills-mcp/server/run.(*Executor).Run",
		"snapshot": "github.com/skillsmcp/skills-mcp/server/policy.(*Policy).Decide",
		"decided":  "github.com/skillsmcp/skills-mcp/sandbox.(*Runner).Run",
	}
}

// serverEvents returns the events of the server that mark phases.
func serverEvents() []string {
	return []string{"syscalls/sys_enter_write", "syscalls/sys_exit_write", "syscalls/sys_exit_sendmsg"}
}

// scriptEvents returns the events of a script, among those of all processes, each
// with its filter.
func scriptEvents() map[string]string {
	return map[string]string{
		"sched/sched_process_exec": "", "sched/sched_process_exit": "",
		"syscalls/sys_enter_write": fmt.Sprintf("count == %d", len(printed)+1),
	}
}

// timeCall measures a call with and without tracing.
func (s *steps) timeCall(ctx context.Context, one *contender, t *tracer) error {
	plain, err := s.call(ctx, one)
	if err != nil {
		return err
	}
	spent, phases, err := s.traceCall(ctx, one, t)
	if err != nil { // once more: others on the machine may have run a script like ours
		spent, phases, err = s.traceCall(ctx, one, t)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", one.name, err)
	}
	r, rest := s.result("where the time of a call goes, µs", one.name), microseconds(spent)
	for _, p := range phases {
		r.add(p.name, p.micros)
		rest -= p.micros
	}
	r.add("client, and its pipes to the server", rest)
	r.add("a call", microseconds(spent))
	r.add("a call, not traced", microseconds(plain))
	return nil
}

// traceCall returns the time of a call and its phases.
func (s *steps) traceCall(ctx context.Context, one *contender, t *tracer) (spent time.Duration, phases []phase, err error) {
	events, err := t.record(func() (err error) {
		spent, err = s.call(ctx, one)
		return err
	})
	if err == nil {
		phases, err = phasesOf(events)
	}
	return spent, phases, err
}

// A phase is a part of a call's time.
type phase struct {
	name   string
	micros float64
}

// phasesOf returns the phases of the call whose events were recorded.
func phasesOf(events []traceEvent) (all []phase, err error) {
	decided := slices.IndexFunc(events, isText("decided:"))
	script := scriptOf(events[max(decided, 0):])
	markers := []struct {
		name  string // of the phase that it ends
		event func(traceEvent) bool
		last  bool // of those before the script's start
	}{
		{"", isText("request:"), false},
		{"request: parsed and resolved", isText("resolved:"), false},
		{"snapshot", isText("snapshot:"), false},
		{"decision and command", isText("decided:"), false},
		{"sandbox: until the command is sent", isSend, true},
		{"sandbox: until the script's program starts", func(e traceEvent) bool { return e.thread == script && isText("sched_process_exec:")(e) }, false},
		{"script: until its output", func(e traceEvent) bool { return e.thread == script && isText("sys_write(")(e) }, false},
		{"script: until its end", func(e traceEvent) bool { return e.thread == script && isText("sched_process_exit:")(e) }, false},
		{"result: until the answer is written", func(e traceEvent) bool { return e.thread != script && isText("sys_write(fd: 1,")(e) }, false},
	}
	next, before := 0, 0.0
	for i, m := range markers {
		found := -1
		for j := next; j < len(events); j++ {
			if m.last && events[j].thread == script {
				break
			}
			if m.event(events[j]) {
				found = j
				if !m.last {
					break
				}
			}
		}
		if found < 0 {
			return nil, fmt.Errorf("the trace has no end of the phase %q, in %d events", m.name, len(events))
		}
		if i > 0 {
			all = append(all, phase{m.name, (events[found].at - before) * 1e6})
		}
		next, before = found+1, events[found].at
	}
	return all, nil
}

// scriptOf returns the thread of the script: it started a program and then wrote
// its output.
func scriptOf(events []traceEvent) int {
	started := map[int]bool{}
	for _, e := range events {
		switch {
		case isText("sched_process_exec:")(e):
			started[e.thread] = true
		case started[e.thread] && isText("sys_write(")(e):
			return e.thread
		}
	}
	return 0
}

// isText returns a condition for events whose text begins with prefix.
func isText(prefix string) func(traceEvent) bool {
	return func(e traceEvent) bool { return strings.HasPrefix(e.text, prefix) }
}

// isSend reports whether an event is the end of a write that may hold a command: one
// of a hundred bytes at least, as Go's own wake-ups are shorter.
func isSend(e traceEvent) bool {
	_, written, ok := strings.Cut(e.text, " -> 0x")
	n, err := strconv.ParseInt(written, 16, 64)
	return ok && err == nil && n >= 100
}
