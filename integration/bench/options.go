package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// atOnce is the concurrency of the sustained measurements.
const atOnce = 8

// options are the flags.
type options struct {
	only     []string // names of contenders; empty is all
	quick    bool
	duration time.Duration // of measuring, for each script and concurrency
	json     bool
	markdown bool
	host     string // the engine's address; "" looks for one
	image    string
	binary   string // the server; "" builds it
}

const usage = `Usage: go run ./integration/bench [flags]

Runs a script that prints one line, in bash and in Python, in every way there
is, and prints for each the median (p50) and 95th percentile (p95) of the time
of a call, and calls per second. From one run, side by side: the contenders take
turns, so that what else the machine does meets all of them alike.

One call at a time: each contender may get ready again before its next call. For
containers that is when the engine shows all of the driver's containers running
and the same ones for %[1]v. Then the machine rests for %[2]v, before each call
of every contender: a model's calls come one by one, and what runs in a loop is
faster than that on any machine. These waits are not in the figures. Calls per
second are calls divided by their own time.

%[3]d at a time, without any wait: what is sustained once everything prepared is
used up. The first quarter of each turn is not counted. "settled" is how long the
engine then needed to clear up and to get ready again.

The server's own share is what "serve" takes longer than its driver alone: the
median of the differences between two calls made one after the other.

Contenders:
%[4]s
Those that the machine does not have are listed as not measured; one named in
--only has to be there. Containers need a Docker engine that sees this machine's
folders, with the image (integration/engine brings up both).

Flags:
`

// parse reads the flags. Its error has been told to the user.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("only", "measure only these `contenders`, separated by commas", func(value string) error {
		o.only = strings.Split(value, ",")
		for _, name := range o.only {
			if !slices.ContainsFunc(entries(), func(e entry) bool { return e.name == name }) {
				return fmt.Errorf("there is no contender %q; see --help", name)
			}
		}
		return nil
	})
	flags.BoolVar(&o.quick, "quick", false, "measure for 2 seconds instead of a minute: to see that it works, not for figures")
	flags.DurationVar(&o.duration, "duration", 0, "how long to measure for each of the two scripts and two concurrencies (default 1m)")
	flags.BoolVar(&o.json, "json", false, "print JSON, with times in milliseconds")
	flags.BoolVar(&o.markdown, "markdown", false, "print one table, for a page such as the README")
	flags.StringVar(&o.host, "host", "", "the engine's `address`, such as unix:///var/run/docker.sock (default: where Docker's tools look)")
	flags.StringVar(&o.image, "image", cmp.Or(os.Getenv("SKILLS_MCP_TEST_IMAGE"), "skills-mcp-test:base"), "the containers' `image`, with bash and python3")
	flags.StringVar(&o.binary, "binary", "", "the `file` of skills-mcp (default: built from ./cmd/skills-mcp)")
	flags.Usage = func() {
		fmt.Fprintf(stderr, usage, steadyFor, rest, atOnce, catalogue())
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 || o.duration < 0 {
		err := fmt.Errorf("no arguments and no negative duration are taken: %q", args)
		fmt.Fprintln(stderr, "bench:", err)
		return nil, err
	}
	if o.duration == 0 {
		o.duration = time.Minute
		if o.quick {
			o.duration = 2 * time.Second
		}
	}
	return o, nil
}

// catalogue lists the contenders for --help.
func catalogue() string {
	var b strings.Builder
	for _, e := range entries() {
		fmt.Fprintf(&b, "  %-18s %s\n", e.name, e.about)
	}
	return b.String()
}

// settings are what a report says of the flags.
func (o *options) settings() settings {
	return settings{Duration: o.duration.String(), Quick: o.quick, Image: o.image, Rest: rest.String(), SteadyFor: steadyFor.String()}
}
