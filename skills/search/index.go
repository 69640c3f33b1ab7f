package search

import (
	"context"
	"sync/atomic"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/lexicon"
)

// An Index finds the skills of one catalog at a time. It may be used concurrently.
type Index struct {
	updating chan struct{} // holds a value during an update
	last     atomic.Pointer[snapshot]

	analyzers analyzers
	lexicon   func() *lexicon.Lexicon
}

// New returns an empty index.
func New() *Index {
	x := &Index{updating: make(chan struct{}, 1), lexicon: openLexicon()}
	x.last.Store(&snapshot{&skills.Catalog{}, &segment{}})
	return x
}

// Update indexes the skills of catalog that the index does not have yet, and removes
// those that the catalog does not have. Searches go on meanwhile.
func (x *Index) Update(ctx context.Context, catalog *skills.Catalog) error {
	_, err := x.at(ctx, catalog)
	return err
}

// at returns the snapshot of a catalog.
func (x *Index) at(ctx context.Context, catalog *skills.Catalog) (*snapshot, error) {
	if s := x.last.Load(); s.catalog == catalog {
		return s, ctx.Err()
	}
	select {
	case x.updating <- struct{}{}:
		defer func() { <-x.updating }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s := x.last.Load()
	if s.catalog == catalog {
		return s, ctx.Err()
	}
	s, err := s.next(ctx, catalog, &x.analyzers)
	if err == nil {
		x.last.Store(s)
	}
	return s, err
}

// Search returns the skills of catalog that match, after an Update where it is needed.
// The error is of ctx.
func (x *Index) Search(ctx context.Context, catalog *skills.Catalog, q Query) (Result, error) {
	s, err := x.at(ctx, catalog)
	if err != nil {
		return Result{}, err
	}
	a := x.analyzers.get()
	defer x.analyzers.put(a)
	f := finder{scope: s.scope(q), query: q, words: map[string]float64{}}
	for _, phrasing := range append([]string{q.Text}, q.Alternatives[:min(len(q.Alternatives), maxAlternatives)]...) {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		f.ask(a, x.lexicon(), phrasing)
	}
	return f.result(&x.analyzers), nil
}
