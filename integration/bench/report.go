package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/skillsmcp/skills-mcp/integration/bench/figures"
)

// A report is what the program prints. Times are in milliseconds.
type report struct {
	Machine  machine   `json:"machine"`
	Settings settings  `json:"settings"`
	Results  []result  `json:"results"`
	Shares   []share   `json:"server_share"`
	Memory   []held    `json:"memory"`
	Absent   []absence `json:"not_measured"`
}

// settings are what the figures depend on.
type settings struct {
	Duration  string `json:"duration"` // of each script and concurrency
	Quick     bool   `json:"quick"`
	Image     string `json:"image"`
	Rest      string `json:"rest"`
	SteadyFor string `json:"containers_steady_for"`
}

// A result is one contender's figures in one part.
type result struct {
	Script    string   `json:"script"`
	AtOnce    int      `json:"at_once"`
	Contender string   `json:"contender"`
	Calls     int      `json:"calls"` // that the times are of
	P50       float64  `json:"p50_ms"`
	P95       float64  `json:"p95_ms"`
	PerSecond float64  `json:"calls_per_second"`
	Bare      *float64 `json:"times_bare"`       // p50 by that of the bare script; null where that was not measured
	Run       *float64 `json:"times_docker_run"` // p50 by that of docker run
	Waiting   *int     `json:"waiting"`          // containers before a call, median; null where nothing shows it
	Settled   *float64 `json:"settled_ms"`       // after a turn, median; null one at a time
}

// An absence is a contender that the machine does not have.
type absence struct {
	Contender string `json:"contender"`
	Reason    string `json:"reason"`
}

// results turns tallies into figures. A contender that had no turn has none.
func results(p part, contenders []*contender, tallies []tally) []result {
	var all []result
	for i, t := range tallies {
		if len(t.times) == 0 {
			continue
		}
		r := result{
			Script: p.script.name, AtOnce: p.atOnce, Contender: contenders[i].name,
			Calls:     len(t.times),
			P50:       figures.Milliseconds(figures.Percentile(t.times, 50)),
			P95:       figures.Milliseconds(figures.Percentile(t.times, 95)),
			PerSecond: float64(t.ended) / t.counted.Seconds(),
		}
		if contenders[i].shows {
			r.Waiting = pointer(figures.Percentile(t.waiting, 50))
			if p.atOnce > 1 {
				r.Settled = pointer(figures.Milliseconds(figures.Percentile(t.settled, 50)))
			}
		}
		all = append(all, r)
	}
	for i := range all {
		all[i].Bare = ratio(all[i], all, "bare")
		all[i].Run = ratio(all[i], all, "docker-run")
	}
	return all
}

// ratio is r's median by that of another of its part; nil where there is none.
func ratio(r result, part []result, other string) *float64 {
	for _, o := range part {
		if o.Contender == other {
			return pointer(r.P50 / o.P50)
		}
	}
	return nil
}

func pointer[T any](value T) *T { return &value }

// write prints the report as the flags say.
func (r *report) write(w io.Writer, o *options) error {
	switch {
	case o.json:
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	case o.markdown:
		return r.writeMarkdown(w)
	}
	return r.writeText(w)
}

// writeText prints the report for people.
func (r *report) writeText(w io.Writer) error {
	fmt.Fprintln(w, r.Machine)
	fmt.Fprintf(w, "image %s; %s for each script and concurrency\n", r.Settings.Image, r.Settings.Duration)
	if r.Settings.Quick {
		fmt.Fprintln(w, "QUICK: to see that it works, not for figures")
	}
	for _, p := range parts() {
		if err := r.writePart(w, p); err != nil {
			return err
		}
	}
	if err := r.writeRest(w); err != nil {
		return err
	}
	for _, a := range r.Absent {
		fmt.Fprintf(w, "not measured: %s: %s\n", a.Contender, strings.ReplaceAll(a.Reason, "\n", " "))
	}
	return nil
}

func (r *report) writePart(w io.Writer, p part) error {
	table := newTable(w)
	fmt.Fprintf(w, "\n%s\n", p)
	fmt.Fprintln(table, "\tcalls\tp50 ms\tp95 ms\tcalls/s\t× bare\t× docker run\twaiting\tsettled ms\t")
	for _, o := range r.Results {
		if o.Script != p.script.name || o.AtOnce != p.atOnce {
			continue
		}
		fmt.Fprintf(table, "%-17s\t%d\t%.2f\t%.2f\t%.1f\t%s\t%s\t%s\t%s\t\n", o.Contender, o.Calls, o.P50, o.P95, o.PerSecond,
			optional("%.2f", o.Bare), optional("%.3f", o.Run), optional("%d", o.Waiting), optional("%.0f", o.Settled))
	}
	return table.Flush()
}

// writeRest prints what is not of one part.
func (r *report) writeRest(w io.Writer) error {
	table := newTable(w)
	if len(r.Shares) > 0 {
		fmt.Fprintf(w, "\nthe server's own share of a call, one at a time\n")
		fmt.Fprintln(table, "\t\tpairs\tmedian ms\tp25\tp75\t")
	}
	for _, s := range r.Shares {
		fmt.Fprintf(table, "%-26s\t%-6s\t%d\t%.2f\t%.2f\t%.2f\t\n", s.Server+" − "+s.Driver, s.Script, s.Pairs, s.Median, s.P25, s.P75)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, h := range r.Memory {
		fmt.Fprintln(w, h)
	}
	return nil
}

func newTable(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// optional renders a figure that may not be there.
func optional[T any](format string, value *T) string {
	if value == nil {
		return "–"
	}
	return fmt.Sprintf(format, *value)
}
