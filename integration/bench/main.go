// Command bench measures skills-mcp from outside, in three suites. The suite
// call runs one trivial script in every way there is, protocol sends requests
// over each transport, and scale starts and changes servers with many skills.
// Contenders take turns, so that the rest of the machine's load affects all
// alike. With --against, an older skills-mcp is one of them, and the report ends
// with the ratios of new to old.
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
	// Signals stay caught to the end: the cleanup after the first takes a bounded
	// time.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == mcpgoCommand {
		return exitCode(ctx, stderr, serveMCPGo(args[1:], stdin, stdout))
	}
	chosen, o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	r, err := bench(ctx, chosen, o, stderr)
	if r != nil {
		err = errors.Join(err, r.write(stdout, o.json, o.markdown))
	}
	return exitCode(ctx, stderr, err)
}

// exitCode returns the exit code for err, which it prints.
func exitCode(ctx context.Context, stderr io.Writer, err error) int {
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "bench: interrupted; the report holds all figures until then")
		return 130
	case err != nil:
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// suites returns all suites, the default first.
func suites() []suite {
	return []suite{callSuite(), protocolSuite(), scaleSuite()}
}

const usage = `Usage: go run ./integration/bench [SUITE] [flags]

Measures skills-mcp on this machine. SUITE is call (the default), protocol or
scale; SUITE --help describes its figures. Contenders take turns.

--against FILE measures an older skills-mcp beside the new one and prints the
ratio new/old of each figure: the median over all rounds with its 99%% confidence
interval (in fewer than 8 rounds: the least and the most). "worse" marks an
interval that lies on the bad side of 1 as a whole; of a hundred figures one may
do so by chance.

%s
Flags:
`

// parse reads the flags. It has printed its error.
func parse(args []string, stderr io.Writer) (chosen suite, o *options, err error) {
	chosen, o = suites()[0], &options{}
	for _, s := range suites() {
		if len(args) > 0 && s.name == args[0] {
			chosen, args = s, args[1:]
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.quick, "quick", false, "measure next to nothing: to see that it works, not for figures")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.BoolVar(&o.markdown, "markdown", false, "print tables of Markdown")
	flags.StringVar(&o.binary, "binary", "", "the `file` of skills-mcp (default: built from ./cmd/skills-mcp)")
	flags.StringVar(&o.against, "against", "", "the `file` of an older skills-mcp to compare with")
	if chosen.duration > 0 {
		flags.DurationVar(&o.duration, "duration", chosen.duration, "how long to measure each case, all contenders together")
	}
	chosen.flags(flags)
	flags.Usage = func() {
		fmt.Fprintf(stderr, usage, chosen.about)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return chosen, nil, err
	}
	if o.quick {
		chosen.quick(o)
	}
	err = chosen.check()
	if flags.NArg() > 0 || o.duration < 0 {
		err = fmt.Errorf("no arguments but a suite first, and no negative duration: %q", args)
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return chosen, nil, err
	}
	return chosen, o, nil
}

// bench measures a suite. The report holds all figures so far, also with an
// error.
func bench(ctx context.Context, chosen suite, o *options, log io.Writer) (r *report, err error) {
	s, err := newSetup(ctx, o, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	r = &report{Suite: chosen.name, Quick: o.quick, Machine: thisMachine()}
	err = chosen.measure(ctx, s, r)
	r.compare()
	return r, err
}
