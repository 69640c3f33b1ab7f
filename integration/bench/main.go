// Command bench measures skills-mcp from outside, in suites. The suite call runs
// one trivial script in every way there is, rest does so after rests as a model's,
// folders calls skills of many and of large files, steps shows where the time of a
// call goes, consent the part of policy and record in it, protocol sends requests over
// each transport, scale starts and changes servers with many skills, install installs a
// skill from Git, page asks for screens of the page, plugins measures idle plugins,
// subagents spawns sessions of agents, team a server for many people, and kubernetes
// calls on a cluster. Contenders take turns, so that the rest of the machine's load
// affects all alike. With --against, an older skills-mcp is one of them, and the report
// ends with the ratios of new to old.
//
//	go run ./integration/bench --help
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	// Signals stay caught to the end: the cleanup after the first takes a bounded
	// time.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	b, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	err = b.run(ctx)
	err = errors.Join(err, b.report.write(stdout, b.markdown))
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
	return []suite{callSuite(), restSuite(), folderSuite(), stepSuite(), consentSuite(), hookSuite(), protocolSuite(), scaleSuite(), installSuite(), pageSuite(), pluginSuite(), subagentSuite(), teamSuite(), kubernetesSuite()}
}

// usage begins the help.
const usage = `Usage: go run ./integration/bench [SUITE] [flags]

Measures skills-mcp on this machine. SUITE is call (the default), rest, folders,
steps, consent, protocol, scale, install, page, plugins, subagents, team
or kubernetes; SUITE --help describes its figures. Contenders take turns.

A figure is the median of all rounds. One with an interval in parentheses compares
contenders in each round. --against FILE measures an older skills-mcp
beside the new one and prints the ratio new/old of each figure: the median over
all rounds with its 99%% confidence interval (in fewer than 8 rounds: the least
and the most). "worse" marks an interval that lies on the bad side of 1 as a
whole; of a hundred figures one may do so by chance.

%s
Flags:
`

// parse reads the arguments. It has printed its error.
func parse(args []string, stderr io.Writer) (*bench, error) {
	b := &bench{suite: suites()[0], log: stderr, id: strings.ToLower(rand.Text()[:10])}
	for _, s := range suites() {
		if len(args) > 0 && s.name == args[0] {
			b.suite, args = s, args[1:]
		}
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&b.markdown, "markdown", false, "print tables of Markdown")
	flags.StringVar(&b.binary, "binary", "", "the `file` of skills-mcp (default: built from ./cmd/skills-mcp)")
	flags.StringVar(&b.against, "against", "", "the `file` of an older skills-mcp to compare with")
	if b.suite.duration > 0 {
		flags.DurationVar(&b.duration, "duration", b.suite.duration, "how long to measure each case, all contenders together")
	}
	b.suite.flags(flags)
	flags.BoolFunc("quick", "measure next to nothing: to see that it works, not for figures; flags after it still count", func(string) error {
		b.Quick = true
		return b.setQuick(flags)
	})
	flags.Usage = func() {
		fmt.Fprintf(stderr, usage, b.suite.about)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 || b.duration < 0 {
		err := fmt.Errorf("no arguments but a suite first, and no negative duration: %q", args)
		fmt.Fprintln(stderr, "bench:", err)
		return nil, err
	}
	return b, nil
}

// setQuick sets the flags that --quick stands for.
func (b *bench) setQuick(flags *flag.FlagSet) error {
	var errs []error
	for _, setting := range b.suite.quick {
		name, value, _ := strings.Cut(setting, "=")
		errs = append(errs, flags.Set(name, value))
	}
	return errors.Join(errs...)
}
