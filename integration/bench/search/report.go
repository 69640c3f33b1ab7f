package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// write prints the results as tables.
func (r *results) write(w io.Writer, misses bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "contender\tqueries\thit@1\thit@5\tMRR\tnDCG@10\tnothing: precision\trecall")
	for _, name := range r.names {
		q, d := qualityOf(r.answers[name]), doubtsOf(r.answers[name])
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f (%d)\t%.3f\n", name, q.queries, q.hit1, q.hit5, q.reciprocal, q.ndcg, d.precision, d.told, d.recall)
	}
	r.writeKinds(t)
	if misses {
		r.writeMisses(t)
	}
	return t.Flush()
}

// writeKinds prints hit@1 and hit@5 of each kind of query.
func (r *results) writeKinds(t io.Writer) {
	kinds := map[string][]answer{}
	var order []string
	for _, name := range r.names {
		for _, a := range r.answers[name] {
			if !slices.Contains(order, a.query.Kind) && a.query.Kind != nothing {
				order = append(order, a.query.Kind)
			}
			kinds[name+a.query.Kind] = append(kinds[name+a.query.Kind], a)
		}
	}
	slices.Sort(order)
	fmt.Fprintf(t, "\nhit@1 hit@5\t%s\n", strings.Join(order, "\t"))
	for _, name := range r.names {
		fmt.Fprint(t, name)
		for _, kind := range order {
			q := qualityOf(kinds[name+kind])
			fmt.Fprintf(t, "\t%.2f %.2f (%d)", q.hit1, q.hit5, q.queries)
		}
		fmt.Fprintln(t)
	}
}

// writeMisses prints the queries that the index fails, with its first hits.
func (r *results) writeMisses(t io.Writer) {
	fmt.Fprintln(t)
	for i, a := range r.answers[chosen] {
		found := strings.Join(a.found[:min(5, len(a.found))], ", ")
		switch rank := a.rank(); {
		case a.query.Kind == nothing && !a.doubtful:
			fmt.Fprintf(t, "%s is not in doubt: %q\n    found %s\n", a.query.ID, a.query.Query, found)
		case a.query.Kind != nothing && a.doubtful:
			fmt.Fprintf(t, "%s is in doubt, rank %d: %q\n    wants %s\n    found %s\n", a.query.ID, rank, a.query.Query, strings.Join(a.query.Want, ", "), found)
		case a.query.Kind != nothing && (rank == 0 || rank > 5):
			fmt.Fprintf(t, "%s (%s, rank %d, with alternatives %s): %q\n    wants %s\n    found %s\n", a.query.ID, a.query.Kind, rank,
				place(r.answers[fused][i].rank()), a.query.Query, strings.Join(a.query.Want, ", "), found)
		}
	}
}

// place returns a rank in words.
func place(rank int) string {
	if rank == 0 {
		return "none"
	}
	return fmt.Sprint(rank)
}
