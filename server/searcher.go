package server

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/search"
)

// indexDelay is the time between a publication and its indexing in the background: the
// first lists are answered before, and a burst of changes is indexed once.
const indexDelay = 500 * time.Millisecond

// A searcher finds the skills of views by words. It must be started, and then closed.
type searcher struct {
	index *search.Index
	uses  map[string]int // by qualified name, at the start
	failures

	wake    chan struct{}      // holds one message while a catalog is to be indexed; set by start
	cancel  context.CancelFunc // ends the goroutine; set by start
	running sync.WaitGroup     // the goroutine that indexes
}

// start begins to index the current view in the background after each call of published.
func (s *searcher) start(current func() *view) {
	ctx, cancel := context.WithCancel(context.Background())
	s.wake, s.cancel = make(chan struct{}, 1), cancel
	s.running.Go(func() { s.follow(ctx, current) })
}

// published is called after each publication of a view.
func (s *searcher) published() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// follow indexes the current view when it was not replaced for a while.
func (s *searcher) follow(ctx context.Context, current func() *view) {
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			settled = time.After(indexDelay)
		case <-settled:
			settled = nil
			s.update(ctx, current().catalog)
		}
	}
}

// update indexes a catalog. A search of one that is not indexed indexes it first.
func (s *searcher) update(ctx context.Context, catalog *skills.Catalog) {
	defer s.recover(func(err error) { s.logger.Error("the skills are not indexed", "error", err) })
	_ = s.index.Update(ctx, catalog) // its error is that ctx is done
}

// close ends the goroutine and waits for it.
func (s *searcher) close() {
	s.cancel()
	s.running.Wait()
}

// search returns the skills of a view that match a query.
func (s *searcher) search(ctx context.Context, v *view, q search.Query) (search.Result, error) {
	q.Boost = Boost(v.exposed, s.uses)
	return s.index.Search(ctx, v.catalog, q)
}

// Boosts of a score. On the labelled set, with 15 % of the skills used by a Zipf law, a
// boost of 10 % puts 1.6 % more of the queries for used skills first and costs the others
// nothing; 30 % gains 3.5 % and costs 1.1 %.
const (
	useBoost    = 0.1 // for 100 uses and more
	activeBoost = 0.1 // for a skill that the workspace has files for
	manyUses    = 100
)

// Boost returns the factor of a skill's score by its uses, counts by qualified name, and
// by the files of the workspace. A skill of an untrusted workspace could claim any files,
// and has none.
func Boost(exposed *exposure.Exposure, uses map[string]int) func(*skills.Skill) float64 {
	return func(skill *skills.Skill) float64 {
		boost := 1.0
		if skill.Untrusted() {
			return boost
		}
		if n := uses[skill.QualifiedName()]; n > 0 {
			boost += useBoost * min(1, math.Log1p(float64(n))/math.Log1p(manyUses))
		}
		if exposed.Active(skill) {
			boost += activeBoost
		}
		return boost
	}
}
