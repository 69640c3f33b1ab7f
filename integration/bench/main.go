// Command bench runs one trivial script in every way there is, side by side:
// on the host, in the sandboxes of this program, through its MCP server, and
// with the tools that people would use otherwise. It prints how long a call
// takes and what a waiting sandbox holds, on the machine that it runs on.
//
//	go run ./integration/bench --help
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Signals stay caught to the end: what was started is cleaned up after the
	// first, and that takes a bounded time.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	r, err := bench(ctx, o, stderr)
	if r != nil {
		err = errors.Join(err, r.write(stdout, o))
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "bench: interrupted; what is above is what was measured until then")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// bench sets up what is to be measured, measures it and cleans up. The report
// is what there is of it, also with an error.
func bench(ctx context.Context, o *options, log io.Writer) (r *report, err error) {
	s, err := newSetup(ctx, o, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r = &report{Machine: s.machine(ctx), Settings: o.settings()}
	contenders, absent, err := s.open(ctx)
	defer func() { err = errors.Join(err, closeAll(contenders)) }()
	r.Absent = absent
	if err != nil {
		return nil, err
	}
	for _, p := range parts() {
		fmt.Fprintf(log, "bench: %s\n", p)
		results, err := measure(ctx, o, p, contenders)
		r.Results = append(r.Results, results...)
		if err != nil {
			return r, err
		}
	}
	fmt.Fprintln(log, "bench: the server's own share")
	if r.Shares, err = shares(ctx, o, contenders); err != nil {
		return r, err
	}
	r.Memory = memory(ctx, contenders)
	return r, nil
}
