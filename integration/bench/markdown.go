package main

import (
	"fmt"
	"io"
)

// writeMarkdown prints the report for a page such as the README: one table, and what
// it was measured on.
func (r *report) writeMarkdown(w io.Writer) error {
	fmt.Fprintln(w, "| | bash, p50 / p95 ms | × bare | Python, p50 / p95 ms | × bare | 8 at a time, bash | Python |")
	fmt.Fprintln(w, "| --- | --: | --: | --: | --: | --: | --: |")
	for _, e := range entries() {
		row := [4]*result{}
		for i, p := range parts() {
			row[i] = r.find(e.name, p)
		}
		if row == [4]*result{} {
			continue
		}
		fmt.Fprintf(w, "| %s (`%s`) | %s | %s | %s | %s | %s | %s |\n", e.about, e.name,
			row[0].times(), row[0].bare(), row[1].times(), row[1].bare(), row[2].rate(), row[3].rate())
	}
	fmt.Fprintf(w, "\nMeasured on: %s. %s for each script and concurrency.\n\n", r.Machine, r.Settings.Duration)
	for _, s := range r.Shares {
		fmt.Fprintf(w, "- the server's own share of a call (`%s` − `%s`, %s): %.2f ms, median of %d pairs\n", s.Server, s.Driver, s.Script, s.Median, s.Pairs)
	}
	for _, h := range r.Memory {
		fmt.Fprintf(w, "- %s\n", h)
	}
	return nil
}

// find returns the figures of a contender in a part, or nil.
func (r *report) find(contender string, p part) *result {
	for i, o := range r.Results {
		if o.Contender == contender && o.Script == p.script.name && o.AtOnce == p.atOnce {
			return &r.Results[i]
		}
	}
	return nil
}

// The cells of a result, which may be nil.

func (r *result) times() string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f / %.1f", r.P50, r.P95)
}

func (r *result) bare() string {
	if r == nil {
		return "–"
	}
	return optional("%.1f", r.Bare)
}

func (r *result) rate() string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f/s", r.PerSecond)
}
