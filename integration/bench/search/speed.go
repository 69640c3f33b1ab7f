package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// speed prints the times and the memory of the index of n skills.
func speed(ctx context.Context, w io.Writer, set *labelled, n int) error {
	catalog := grown(set.catalog, n)
	before := heap()
	index := search.New(nil)
	began := time.Now()
	if err := index.Update(ctx, catalog); err != nil {
		return err
	}
	built := time.Since(began)
	fmt.Fprintf(w, "skills %d\nbuild %.0f ms\n", n, ms(built))
	fmt.Fprintf(w, "memory of the index %.1f MB\n", float64(heap()-before)/1e6)
	queries, err := times(ctx, index, catalog, set.queries)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "query p50 %.2f ms, p99 %.2f ms, most %.2f ms (%d)\n", at(queries, 0.5), at(queries, 0.99), at(queries, 1), len(queries))
	edits, err := edit(ctx, index, catalog)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "edit p50 %.2f ms, p99 %.2f ms, most %.2f ms (%d)\n", at(edits, 0.5), at(edits, 0.99), at(edits, 1), len(edits))
	return nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// heap returns the live bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// at returns a quantile in milliseconds.
func at(all []time.Duration, share float64) float64 {
	slices.Sort(all)
	return ms(all[int(share*float64(len(all)-1))])
}

// times asks each query three times, with its alternatives.
func times(ctx context.Context, index *search.Index, catalog *skills.Catalog, queries []query) ([]time.Duration, error) {
	var all []time.Duration
	for range 3 {
		for _, q := range queries {
			began := time.Now()
			if _, err := index.Search(ctx, catalog, search.Query{Text: q.Query}); err != nil {
				return nil, err
			}
			all = append(all, time.Since(began))
		}
	}
	return all, nil
}

// edit changes 200 skills, one after the other.
func edit(ctx context.Context, index *search.Index, catalog *skills.Catalog) ([]time.Duration, error) {
	var all []time.Duration
	for i := range 200 {
		next := *catalog
		next.Skills = slices.Clone(catalog.Skills)
		changed := *next.Skills[i*7%len(next.Skills)]
		changed.Description += fmt.Sprintf(" And number %d.", i)
		next.Skills[i*7%len(next.Skills)] = &changed
		began := time.Now()
		if err := index.Update(ctx, &next); err != nil {
			return nil, err
		}
		all = append(all, time.Since(began))
		catalog = &next
	}
	return all, nil
}

// grown returns a catalog of n skills: those of the set, and skills made of the
// sentences of theirs, each with words of its own as real ones have.
func grown(catalog *skills.Catalog, n int) *skills.Catalog {
	r := rand.New(rand.NewPCG(15, uint64(n)))
	var descriptions, lines []string
	for _, s := range catalog.Skills {
		text, _ := s.Text() // without it there are the others'
		descriptions = append(descriptions, s.Description)
		lines = append(lines, strings.Split(text, "\n")...)
	}
	all := slices.Clone(catalog.Skills[:min(n, len(catalog.Skills))])
	for i := len(all); i < n; i++ {
		all = append(all, made(r, i, descriptions, lines))
	}
	slices.SortFunc(all, func(a, b *skills.Skill) int { return strings.Compare(a.QualifiedName(), b.QualifiedName()) })
	return &skills.Catalog{Skills: all}
}

// made returns a skill with a body of 30 to 120 lines.
func made(r *rand.Rand, i int, descriptions, lines []string) *skills.Skill {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var body strings.Builder
	for range 30 + r.IntN(90) {
		body.WriteString(pick(lines) + "\n")
	}
	fmt.Fprintf(&body, "word%d name%d thing%d\n", i, i*31%100_000, r.IntN(1000))
	return &skills.Skill{
		Name: fmt.Sprintf("made-%05d", i), Description: pick(descriptions) + " " + pick(descriptions),
		Instructions: body.String(), ModelInvocable: true, UserInvocable: true, Source: skills.SourceUser, Class: skills.Safe,
	}
}
