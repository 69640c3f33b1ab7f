package main

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// weights has a row for each package of more than lightLines lines: its path, the lines
// that it may have, and the reason.
//
//go:embed weights.tsv
var weights string

// lightLines are the lines of a package that needs no row.
const lightLines = 1000

// reportWeights writes a line for each product package that is heavier than its row
// allows. It is told, and fails nothing: a row is a promise to look, not a bound.
func reportWeights(w io.Writer, packages []*Package) error {
	allowed := map[string]int{}
	for row := range strings.Lines(weights) {
		fields := strings.SplitN(strings.TrimSpace(row), "\t", 3)
		lines, err := strconv.Atoi(fields[1])
		if err != nil || len(fields) != 3 {
			return fmt.Errorf("weights.tsv: %q is not a path, a number and a reason", row)
		}
		allowed[fields[0]] = lines
	}
	for _, p := range packages {
		if may := max(allowed[p.Path], lightLines); p.Lines > may && !strings.HasPrefix(p.Path, "integration") {
			if _, err := fmt.Fprintf(w, "%s has %d lines, and may weigh %d\n", p.Path, p.Lines, may); err != nil {
				return err
			}
		}
	}
	return nil
}
