// Package embeddings orders the hits of a search by meaning, with the vectors of an
// OpenAI-compatible endpoint.
//
// Start with [New] and [Reranker.Rerank].
package embeddings

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/skills/search"
)

// Options configure a [Reranker]. The zero value is usable.
type Options struct {
	// Dir is the folder that caches the vectors of skills; "" caches none. Those of
	// queries are not written.
	Dir string
	// Logger gets a warning when the endpoint begins to fail; nil discards it.
	Logger *slog.Logger
}

// fetchTime bounds the requests for a search, which continue after the search has
// been answered: the next one finds the vectors.
const fetchTime = 30 * time.Second

var (
	errClosed = errors.New("the reranker is closed")
	errBusy   = errors.New("the endpoint has not answered earlier searches")
)

// A Reranker orders hits. It may be used concurrently, and must be closed.
type Reranker struct {
	client  *client
	stored  *store
	queries *recent
	health  *health

	life   context.Context    // of the requests
	cancel context.CancelFunc // called by Close
	slots  chan struct{}      // holds a value for each fetch

	mu      sync.Mutex // guards closed, and running.Add against Close
	closed  bool
	running sync.WaitGroup // fetches
}

// New returns a reranker. It connects to nothing before it is used. Options may be nil.
func New(endpoint Endpoint, options *Options) (*Reranker, error) {
	o := Options{}
	if options != nil {
		o = *options
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	client, err := newClient(endpoint)
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	return &Reranker{
		client: client, queries: newRecent(maxQueries),
		stored: &store{last: newRecent(maxPassages), dir: o.Dir, salt: endpoint.Model + "\x00" + client.url},
		health: &health{logger: o.Logger.With("url", client.url), now: time.Now},
		life:   life, cancel: cancel, slots: make(chan struct{}, maxFetches),
	}, nil
}

// Close ends the requests and waits for them.
func (r *Reranker) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.running.Wait()
	r.client.close()
}

// Rerank returns the hits in the order in which they answer the texts, the phrasings of
// one wish. Half of the order is the one that it was given. After an error, or when ctx is done, the order of the hits counts;
// vectors that are not computed by then are there for the next search.
func (r *Reranker) Rerank(ctx context.Context, texts []string, hits []search.Hit) ([]search.Hit, error) {
	passages := make([]string, len(hits))
	for i, hit := range hits {
		passages[i] = passage(hit.Skill)
	}
	wanted := r.known(texts, passages)
	if err := r.complete(ctx, wanted); err != nil {
		return nil, err
	}
	return wanted.ranked(hits, r.stored)
}

// complete gets the vectors that are missing, in the background.
func (r *Reranker) complete(ctx context.Context, wanted *vectors) error {
	if wanted.complete() {
		return nil
	}
	if err := r.health.check(); err != nil {
		return err
	}
	done := make(chan error, 1)
	if err := r.start(func() { done <- r.fetch(wanted) }); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start runs a function in a goroutine that Close waits for, unless [maxFetches] run:
// then a search is answered in the order of the index at once.
func (r *Reranker) start(run func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	select {
	case r.slots <- struct{}{}:
	default:
		return errBusy
	}
	r.running.Go(func() {
		defer func() { <-r.slots }()
		run()
	})
	return nil
}

// known returns the vectors that are cached.
func (r *Reranker) known(texts, passages []string) *vectors {
	v := &vectors{texts: texts, passages: passages, ofText: map[string][]float32{}, ofPassage: map[string][]float32{}}
	for _, text := range texts {
		v.ofText[text] = r.queries.vector(text)
	}
	for _, passage := range passages {
		v.ofPassage[passage] = r.stored.vector(passage)
	}
	return v
}

// fetch gets the vectors that are missing: those of the texts first, as a search can
// only be ordered with them.
func (r *Reranker) fetch(v *vectors) error {
	ctx, cancel := context.WithTimeout(r.life, fetchTime)
	defer cancel()
	err := r.fill(ctx, missing(v.texts, v.ofText), func(text string, vector []float32) {
		v.ofText[text] = vector
		r.queries.add(text, vector)
	})
	if err == nil {
		err = r.fill(ctx, missing(v.passages, v.ofPassage), func(passage string, vector []float32) {
			v.ofPassage[passage] = vector
			r.stored.add(passage, vector)
		})
	}
	if r.life.Err() == nil {
		r.health.report(err)
	}
	return err
}

// maxBatch is the number of texts of a request. Some servers accept no more.
const maxBatch = 32

// fill requests the vectors of texts, and calls add with each.
func (r *Reranker) fill(ctx context.Context, texts []string, add func(text string, vector []float32)) error {
	for len(texts) > 0 {
		batch := texts[:min(len(texts), maxBatch)]
		texts = texts[len(batch):]
		found, err := r.client.vectors(ctx, batch)
		if err != nil {
			return err
		}
		for i, text := range batch {
			add(text, found[i])
		}
	}
	return nil
}
