// Command house prints figures about the structure of the code: the size of each
// package, its exported names, its largest method set, its back arrows and its largest
// circle of files. Then it names the packages that are heavier than weights.tsv allows.
//
//	go run ./integration/house [-v] [FOLDER]
//
// FOLDER is the root of a checkout, by default the current folder. Two checkouts show
// the effect of a change. Start with [Load].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs the command and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("house", flag.ContinueOnError)
	flags.SetOutput(stderr)
	verbose := flags.Bool("v", false, "list the back arrows and the largest circle of each package")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	dir := "."
	if flags.NArg() > 0 {
		dir = flags.Arg(0)
	}
	packages, err := Load(ctx, dir)
	if err == nil {
		err = report(stdout, packages, *verbose)
	}
	if err == nil {
		err = reportWeights(stdout, packages)
	}
	if err != nil {
		fmt.Fprintln(stderr, "house:", err)
		return 1
	}
	return 0
}

// report writes a row for each package, then one for each top-level folder and one
// for all of them. With verbose, it lists the back arrows and the circles.
func report(w io.Writer, packages []*Package, verbose bool) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "package\tfiles\tlines\texported\tlargest method set\tback arrows\tlargest circle\tlongest function\tlongest file\tcomment lines with \"what\"\t")
	for _, p := range packages {
		writeRow(table, p)
	}
	for _, top := range []string{"skills", "sandbox", "server", "cmd", "integration", ""} {
		writeRow(table, sum(packages, top))
	}
	if err := table.Flush(); err != nil || !verbose {
		return err
	}
	for _, p := range packages {
		for _, arrow := range p.Back {
			if _, err := fmt.Fprintf(w, "%s: %s uses %s of %s\n", p.Path, arrow.From, arrow.Name, arrow.To); err != nil {
				return err
			}
		}
		if len(p.Circle) > 2 {
			if _, err := fmt.Fprintf(w, "%s: a circle of %s\n", p.Path, strings.Join(p.Circle, ", ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// sum returns the figures of a top-level folder; of the module for "".
func sum(packages []*Package, top string) *Package {
	total := &Package{Path: "all"}
	if top != "" {
		total.Path = top + "/..."
	}
	for _, p := range packages {
		if top == "" || p.Path == top || strings.HasPrefix(p.Path, top+"/") {
			total.add(p)
		}
	}
	return total
}

// writeRow writes the figures of a package, or of several.
func writeRow(w io.Writer, p *Package) {
	share := 0.0
	if p.Comments > 0 {
		share = 100 * float64(p.What) / float64(p.Comments)
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%d of %d\t%d\t%s\t%s\t%.1f %%\t\n",
		p.Path, p.Files, p.Lines, p.Exported, p.Methods, len(p.Back), p.Arrows, len(p.Circle), p.Function, p.File, share)
}
