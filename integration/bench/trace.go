package main

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A tracer records events of the kernel and of a server's functions with the
// kernel's own tracing. The suite prints the time of a call with and without it.
type tracer struct {
	dir    string // a mounted tracefs
	group  string // of its probes: letters, digits and underscores
	probes []string
	server string // an instance: the events of the server's threads
	world  string // an instance: the events of all processes
}

// A traceEvent is one event of a thread.
type traceEvent struct {
	at     float64 // seconds of the monotonic clock
	thread int
	text   string // the event's name and fields
}

// mountTracing mounts tracefs at a new folder until unmount is called. It requires
// root.
func mountTracing(ctx context.Context, dir string) (unmount func() error, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "mount", "-t", "tracefs", "tracefs", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mount tracefs, as root: %w: %s", err, out)
	}
	return func() error {
		// Lazily: no file of the kernel's is below dir when that is removed.
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			return fmt.Errorf("umount %s: %w: %s", dir, err, out)
		}
		return nil
	}, nil
}

// attach prepares to record a server: its functions by name, and events. Those in
// world are recorded of all processes, each with a filter, which may be "". The
// caller calls detach, also after an error.
func (t *tracer) attach(p *process, functions map[string]string, events []string, world map[string]string) error {
	for name, function := range functions {
		offset, err := functionOffset(p.cmd.Path, function)
		if err != nil {
			return err
		}
		if err := t.define(fmt.Sprintf("p:%s/%s %s:%#x", t.group, name, p.cmd.Path, offset)); err != nil {
			return err
		}
		t.probes = append(t.probes, name)
	}
	t.server, t.world = filepath.Join(t.dir, "instances", t.group), filepath.Join(t.dir, "instances", t.group+"_world")
	errs := []error{os.Mkdir(t.server, 0o700), os.Mkdir(t.world, 0o700)}
	var threads []string
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.cmd.Process.Pid))
	for _, task := range tasks {
		threads = append(threads, task.Name())
	}
	errs = append(errs, err,
		t.set(t.server, "set_event_pid", strings.Join(threads, " ")),
		t.set(t.server, "options/event-fork", "1"), // for later threads
		t.set(t.server, "events/"+t.group+"/enable", "1"))
	for _, event := range events {
		errs = append(errs, t.set(t.server, "events/"+event+"/enable", "1"))
	}
	for event, filter := range world {
		if filter != "" {
			errs = append(errs, t.set(t.world, "events/"+event+"/filter", filter))
		}
		errs = append(errs, t.set(t.world, "events/"+event+"/enable", "1"))
	}
	for _, instance := range []string{t.server, t.world} {
		errs = append(errs, t.set(instance, "trace_clock", "mono"), t.set(instance, "tracing_on", "0"))
	}
	return errors.Join(errs...)
}

// detach undoes attach.
func (t *tracer) detach() error {
	var errs []error
	for _, instance := range []string{t.server, t.world} {
		if instance != "" {
			errs = append(errs, os.Remove(instance))
		}
	}
	for _, name := range t.probes {
		errs = append(errs, t.define(fmt.Sprintf("-:%s/%s", t.group, name)))
	}
	t.server, t.world, t.probes = "", "", nil
	return errors.Join(errs...)
}

// define adds or removes a probe.
func (t *tracer) define(probe string) error {
	f, err := os.OpenFile(filepath.Join(t.dir, "uprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(probe + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("probe %s: %w", probe, err)
	}
	return nil
}

func (t *tracer) set(instance, name, value string) error {
	return os.WriteFile(filepath.Join(instance, name), []byte(value), 0)
}

// record calls f and returns the events meanwhile, in order.
func (t *tracer) record(f func() error) (all []traceEvent, err error) {
	both := []string{t.server, t.world}
	for _, instance := range both {
		err = errors.Join(err, t.set(instance, "trace", ""), t.set(instance, "tracing_on", "1"))
	}
	if err == nil {
		err = f()
	}
	for _, instance := range both {
		err = errors.Join(err, t.set(instance, "tracing_on", "0"))
	}
	for _, instance := range both {
		text, failed := os.ReadFile(filepath.Join(instance, "trace"))
		err = errors.Join(err, failed)
		all = append(all, parseTrace(string(text))...)
	}
	slices.SortStableFunc(all, func(a, b traceEvent) int { return cmp.Compare(a.at, b.at) })
	return all, err
}

// traceLine is a line of a trace: "COMMAND-THREAD [CPU] FLAGS SECONDS: TEXT".
var traceLine = regexp.MustCompile(`^.*-(\d+) +\[\d+\] \S+ +(\d+\.\d+): (.*)$`)

// parseTrace returns the events of a trace.
func parseTrace(text string) (all []traceEvent) {
	for line := range strings.Lines(text) {
		if m := traceLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			thread, _ := strconv.Atoi(m[1])
			at, _ := strconv.ParseFloat(m[2], 64)
			all = append(all, traceEvent{at, thread, m[3]})
		}
	}
	return all
}

// functionOffset returns the place of a function in a program's file.
func functionOffset(file, function string) (uint64, error) {
	program, err := elf.Open(file)
	if err != nil {
		return 0, err
	}
	defer program.Close()
	symbols, err := program.Symbols()
	if err != nil {
		return 0, fmt.Errorf("functions of %s: %w", file, err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == function })
	if i < 0 {
		return 0, fmt.Errorf("%s has no function %s", file, function)
	}
	for _, p := range program.Progs {
		if at := symbols[i].Value; p.Type == elf.PT_LOAD && at >= p.Vaddr && at < p.Vaddr+p.Filesz {
			return at - p.Vaddr + p.Off, nil
		}
	}
	return 0, fmt.Errorf("%s: function %s is in no segment", file, function)
}
