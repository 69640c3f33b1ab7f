// Package warmpool has instances started and waiting, each for a single use, such as
// containers. Start with [New].
//
// Whoever needs an instance takes one that waits. Where none does, one is started; the
// instance that is ready first serves the caller that has waited longest. Afterwards the
// next one is started, so that a later take need not wait.
package warmpool

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	// startTimeout bounds the start of an instance. It is not given up when its taker
	// is: another take may use it, and it would else be one that nobody knows of.
	startTimeout = 2 * time.Minute
	// refillDelay is the pause before the start of the next instance: most uses have
	// ended by then, and a start beside a use makes it slower.
	refillDelay = 20 * time.Millisecond
	// quietPause is the pause without a take before one is started where another waits:
	// the next take of a burst most likely competes with it. It is over early enough for
	// the start to end within half a second, when a model may call again.
	quietPause = 100 * time.Millisecond
	// burstPause is the pause after which a burst of takes has ended. It is the time that
	// a start takes on two busy cores: takes that follow sooner than that need more than
	// one waiting instance.
	burstPause = 250 * time.Millisecond
)

// A Pool has instances waiting, by the key of their spec. Its methods may be called
// concurrently.
type Pool[I Instance] struct {
	limits Limits
	delay  time.Duration  // refillDelay
	quiet  time.Duration  // quietPause
	pause  time.Duration  // burstPause
	stop   chan struct{}  // closed by Close
	work   sync.WaitGroup // goroutines of the pool; Wait waits for them

	mu      sync.Mutex
	closed  bool
	clock   int64 // counts takes
	buckets buckets[I]
}

// New returns a pool; limits may be nil. Close ends it.
func New[I Instance](limits *Limits) *Pool[I] {
	limits = cmp.Or(limits, &Limits{})
	return &Pool[I]{limits: limits.or(), delay: refillDelay, quiet: quietPause, pause: burstPause, stop: make(chan struct{}), buckets: buckets[I]{}}
}

// Take returns an instance of spec, for one use, and has others made ready for the
// next: as many as want says, none where it is negative, and for 0 one, or as many as the
// largest recent burst of takes had, where there is room. The error is that of the start, [sandbox.ErrClosed], or the cause of ctx's end.
func (p *Pool[I]) Take(ctx context.Context, spec *Spec[I], want int) (I, error) {
	var none I
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return none, sandbox.ErrClosed
	}
	b := p.bucket(spec)
	b.target = p.target(b, want)
	p.outdate(b)
	i, found := p.pop(b)
	p.limits.Taken(found)
	if found {
		p.scheduleRefill(b)
		p.mu.Unlock()
		return i, nil
	}
	w := &waiter[I]{make(chan taken[I], 1)}
	b.waiters = append(b.waiters, w)
	p.start(b, w)
	p.mu.Unlock()

	select {
	case r := <-w.got:
		if r.err == nil {
			p.mu.Lock()
			b.bursts.last = time.Now() // the wait is no pause of the taker's
			p.scheduleRefill(b)
			p.mu.Unlock()
		}
		return r.instance, r.err
	case <-ctx.Done():
		p.abandon(b, w)
		return none, context.Cause(ctx)
	}
}

// target returns how many instances of b are to wait after a take.
func (p *Pool[I]) target(b *bucket[I], want int) int {
	burst := b.bursts.take(time.Now(), p.pause, p.limits.Idle)
	b.learnt = want == 0
	switch {
	case p.limits.Max < 0 || want < 0:
		return 0
	case want > 0:
		return want
	}
	return burst
}

// Forget drops the waiting instances of a group. It reports whether there were some, or
// some to come.
func (p *Pool[I]) Forget(group string) (some bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.buckets {
		if b.spec.Group == group {
			some = some || b.target > 0
			b.target = 0
			p.trim(b)
		}
	}
	return some
}

// Prepare begins to make instances of spec ready for the next take: as many as want says,
// one for 0, and none where it is negative.
func (p *Pool[I]) Prepare(spec *Spec[I], want int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.limits.Max < 0 || want < 0 {
		return
	}
	b := p.bucket(spec)
	b.target, b.learnt = cmp.Or(want, 1), want == 0
	p.outdate(b)
	p.refill(b)
}

// Close drops the waiting instances, and the starting ones when they are ready. No Take
// may be under way.
func (p *Pool[I]) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		close(p.stop)
	}
	p.closed = true
	for _, b := range p.buckets {
		b.target = 0
		p.trim(b)
	}
}

// Waiting returns how many instances wait.
func (p *Pool[I]) Waiting() (count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.buckets {
		count += len(b.ready)
	}
	return count
}

// Wait returns when nothing of a closed pool is under way.
func (p *Pool[I]) Wait() { p.work.Wait() }

// bucket returns the bucket of spec.
func (p *Pool[I]) bucket(spec *Spec[I]) *bucket[I] {
	b := p.buckets[spec.Key]
	if b == nil {
		b = &bucket[I]{spec: spec}
		p.buckets[spec.Key] = b
	}
	p.clock++
	b.used = p.clock
	return b
}

// outdate drops the waiting instances in the group of now with another version.
func (p *Pool[I]) outdate(now *bucket[I]) {
	for _, b := range p.buckets {
		if b != now && b.spec.Group == now.spec.Group && b.spec.Version != now.spec.Version {
			b.target = 0
			p.trim(b)
		}
	}
}

