package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/skillsmcp/skills-mcp/integration/bench/figures"
)

// A report is what was measured.
type report struct {
	machine figures.Machine
	options *options
	rows    []row
	load    *loaded // nil where it was not made
}

func newReport(o *options) *report { return &report{machine: figures.ThisMachine(), options: o} }

// write prints the report as tables of Markdown.
func (r *report) write(w io.Writer) error {
	fmt.Fprintln(w, "| request | transport | generation | KB | ours, p50 ms | bare, p50 ms | ours, per second | bare, per second | × (least–most) | ours, CPU µs | bare, CPU µs | × |")
	fmt.Fprintln(w, "| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
	for _, row := range r.rows {
		fmt.Fprintf(w, "| %s | %s | %s | %.1f | %.3f | %.3f | %.0f | %.0f | %.2f (%.2f–%.2f) | %.1f | %.1f | %.2f |\n",
			row.request, row.kind, row.generation, float64(row.ours.bytes)/1024, row.ours.p50(), row.bare.p50(),
			row.ours.perSecond(), row.bare.perSecond(), figures.Percentile(row.ratios, 50), slices.Min(row.ratios), slices.Max(row.ratios),
			row.ours.cpuEach(), row.bare.cpuEach(), row.bare.cpuEach()/row.ours.cpuEach())
	}
	_, err := fmt.Fprintf(w, "\n%d skills; %v for each row, in %d turns of each server. Measured on: %s.\n",
		r.options.skills, r.options.duration, r.options.rounds, r.machine.Describe())
	if r.load != nil {
		_, err = io.WriteString(w, r.load.String())
	}
	return err
}

func (l *loaded) String() string {
	ms := func(p int) float64 { return figures.Milliseconds(figures.Percentile(l.times, p)) }
	return fmt.Sprintf(`
%d clients at once made %d requests, %.0f a second: %d errors; p50 %.1f ms, p95 %.1f ms, p99 %.1f ms.

| | before | after |
| --- | --: | --: |
| goroutines | %d | %d |
| open files | %d | %d |
| heap, MB | %.1f | %.1f |
`, l.clients, l.requests, float64(l.requests)/l.spent.Seconds(), l.errors, ms(50), ms(95), ms(99),
		l.before.Goroutines, l.after.Goroutines, l.before.Files, l.after.Files, megabytes(l.before.Heap), megabytes(l.after.Heap))
}

func megabytes(bytes uint64) float64 { return float64(bytes) / (1 << 20) }
