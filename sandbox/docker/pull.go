package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	dockerimage "github.com/docker/docker/api/types/image"
)

// pullAgain is how long a pull that failed is not tried again: a call that
// follows at once would wait for the same failure.
const pullAgain = time.Minute

// A fetch gets an image and reports, in words, how far it is.
type fetch func(ctx context.Context, report func(message string)) error

// pulls lets those who want the same image share one pull of it, and remembers
// for a while which ones failed.
type pulls struct {
	ctx        context.Context // ends every pull
	background *sync.WaitGroup // counts the pulls under way
	first      func(ref string) (message string)

	mu    sync.Mutex
	byRef map[string]*pull // those under way, and those that failed lately
}

// A pull is one attempt to get an image.
type pull struct {
	cancel context.CancelFunc
	done   chan struct{} // closed by the pull when it has ended
	err    error         // valid after done
	ended  time.Time     // valid after done

	mu      sync.Mutex
	waiting int           // those who want it; it is cancelled when nobody does
	message string        // how far it is
	changed chan struct{} // closed and replaced with each new message
}

func newPulls(ctx context.Context, background *sync.WaitGroup) *pulls {
	return &pulls{ctx: ctx, background: background, byRef: map[string]*pull{}, first: func(ref string) string { return "pulling " + ref }}
}

// get waits for a pull of ref, the one under way or a new one by fetch, and
// tells progress how far it is. The end of ctx ends the waiting; it ends the
// pull only when nobody else waits.
func (p *pulls) get(ctx context.Context, ref string, fetch fetch, progress func(string)) error {
	pull := p.join(ref, fetch)
	defer p.leave(ref, pull)
	if progress == nil {
		progress = func(string) {}
	}
	told := p.first(ref)
	progress(told)
	for {
		message, changed := pull.progress()
		if message != told {
			progress(message)
			told = message
		}
		select {
		case <-pull.done:
			return pull.err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// join returns the pull to wait for: one under way, one that failed a moment
// ago, or a new one.
func (p *pulls) join(ref string, fetch fetch) *pull {
	p.mu.Lock()
	defer p.mu.Unlock()
	current := p.byRef[ref]
	if current == nil || current.over() && time.Since(current.ended) >= pullAgain {
		current = p.begin(ref, fetch)
	}
	current.mu.Lock()
	current.waiting++
	current.mu.Unlock()
	return current
}

// begin starts a pull. The caller holds p.mu.
func (p *pulls) begin(ref string, fetch fetch) *pull {
	ctx, cancel := context.WithCancel(p.ctx)
	current := &pull{
		cancel:  cancel,
		done:    make(chan struct{}),
		message: p.first(ref),
		changed: make(chan struct{}),
	}
	p.byRef[ref] = current
	p.background.Go(func() {
		defer cancel()
		err := fetch(ctx, current.report)
		p.finish(ref, current, err)
	})
	return current
}

// finish records the end of a pull. Only a registry's answer is worth
// remembering: after success the engine has the image, and an engine that went
// away may be back at once.
func (p *pulls) finish(ref string, ended *pull, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if (err == nil || gone(err)) && p.byRef[ref] == ended {
		delete(p.byRef, ref)
	}
	ended.err, ended.ended = err, time.Now()
	close(ended.done)
}

// leave ends a pull that nobody waits for any more; the next who wants it
// starts anew.
func (p *pulls) leave(ref string, left *pull) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left.mu.Lock()
	defer left.mu.Unlock()
	left.waiting--
	if left.waiting > 0 || left.over() {
		return
	}
	left.cancel()
	if p.byRef[ref] == left {
		delete(p.byRef, ref)
	}
}

func (p *pull) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *pull) progress() (message string, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.message, p.changed
}

func (p *pull) report(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.message = message
	close(p.changed)
	p.changed = make(chan struct{})
}

// pull has the engine pull ref.
func (e *engine) pull(ctx context.Context, ref string, report func(string)) error {
	body, err := e.api.ImagePull(ctx, ref, dockerimage.PullOptions{})
	if err != nil {
		return err
	}
	defer body.Close()
	tally := newTally(ref)
	return eachStatus(body, func(s pullStatus) {
		if message, news := tally.add(s); news {
			report(message)
		}
	})
}

// eachStatus passes an engine's status lines on, one by one. It returns the error that
// one of them reports.
func eachStatus(body io.Reader, each func(pullStatus)) error {
	for decoder := json.NewDecoder(body); ; {
		var s pullStatus
		if err := decoder.Decode(&s); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if s.Error != "" {
			return errors.New(s.Error)
		}
		each(s)
	}
}

// A pullStatus is one status line of a pull or a build.
type pullStatus struct {
	ID       string `json:"id"` // of the layer
	Status   string `json:"status"`
	Stream   string `json:"stream"` // the output of a build
	Progress struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Error string `json:"error"`
}

// A tally adds up the status lines of each layer.
type tally struct {
	ref         string
	have, total map[string]int64 // bytes, by layer
	told        int64            // bytes in the last report
	extracting  bool
}

func newTally(ref string) *tally {
	return &tally{ref: ref, have: map[string]int64{}, total: map[string]int64{}}
}

// add counts one status line and returns a message for a person, if there is
// news: a fiftieth of the image, and at least a megabyte.
func (t *tally) add(s pullStatus) (message string, news bool) {
	switch s.Status {
	case "Downloading":
		t.have[s.ID], t.total[s.ID] = s.Progress.Current, s.Progress.Total
	case "Download complete", "Pull complete":
		t.have[s.ID] = t.total[s.ID]
	case "Extracting":
		t.have[s.ID] = t.total[s.ID]
		if have, total := sum(t.have), sum(t.total); have == total && !t.extracting {
			t.extracting = true
			return fmt.Sprintf("unpacking %s", t.ref), true
		}
		return "", false
	default:
		return "", false
	}
	have, total := sum(t.have), sum(t.total)
	if t.extracting || have-t.told < max(1<<20, total/50) {
		return "", false
	}
	t.told = have
	return fmt.Sprintf("pulling %s: %d of %d MB", t.ref, have>>20, (total+1<<20-1)>>20), true
}

func sum(byLayer map[string]int64) (total int64) {
	for _, n := range byLayer {
		total += n
	}
	return total
}
