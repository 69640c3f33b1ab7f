package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// olderSuffix ends the names of the contenders of --against.
const olderSuffix = "@against"

// A report is the output of a suite.
type report struct {
	Suite   string
	Quick   bool // the figures mean nothing
	Machine string
	Results []*result
	Absent  []string // contenders that this machine cannot run, each with the reason
}

// A result holds the figures of one contender in one case.
type result struct {
	Case, Contender string
	Figures         []figure
	times           []time.Duration // of all calls
	found           []time.Duration // of those that found a waiting container; nil if that is unknown
}

// A figure is one value. Its name holds the unit.
type figure struct {
	Name  string
	Value float64
	// rounds are the values of the turns, in order: those of two contenders in
	// the same place were measured one after the other. Empty if the figure is
	// not compared.
	rounds []float64
	// relation says that each round compares this contender with another figure of
	// the same round. The report prints the interval of the median beside it.
	relation bool
}

// add appends the value of a round. The figure is the median of its rounds.
func (r *result) add(name string, value float64) {
	f := r.figure(name)
	f.rounds = append(f.rounds, value)
	f.Value = percentile(f.rounds, 50)
}

// set sets a figure that is not compared.
func (r *result) set(name string, value float64) { r.figure(name).Value = value }

// relate sets a figure to the median of f of each round of two figures, which
// were measured one after the other.
func (r *result) relate(name string, a, b []float64, f func(a, b float64) float64) {
	if rounds := pairs(a, b, f); len(rounds) > 0 {
		*r.figure(name) = figure{name, percentile(rounds, 50), rounds, true}
	}
}

// quotient and difference are relations of two figures.
func quotient(a, b float64) float64   { return a / b }
func difference(a, b float64) float64 { return a - b }

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
	i := slices.IndexFunc(r.Results, func(o *result) bool { return o.Case == name && o.Contender == contender })
	if i < 0 {
		return nil
	}
	return r.Results[i]
}

// pairs returns f of each two values that were measured one after the other.
func pairs(a, b []float64, f func(a, b float64) float64) []float64 {
	both := make([]float64, min(len(a), len(b)))
	for i := range both {
		both[i] = f(a[i], b[i])
	}
	return both
}

// A ratio compares a figure of the new server with that of the older one.
type ratio struct {
	case_, contender, figure string
	median, low, high        float64 // of the rounds
	rounds                   int
	worse                    bool
}

// ratios compares the contenders that have an older one.
func (r *report) ratios() (all []ratio) {
	for _, newer := range r.Results {
		older := r.find(newer.Case, newer.Contender+olderSuffix)
		if older == nil {
			continue
		}
		for _, f := range newer.Figures {
			if f.relation {
				continue
			}
			rounds := pairs(f.rounds, older.figure(f.Name).rounds, quotient)
			rounds = slices.DeleteFunc(rounds, func(q float64) bool { return math.IsNaN(q) || math.IsInf(q, 0) })
			if len(rounds) == 0 {
				continue
			}
			low, high := medianInterval(rounds)
			worse := low > 1
			if strings.HasSuffix(f.Name, "/s") { // more is better
				worse = high < 1
			}
			all = append(all, ratio{newer.Case, newer.Contender, f.Name, percentile(rounds, 50), low, high, len(rounds), worse && len(rounds) >= 8})
		}
	}
	return all
}

// write prints the report.
func (r *report) write(w io.Writer, markdown bool) error {
	fmt.Fprintln(w, r.Machine)
	if r.Quick {
		fmt.Fprintln(w, "QUICK: to see that it works, not for figures")
	}
	var cases []string
	for _, o := range r.Results {
		if !slices.Contains(cases, o.Case) {
			cases = append(cases, o.Case)
		}
	}
	for _, name := range cases {
		if err := writeTable(w, name, r.caseRows(name), markdown); err != nil {
			return err
		}
	}
	if rows := r.ratioRows(); len(rows) > 1 {
		if err := writeTable(w, "new by old, "+r.Suite, rows, markdown); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, a := range r.Absent {
		fmt.Fprintln(w, "not measured:", strings.ReplaceAll(a, "\n", " "))
	}
	return nil
}

// caseRows returns the table of a case: a row for each contender, a column for
// each figure that one of them has.
func (r *report) caseRows(name string) [][]string {
	rows := [][]string{{""}}
	for _, o := range r.Results {
		if o.Case != name {
			continue
		}
		row := []string{o.Contender}
		for _, f := range o.Figures {
			column := slices.Index(rows[0], f.Name)
			if column < 0 {
				column = len(rows[0])
				rows[0] = append(rows[0], f.Name)
			}
			for len(row) <= column {
				row = append(row, "–")
			}
			row[column] = f.String()
		}
		rows = append(rows, row)
	}
	if len(rows[0]) > maxColumns {
		return onSide(rows)
	}
	return rows
}

// maxColumns is the width from which on a table of figures is printed with a row
// for each figure.
const maxColumns = 11

// onSide exchanges the rows and the columns of a table.
func onSide(rows [][]string) [][]string {
	side := make([][]string, len(rows[0]))
	for i := range side {
		for _, row := range rows {
			cell := "–"
			if i < len(row) {
				cell = row[i]
			}
			side[i] = append(side[i], cell)
		}
	}
	return side
}

// String renders the value, with the interval of a relation's median.
func (f figure) String() string {
	if !f.relation {
		return digits(f.Value)
	}
	low, high := medianInterval(f.rounds)
	return fmt.Sprintf("%s (%.2f–%.2f)", digits(f.Value), low, high)
}

// ratioRows returns the table of all ratios.
func (r *report) ratioRows() [][]string {
	rows := [][]string{{"case", "contender", "figure", "ratio", "99 %", "rounds", ""}}
	for _, c := range r.ratios() {
		worse := ""
		if c.worse {
			worse = "worse"
		}
		rows = append(rows, []string{c.case_, c.contender, c.figure, fmt.Sprintf("%.3f", c.median),
			fmt.Sprintf("%.3f–%.3f", c.low, c.high), strconv.Itoa(c.rounds), worse})
	}
	return rows
}

// digits renders a figure, with three digits where it is small.
func digits(value float64) string {
	if value >= 100 || value == float64(int(value)) {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

// writeTable prints a table, whose first row is the heading.
func writeTable(w io.Writer, title string, rows [][]string, markdown bool) error {
	fmt.Fprintf(w, "\n%s\n", title)
	if markdown {
		for _, row := range slices.Insert(rows, 1, slices.Repeat([]string{"--:"}, len(rows[0]))) {
			fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		}
		return nil
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintln(columns, strings.Join(row, "\t")+"\t")
	}
	return columns.Flush()
}
