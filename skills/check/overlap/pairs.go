package overlap

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
)

// A pair is two documents and their similarity.
type pair struct {
	a, b       int
	similarity float64
}

const (
	// mostTerms is the number of a document's heaviest terms that find candidates, and
	// mostHolders that of the documents each of them finds: together they bound the
	// work for a document.
	mostTerms, mostHolders = 16, 100
	// likely is the part of the threshold that these terms must contribute.
	likely = 0.4
)

// pairs returns the pairs of documents that are similar, the most similar first. Of
// equal descriptions only the first counts; later returns the others of each.
func (c *corpus) pairs(ctx context.Context, threshold float64) (found []pair, later map[int][]int, err error) {
	distinct, later := c.distinct()
	finders, holders := c.finders(distinct)
	contributed := make([]float64, len(c.documents))
	for _, a := range distinct {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for _, b := range candidates(a, finders[a], holders, contributed) {
			likely := contributed[b] >= likely*threshold
			contributed[b] = 0
			if !likely {
				continue
			}
			s := similarity(c.documents[a], c.documents[b])
			if s >= threshold && !apart(c.documents[a], c.documents[b]) {
				found = append(found, pair{a, b, s})
			}
		}
	}
	slices.SortFunc(found, func(p, q pair) int {
		return cmp.Or(cmp.Compare(q.similarity, p.similarity), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
	})
	return found, later, nil
}

// distinct returns the first of the documents with equal descriptions, and the others
// by it.
func (c *corpus) distinct() (distinct []int, later map[int][]int) {
	later = map[int][]int{}
	first := map[string]int{}
	for i, d := range c.documents {
		var key []byte
		for _, t := range d.terms {
			if !t.told {
				continue
			}
			key = binary.AppendUvarint(key, uint64(t.id))
		}
		if at, known := first[string(key)]; known {
			later[at] = append(later[at], i)
			continue
		}
		first[string(key)] = i
		distinct = append(distinct, i)
	}
	return distinct, later
}

// A holder is a document that a term finds.
type holder struct {
	document int
	weight   float64
}

// finders returns the heaviest terms of each document, and the documents that have a
// term.
func (c *corpus) finders(distinct []int) (finders [][]term, holders [][]holder) {
	finders, holders = make([][]term, len(c.documents)), make([][]holder, len(c.holders))
	for _, i := range distinct {
		heaviest := slices.Clone(c.documents[i].terms)
		slices.SortStableFunc(heaviest, func(a, b term) int { return cmp.Compare(b.weight, a.weight) })
		finders[i] = heaviest[:min(len(heaviest), mostTerms)]
		for _, t := range c.documents[i].terms {
			holders[t.id] = append(holders[t.id], holder{i, t.weight})
		}
	}
	return finders, holders
}

// candidates returns the documents after a that terms of it find, and adds the
// similarity by these terms to contributed.
func candidates(a int, terms []term, holders [][]holder, contributed []float64) (found []int) {
	for _, t := range terms {
		after, _ := slices.BinarySearchFunc(holders[t.id], a+1, func(h holder, at int) int { return cmp.Compare(h.document, at) })
		rest := holders[t.id][after:]
		for _, h := range rest[:min(len(rest), mostHolders)] {
			if contributed[h.document] == 0 {
				found = append(found, h.document)
			}
			contributed[h.document] += t.weight * h.weight
		}
	}
	return found
}

// similarity returns the cosine of the terms of two documents.
func similarity(a, b *document) (sum float64) {
	for i, j := 0, 0; i < len(a.terms) && j < len(b.terms); {
		switch s, t := &a.terms[i], &b.terms[j]; {
		case s.id < t.id:
			i++
		case s.id > t.id:
			j++
		default:
			sum += s.weight * t.weight
			i++
			j++
		}
	}
	return sum
}
