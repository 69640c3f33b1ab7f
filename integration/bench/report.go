package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// olderSuffix ends the names of the contenders of --against.
const olderSuffix = "@against"

// A report is the output of a suite.
type report struct {
	Suite   string    `json:"suite"`
	Quick   bool      `json:"quick"` // the figures mean nothing
	Machine machine   `json:"machine"`
	Results []*result `json:"results"`
	Ratios  []ratio   `json:"ratios"` // new by old
	Absent  []absence `json:"not_measured"`
	Notes   []string  `json:"notes"`
}

// A result holds the figures of one contender in one case.
type result struct {
	Case      string   `json:"case"`
	Contender string   `json:"contender"`
	Figures   []figure `json:"figures"`
}

// A figure is one value. Its name holds the unit.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// rounds are the values of the turns, in order: those of two contenders in
	// the same place were measured one after the other. Empty if the figure is
	// not compared.
	rounds []float64
}

// moreIsBetter reports whether a higher figure is the better one.
func moreIsBetter(name string) bool { return strings.HasSuffix(name, "/s") }

// A ratio compares a figure of the new server with that of the older one.
type ratio struct {
	Case      string  `json:"case"`
	Contender string  `json:"contender"`
	Figure    string  `json:"figure"`
	Ratio     float64 `json:"ratio"` // median of the rounds
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Rounds    int     `json:"rounds"`
	Worse     bool    `json:"worse"`
}

// An absence is a contender that this machine cannot run.
type absence struct {
	Contender string `json:"contender"`
	Reason    string `json:"reason"`
}

// add appends the value of a round. The figure is the median of its rounds.
func (r *result) add(name string, value float64) {
	f := r.figure(name)
	f.rounds = append(f.rounds, value)
	f.Value = percentile(f.rounds, 50)
}

// set sets a figure, whatever its rounds are.
func (r *result) set(name string, value float64) { r.figure(name).Value = value }

// figure returns the figure of a name, which it appends if there is none.
func (r *result) figure(name string) *figure {
	i := slices.IndexFunc(r.Figures, func(f figure) bool { return f.Name == name })
	if i < 0 {
		i = len(r.Figures)
		r.Figures = append(r.Figures, figure{Name: name})
	}
	return &r.Figures[i]
}

// result returns the result of a contender in a case, which it appends if there
// is none.
func (r *report) result(name, contender string) *result {
	if found := r.find(name, contender); found != nil {
		return found
	}
	r.Results = append(r.Results, &result{Case: name, Contender: contender})
	return r.Results[len(r.Results)-1]
}

// find returns the result of a contender in a case, or nil.
func (r *report) find(name, contender string) *result {
	for _, o := range r.Results {
		if o.Case == name && o.Contender == contender {
			return o
		}
	}
	return nil
}

// compare sets Ratios.
func (r *report) compare() {
	for _, newer := range r.Results {
		older := r.find(newer.Case, newer.Contender+olderSuffix)
		if older == nil {
			continue
		}
		for _, f := range newer.Figures {
			if c, ok := compareRounds(f.rounds, older.figure(f.Name).rounds, moreIsBetter(f.Name)); ok {
				c.Case, c.Contender, c.Figure = newer.Case, newer.Contender, f.Name
				r.Ratios = append(r.Ratios, c)
			}
		}
	}
}

// compareRounds returns the ratio of rounds of one figure.
func compareRounds(newer, older []float64, moreIsBetter bool) (c ratio, ok bool) {
	var ratios []float64
	for i := range min(len(newer), len(older)) {
		if older[i] > 0 {
			ratios = append(ratios, newer[i]/older[i])
		}
	}
	if len(ratios) == 0 {
		return c, false
	}
	low, high := medianInterval(ratios)
	worse := low > 1
	if moreIsBetter {
		worse = high < 1
	}
	return ratio{Ratio: percentile(ratios, 50), Low: low, High: high, Rounds: len(ratios), Worse: worse && len(ratios) >= 8}, true
}

// write prints the report as the flags say.
func (r *report) write(w io.Writer, asJSON, markdown bool) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	fmt.Fprintln(w, r.Machine)
	if r.Quick {
		fmt.Fprintln(w, "QUICK: to see that it works, not for figures")
	}
	for _, t := range r.tables() {
		fmt.Fprintf(w, "\n%s\n", t.title)
		if err := t.write(w, markdown); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, note := range r.Notes {
		fmt.Fprintln(w, note)
	}
	for _, a := range r.Absent {
		fmt.Fprintf(w, "not measured: %s: %s\n", a.Contender, strings.ReplaceAll(a.Reason, "\n", " "))
	}
	return nil
}

// A table is printed as text or as Markdown. Its first row is the heading.
type table struct {
	title string
	rows  [][]string
}

// tables returns a table for each case, and one of the ratios.
func (r *report) tables() []table {
	var all []table
	for _, name := range r.cases() {
		all = append(all, r.caseTable(name))
	}
	if len(r.Ratios) == 0 {
		return all
	}
	t := table{"new by old, " + r.Suite, [][]string{{"case", "contender", "figure", "ratio", "99 %", "rounds", ""}}}
	for _, c := range r.Ratios {
		worse := ""
		if c.Worse {
			worse = "worse"
		}
		t.rows = append(t.rows, []string{c.Case, c.Contender, c.Figure, fmt.Sprintf("%.3f", c.Ratio), fmt.Sprintf("%.3f–%.3f", c.Low, c.High), strconv.Itoa(c.Rounds), worse})
	}
	return append(all, t)
}

// cases returns the names of the cases, in order.
func (r *report) cases() []string {
	var names []string
	for _, o := range r.Results {
		if !slices.Contains(names, o.Case) {
			names = append(names, o.Case)
		}
	}
	return names
}

// caseTable returns the table of a case: a row for each contender, a column for
// each figure that one of them has.
func (r *report) caseTable(name string) table {
	heading := []string{""}
	var results []*result
	for _, o := range r.Results {
		if o.Case != name {
			continue
		}
		results = append(results, o)
		for _, f := range o.Figures {
			if !slices.Contains(heading, f.Name) {
				heading = append(heading, f.Name)
			}
		}
	}
	t := table{name, [][]string{heading}}
	for _, o := range results {
		row := []string{o.Contender}
		for _, column := range heading[1:] {
			row = append(row, o.cell(column))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// cell renders a figure, with three digits where it is small.
func (r *result) cell(name string) string {
	i := slices.IndexFunc(r.Figures, func(f figure) bool { return f.Name == name })
	switch {
	case i < 0:
		return "–"
	case r.Figures[i].Value >= 100 || r.Figures[i].Value == float64(int(r.Figures[i].Value)):
		return fmt.Sprintf("%.0f", r.Figures[i].Value)
	}
	return fmt.Sprintf("%.2f", r.Figures[i].Value)
}

// write prints the table.
func (t table) write(w io.Writer, markdown bool) error {
	if markdown {
		t.rows = slices.Insert(t.rows, 1, slices.Repeat([]string{"--:"}, len(t.rows[0])))
		for _, row := range t.rows {
			fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		}
		return nil
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range t.rows {
		fmt.Fprintln(columns, strings.Join(row, "\t")+"\t")
	}
	return columns.Flush()
}