// pop takes the instance that has waited the longest.
func (p *Pool[I]) pop(b *bucket[I]) (i I, found bool) {
	for len(b.ready) > 0 {
		i = b.ready[0].instance
		p.remove(b, i)
		if !i.Ended() {
			return i, true
		}
		i.Discard()
	}
	var none I
	return none, false
}

// scheduleRefill schedules a refill: after the delay, or, where others wait, when no take
// has come for a while.
func (p *Pool[I]) scheduleRefill(b *bucket[I]) {
	b.refills++
	p.work.Go(func() {
		p.sleep(p.delay)
		p.mu.Lock()
		defer p.mu.Unlock()
		for {
			rest := p.quiet - time.Since(b.bursts.last)
			if p.closed || len(b.ready) == 0 || rest <= 0 {
				break
			}
			p.mu.Unlock()
			p.sleep(rest)
			p.mu.Lock()
		}
		b.refills--
		p.refill(b)
		p.tidy(b)
	})
}

// sleep waits for a time, or for Close.
func (p *Pool[I]) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.stop:
	}
}

// refill starts missing instances, one at a time: a burst of takes needs the machine more
// than those to come do.
func (p *Pool[I]) refill(b *bucket[I]) {
	if p.closed || b.starting > 0 || len(b.waiters) > 0 || len(b.ready) >= b.target {
		return
	}
	if b.learnt && len(b.ready) > 0 && p.buckets.crowded(p.limits) {
		return
	}
	if current := p.buckets[b.spec.Key]; current == nil {
		p.buckets[b.spec.Key] = b // it was tidied away meanwhile
	} else if current != b {
		return
	}
	p.start(b, nil)
}

// start starts an instance, on behalf of w if it is not nil.
func (p *Pool[I]) start(b *bucket[I], w *waiter[I]) {
	b.starting++
	p.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		i, err := b.spec.Start(ctx, func(i I) { p.ended(b, i) })
		p.mu.Lock()
		defer p.mu.Unlock()
		b.starting--
		if err != nil {
			p.fail(b, w, err)
			return
		}
		p.offer(b, i)
	})
}

// fail passes the error of a start on to the waiter that it was for, or, where another
// instance has served that one, to the one that has waited the longest and has nothing
// on its way.
func (p *Pool[I]) fail(b *bucket[I], w *waiter[I], err error) {
	i := slices.Index(b.waiters, w)
	if i < 0 && len(b.waiters) > b.starting {
		i = 0
	}
	if i >= 0 {
		b.waiters[i].got <- taken[I]{err: err}
		b.waiters = slices.Delete(b.waiters, i, i+1)
	}
	p.tidy(b)
}

// offer gives an instance to the first waiter, or has it wait.
func (p *Pool[I]) offer(b *bucket[I], i I) {
	if len(b.waiters) > 0 {
		w := b.waiters[0]
		b.waiters = b.waiters[1:]
		w.got <- taken[I]{instance: i}
		return
	}
	if i.Ended() { // at once, as another would
		i.Discard()
		p.tidy(b)
		return
	}
	b.ready = append(b.ready, idle[I]{i, time.AfterFunc(p.limits.Idle, func() { p.expire(b, i) })})
	p.trim(b)
	if len(b.ready) < b.target {
		p.scheduleRefill(b)
	}
}

// trim drops the excess: of b above its target, of all above the limits.
func (p *Pool[I]) trim(b *bucket[I]) {
	for len(b.ready) > b.target {
		p.dropFirst(b)
	}
	for p.buckets.full(p.limits) {
		excess := p.buckets.excess()
		excess.target = min(excess.target, len(excess.ready)-1)
		p.dropFirst(excess)
	}
	p.tidy(b)
}

func (p *Pool[I]) dropFirst(b *bucket[I]) {
	i := b.ready[0].instance
	p.remove(b, i)
	i.Discard()
	p.tidy(b)
}

// tidy deletes a bucket that nobody needs.
func (p *Pool[I]) tidy(b *bucket[I]) {
	if len(b.ready) == 0 && b.refills == 0 && b.starting == 0 && len(b.waiters) == 0 && p.buckets[b.spec.Key] == b {
		delete(p.buckets, b.spec.Key)
	}
}

// abandon ends a waiter's wait. An instance that has come at the same moment is for the
// next.
func (p *Pool[I]) abandon(b *bucket[I], w *waiter[I]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(b.waiters, w); i >= 0 {
		b.waiters = slices.Delete(b.waiters, i, i+1)
		return
	}
	if r := <-w.got; r.err == nil {
		if p.closed || p.buckets[b.spec.Key] != b { // nobody would find it
			r.instance.Discard()
			return
		}
		p.offer(b, r.instance)
	}
}

// expire drops an instance that has waited for too long.
func (p *Pool[I]) expire(b *bucket[I], i I) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.remove(b, i) {
		b.target = 0
		i.Discard()
	}
	p.tidy(b)
}

// ended drops an instance that has ended while it waited.
func (p *Pool[I]) ended(b *bucket[I], i I) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.remove(b, i) {
		i.Discard()
	}
	p.tidy(b)
}

// remove removes i from those that wait, and reports whether it was there.
func (p *Pool[I]) remove(b *bucket[I], i I) bool {
	at := slices.IndexFunc(b.ready, func(entry idle[I]) bool { return entry.instance == i })
	if at < 0 {
		return false
	}
	b.ready[at].timer.Stop()
	b.ready = slices.Delete(b.ready, at, at+1)
	return true
}
