// Command scale measures how a server does with many skills: how long a client
// waits from the start to the answer to tools/list, what the server holds, and
// how soon after a file was written it says so. It starts the real program and
// speaks to it over standard input and output.
//
//	go run ./integration/bench/scale --help
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func main() {
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
	rows, err := bench(ctx, o, stderr)
	if err = errors.Join(err, write(stdout, rows)); err != nil {
		fmt.Fprintln(stderr, "scale:", err)
		return 1
	}
	return 0
}

// options are the flags.
type options struct {
	sizes  []int // numbers of skills
	starts int   // second starts of each size
	edits  int   // changes of each size
	binary string
}

const usage = `Usage: go run ./integration/bench/scale [flags]

Makes folders of skills, each with parameters and a script, and prints for each
number of skills:

  first     ms from the start to the answer to tools/list, with an empty cache
  second    the same with what the first start left: median of --starts
  RSS, peak MB that the process holds after the answer, and held at the most
  answer    KB of the answer to tools/list
  notice    ms from a file's write to the change notice: median and slowest of
            --edits; 100 of them are the time that a burst takes to settle
  read      ms from a file's write to the line of the log that it was read
  notices   how many notices there were for each change
  CPU       ms of processor time that a change cost, in all threads: median

A change is one of the prompts and of the resources, and of the tools where the
skill has one of its own: each kind has a notice.

Flags:
`

// parse reads the flags. Its error has been told to the user.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{sizes: []int{3, 100, 1000, 10_000}, starts: 5, edits: 5}
	var quick bool
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("sizes", "measure these `numbers` of skills, separated by commas", func(value string) error {
		o.sizes = nil
		for _, text := range strings.Split(value, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > 100_000 {
				return fmt.Errorf("%q is not a number from 1 to 100000", text)
			}
			o.sizes = append(o.sizes, n)
		}
		return nil
	})
	flags.IntVar(&o.starts, "starts", o.starts, "how often the second start is measured")
	flags.IntVar(&o.edits, "edits", o.edits, "how many changes are measured")
	flags.BoolVar(&quick, "quick", false, "3 and 100 skills, one start and one change: to see that it works, not for figures")
	flags.StringVar(&o.binary, "binary", "", "the `file` of skills-mcp (default: built from ./cmd/skills-mcp)")
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if quick {
		o.sizes, o.starts, o.edits = []int{3, 100}, 1, 1
	}
	if flags.NArg() > 0 || o.starts < 1 || o.edits < 1 {
		err := fmt.Errorf("no arguments are taken, and at least one start and one change are measured: %q", args)
		fmt.Fprintln(stderr, "scale:", err)
		return nil, err
	}
	return o, nil
}

// bench measures each size. The rows are those measured, also with an error.
func bench(ctx context.Context, o *options, log io.Writer) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "skills-mcp-scale-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.binary == "" {
		o.binary = filepath.Join(dir, "skills-mcp")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.binary, "./cmd/skills-mcp")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the server: %w: %s", err, out)
		}
	}
	for _, size := range o.sizes {
		fmt.Fprintf(log, "scale: %d skills\n", size)
		r, err := measure(ctx, o, filepath.Join(dir, strconv.Itoa(size)), size)
		if err != nil {
			return rows, fmt.Errorf("%d skills: %w", size, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
