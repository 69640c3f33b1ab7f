package main

import (
	"context"
	"math"
	"slices"

	"github.com/skillsmcp/skills-mcp/skills/search"
)

// An answer is the answer of one contender to one query.
type answer struct {
	query    query
	found    []string // qualified names, best first; those of tools are their skill's
	doubtful bool
}

// results are the answers of each contender, in the order of the queries.
type results struct {
	names   []string
	answers map[string][]answer // by contender
}

// measure asks all contenders all queries, each in a catalog of size skills of its own;
// in the whole one where size is 0.
func measure(ctx context.Context, set *labelled, list []contender, queries []query, size int) (*results, error) {
	r := &results{answers: map[string][]answer{}}
	for _, c := range list {
		r.names = append(r.names, c.name)
		for _, q := range queries {
			ask := search.Query{Text: q.Query}
			if size > 0 {
				ask.Keep = set.sized(q, size)
			}
			a, err := c.answer(ctx, q, ask)
			if err != nil {
				return nil, err
			}
			r.answers[c.name] = append(r.answers[c.name], a)
		}
	}
	return r, nil
}

func (c contender) answer(ctx context.Context, q query, ask search.Query) (answer, error) {
	if c.alternatives {
		ask.Alternatives = q.Alternatives
	}
	found, err := c.search(ctx, ask)
	if err != nil {
		return answer{}, err
	}
	a := answer{query: q, doubtful: found.Doubtful}
	for _, hit := range found.Hits {
		a.found = append(a.found, hit.Skill.Owner().QualifiedName())
	}
	return a, nil
}

// quality are the measures over some answers, each between 0 and 1.
type quality struct {
	queries          int
	hit1, hit5       float64 // the share of queries with a right skill among the first
	reciprocal, ndcg float64 // mean reciprocal rank; nDCG@10 with gains 2 and 1
}

// qualityOf measures the answers to queries that have an answer.
func qualityOf(answers []answer) (q quality) {
	for _, a := range answers {
		if len(a.query.Want) == 0 {
			continue
		}
		q.queries++
		if rank := a.rank(); rank > 0 {
			q.reciprocal += 1 / float64(rank)
			if rank == 1 {
				q.hit1++
			}
			if rank <= 5 {
				q.hit5++
			}
		}
		q.ndcg += a.ndcg(10)
	}
	n := float64(max(1, q.queries))
	q.hit1, q.hit5, q.reciprocal, q.ndcg = q.hit1/n, q.hit5/n, q.reciprocal/n, q.ndcg/n
	return q
}

// rank returns the place of the first right skill, from 1; 0 for none.
func (a answer) rank() int {
	return 1 + slices.IndexFunc(a.found, func(name string) bool { return slices.Contains(a.query.Want, name) })
}

// ndcg returns the normalised discounted cumulative gain of the first k. A right skill
// gains 2, an acceptable one 1, and a second hit of the same skill nothing.
func (a answer) ndcg(k int) float64 {
	var gain, ideal float64
	seen := map[string]bool{}
	for i, name := range a.found[:min(k, len(a.found))] {
		if !seen[name] {
			gain += a.gain(name) / math.Log2(float64(i+2))
		}
		seen[name] = true
	}
	for i := range min(k, len(a.query.Want)+len(a.query.Also)) {
		g := 1.0
		if i < len(a.query.Want) {
			g = 2
		}
		ideal += g / math.Log2(float64(i+2))
	}
	return gain / ideal
}

func (a answer) gain(name string) float64 {
	switch {
	case slices.Contains(a.query.Want, name):
		return 2
	case slices.Contains(a.query.Also, name):
		return 1
	}
	return 0
}

// doubts are the measures of "nothing fits".
type doubts struct {
	precision, recall float64
	told              int // how often it was said
}

func doubtsOf(answers []answer) doubts {
	var told, right, all float64
	for _, a := range answers {
		if a.query.Kind == nothing {
			all++
		}
		if a.doubtful {
			told++
			if a.query.Kind == nothing {
				right++
			}
		}
	}
	return doubts{right / max(1, told), right / max(1, all), int(told)}
}
