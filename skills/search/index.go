package search

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search/lexicon"
)

// Options configure an [Index].
type Options struct {
	// Cache has the index of the start before; nil keeps nothing.
	Cache Cache
}

// A Cache stores an index for the next start of the same build of the program. Calls do
// not overlap.
type Cache interface {
	// Load returns the content that was saved last, or "" if it is not whole.
	Load() string
	// Save replaces the content.
	Save(content string)
}

// An Index finds the skills of one catalog at a time. It may be used concurrently.
type Index struct {
	cache Cache // may be nil

	updating chan struct{} // holds a value during an update; guards the fields below
	loaded   bool          // the cache was read
	saved    bool          // the cache was written
	unsaved  int           // documents that came and went since the cache was read or written

	last atomic.Pointer[snapshot]

	analyzers analyzers
	lexicon   func() *lexicon.Lexicon // reads it at the first query: most processes answer none
}

// New returns an empty index. Options may be nil.
func New(options *Options) *Index {
	x := &Index{updating: make(chan struct{}, 1), lexicon: sync.OnceValue(lexicon.New)}
	if options != nil {
		x.cache = options.Cache
	}
	x.last.Store(&snapshot{&skills.Catalog{}, &segment{}})
	return x
}

// Update indexes the skills of catalog that the index does not have yet, and removes
// those that the catalog does not have. Searches go on meanwhile. The cache gets what is
// indexed also when ctx is done: many servers run for seconds, and the next goes on.
func (x *Index) Update(ctx context.Context, catalog *skills.Catalog) error {
	_, err := x.at(ctx, catalog)
	if x.cache != nil {
		_ = x.begin(context.WithoutCancel(ctx)) // it has no error then
		defer x.end()
		x.save()
	}
	return err
}

// save saves the index after its first update, and then when a sixteenth of it has
// changed: an edit alone is not worth a file of megabytes. The caller has begun.
func (x *Index) save() {
	s := x.last.Load()
	if x.unsaved == 0 || x.saved && 16*x.unsaved < len(s.docs) {
		return
	}
	x.cache.Save(s.encode())
	x.saved, x.unsaved = true, 0
}

// begin waits for the update under way and begins one. The error is of ctx.
func (x *Index) begin(ctx context.Context) error {
	select {
	case x.updating <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *Index) end() { <-x.updating }

// at returns the snapshot of a catalog.
func (x *Index) at(ctx context.Context, catalog *skills.Catalog) (*snapshot, error) {
	if s := x.last.Load(); s.catalog == catalog {
		return s, ctx.Err()
	}
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	defer x.end()
	s := x.last.Load()
	if s.catalog == catalog {
		return s, ctx.Err()
	}
	if x.cache != nil && !x.loaded && len(catalog.Skills) > 0 {
		x.loaded = true
		s = restore(x.cache.Load(), catalog)
		x.last.Store(s)
	}
	s, changed, err := s.next(ctx, catalog, &x.analyzers)
	x.unsaved += changed
	x.last.Store(s)
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
