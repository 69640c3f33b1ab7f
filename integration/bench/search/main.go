// Command search measures how well skills are found: the index of skills-mcp beside a
// match of substrings, plain BM25, and the index with the same weight for all fields.
// The labelled set is in testdata. Its development half is for choosing weights, the
// test half for judging them.
//
//	go run ./integration/bench/search --help
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `Usage: go run ./integration/bench/search [flags]

Prints hit@1, hit@5, MRR and nDCG@10 of each contender, for all queries that have an
answer, and for each kind of them; and how well it says that nothing fits. With
--speed, prints the times and the memory of a catalog of that many skills instead.

Flags:
`

// settings are the command line.
type settings struct {
	set     string
	queries string
	half    half
	misses  bool
	speed   int
	size    int
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	if err := s.run(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "search:", err)
		return 1
	}
	return 0
}

// parse reads the arguments. It has printed its error.
func parse(args []string, stderr io.Writer) (settings, error) {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	var s settings
	flags.StringVar(&s.set, "skills", "", "folders of skills to search, in place of those in testdata, with commas between them")
	flags.StringVar(&s.queries, "queries", "", "file of the queries for --skills, a JSON object on each line")
	flags.StringVar((*string)(&s.half), "half", string(development), "the queries: development, test or all")
	flags.BoolVar(&s.misses, "misses", false, "print the queries whose first five hits of the index are wrong")
	flags.IntVar(&s.size, "size", 0, "ask each query in a catalog of this many skills, which its id chooses")
	flags.IntVar(&s.speed, "speed", 0, "measure times with this many skills")
	err := flags.Parse(args)
	switch {
	case err != nil:
		return s, err
	case flags.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", flags.Arg(0))
	case !slices.Contains([]half{development, test, all}, s.half):
		err = fmt.Errorf("--half is %q; write development, test or all", s.half)
	case (s.set == "") != (s.queries == ""):
		err = errors.New("--skills and --queries belong together")
	case s.speed < 0 || s.size < 0:
		err = errors.New("--speed and --size are not negative")
	}
	if err != nil {
		fmt.Fprintln(stderr, "search:", err)
	}
	return s, err
}

func (s settings) run(ctx context.Context, stdout io.Writer) error {
	set, err := s.load(ctx)
	if err != nil {
		return err
	}
	defer set.close()
	if s.speed > 0 {
		return speed(ctx, stdout, set, s.speed)
	}
	asked := set.of(s.half)
	list := contenders(set.catalog)
	if s.size > 0 {
		list = list[2:] // the others search the whole catalog
	}
	results, err := measure(ctx, set, list, asked, s.size)
	if err != nil {
		return err
	}
	return results.write(stdout, s.misses)
}

// load reads the labelled set, or that of the flags.
func (s settings) load(ctx context.Context) (*labelled, error) {
	if s.set != "" {
		return readSet(ctx, strings.Split(s.set, ","), []string{s.queries})
	}
	return testdata(ctx)
}
