// Command protocol measures what this program's transports cost, beside those of
// mcp-go with the same tools: how many requests a second, on standard input and
// output and over HTTP, for both generations of the protocol. Then it lets many
// clients ask at once over HTTP, and looks for what is wrong, and what is left.
//
//	go run ./integration/bench/protocol --help
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/bench/catalog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute is the program; it returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var err error
	if len(args) > 0 && args[0] == serveCommand {
		err = serve(ctx, args[1:], stdin, stdout)
	} else {
		var o *options
		if o, err = parse(args, stderr); errors.Is(err, flag.ErrHelp) {
			return 0
		} else if err != nil {
			return 2
		}
		var r *report
		r, err = bench(ctx, o, stderr)
		err = errors.Join(err, r.write(stdout))
	}
	if err != nil {
		fmt.Fprintln(stderr, "protocol:", err)
		return 1
	}
	return 0
}

// options are the flags.
type options struct {
	skills            int
	duration          time.Duration // of measuring a row, both servers together
	rounds            int           // turns of each server in it
	clients, requests int           // of the load
}

const usage = `Usage: go run ./integration/bench/protocol [flags]

Starts two servers with the same tools, those of a catalog of --skills skills, as
many of them pinned as are shown, and one that does nothing: ours, and a bare one
on mcp-go's own transports. Each is a
process of its own. They take turns, so that what else the machine does meets both
alike. It prints a table:

  p50        of one request at a time, in ms
  per second 8 requests at a time: on one pipe, or on 8 connections
  ×          ours by bare, of these: the median, the least and the most of all turns
  CPU µs     processor time of the server for each of these, and bare by ours: what
             the client does at the same time is not in it

Then --clients HTTP clients, half of each generation, make --requests requests of
ours: lists, instructions of skills, files of skills. Each checks that what it gets
is its own. An error there is an error of this program.

Flags:
`

// parse reads the flags. Its error has been told to the user.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	var quick bool
	flags := flag.NewFlagSet("protocol", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.skills, "skills", 1000, "how many skills there are")
	flags.DurationVar(&o.duration, "duration", 8*time.Second, "how long to measure for each row of the table")
	flags.IntVar(&o.rounds, "rounds", 5, "how many turns each server has in a row")
	flags.IntVar(&o.clients, "clients", 200, "how many clients make the load")
	flags.IntVar(&o.requests, "requests", 5000, "how many requests they make together")
	flags.BoolVar(&quick, "quick", false, "100 skills and 10 clients, for half a second a row: to see that it works, not for figures")
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if quick {
		*o = options{skills: 100, duration: time.Second / 2, rounds: 1, clients: 10, requests: 100}
	}
	if flags.NArg() > 0 || o.skills < 1 || o.rounds < 1 || o.duration <= 0 || o.clients < 2 || o.requests < o.clients {
		err := fmt.Errorf("no arguments are taken, and there are two clients and a request of each at least: %q", args)
		fmt.Fprintln(stderr, "protocol:", err)
		return nil, err
	}
	return o, nil
}

// bench measures. The report is what there is of it, also with an error.
func bench(ctx context.Context, o *options, log io.Writer) (r *report, err error) {
	r = newReport(o)
	home, err := os.MkdirTemp("", "skills-mcp-protocol-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	if err := catalog.Make(home, o.skills); err != nil {
		return r, err
	}
	folder := filepath.Join(home, "skills")
	for _, kind := range []string{"stdio", "http"} {
		fmt.Fprintf(log, "protocol: %s\n", kind)
		rows, err := compare(ctx, o, kind, folder)
		r.rows = append(r.rows, rows...)
		if err != nil {
			return r, err
		}
	}
	fmt.Fprintln(log, "protocol: many clients")
	r.load, err = load(ctx, o, folder)
	return r, err
}
