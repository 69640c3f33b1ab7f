package docker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A Pool bounds the containers that wait for commands. A zero field means the
// default.
type Pool struct {
	Max    int           // containers; 8 by default, and none where it is negative
	Memory int64         // bytes that they hold together; 1 GiB by default
	Idle   time.Duration // how long one waits at the most; 5 minutes by default
}

// or fills in the defaults.
func (p Pool) or() Pool {
	return Pool{cmp.Or(p.Max, 8), cmp.Or(p.Memory, 1<<30), cmp.Or(p.Idle, 5*time.Minute)}
}

// pool has containers that wait for a command, each for one only.
//
// Whoever needs one takes one that waits. Where none does, one is started for
// them; whichever is ready first serves whoever has waited the longest.
type pool struct {
	limits Pool
	make   func(ctx context.Context, e *engine, s *spec, ended func(*box)) (*box, error)
	drop   func(*box)          // discards a container
	weigh  func(*box) int64    // bytes of memory that a waiting container holds
	pause  func(time.Duration) // waits, but not for long after Close
	spawn  func(func())        // runs a function in the background

	mu      sync.Mutex
	closed  bool
	clock   int64 // counts takes
	shelves map[shelfKey]*shelf
}

// A shelfKey is what containers on a shelf have in common.
type shelfKey struct {
	engine *engine
	spec   string
}

// A shelf has the containers that are alike.
type shelf struct {
	key    shelfKey
	engine *engine
	spec   *spec
	want   int   // how many are to wait
	used   int64 // the clock when one was last taken

	ready    []*parked
	soon     int // times that somebody will look whether some are missing
	starting int // containers on their way
	waiting  []*taker
}

// A parked container waits for a command.
type parked struct {
	box    *box
	memory int64
	timer  *time.Timer
}

// A taker waits for a container.
type taker struct{ got chan taken }

type taken struct {
	box *box
	err error
}

// take returns a container of spec, for one command, and sees to it that others
// are ready for the next. want is how many; a negative number is none.
func (p *pool) take(ctx context.Context, e *engine, spec *spec, want int) (*box, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, sandbox.ErrClosed
	}
	s := p.shelf(e, spec)
	s.want = max(0, cmp.Or(want, 1))
	if p.limits.Max < 0 {
		s.want = 0
	}
	p.outdate(s)
	if b := p.pop(s); b != nil {
		p.refillSoon(s)
		p.mu.Unlock()
		return b, nil
	}
	t := &taker{make(chan taken, 1)}
	s.waiting = append(s.waiting, t)
	p.start(s, t)
	p.mu.Unlock()

	select {
	case r := <-t.got:
		if r.err == nil {
			p.mu.Lock()
			p.refillSoon(s)
			p.mu.Unlock()
		}
		return r.box, r.err
	case <-ctx.Done():
		p.leave(s, t)
		return nil, context.Cause(ctx)
	}
}

// shelf returns the shelf of containers like spec.
func (p *pool) shelf(e *engine, spec *spec) *shelf {
	key := shelfKey{e, spec.key()}
	s := p.shelves[key]
	if s == nil {
		s = &shelf{key: key, engine: e, spec: spec}
		p.shelves[key] = s
	}
	p.clock++
	s.used = p.clock
	return s
}

// outdate drops what waits for the same skill as it was before: with another
// folder, image or engine.
func (p *pool) outdate(now *shelf) {
	for _, s := range p.shelves {
		same := s.spec.config.Labels[labelSkill] == now.spec.config.Labels[labelSkill]
		if s == now || !same || s.engine == now.engine && s.spec.config.Image == now.spec.config.Image && s.spec.folder() == now.spec.folder() {
			continue
		}
		s.want = 0
		p.trim(s)
	}
}

// pop takes the container that has waited the longest.
func (p *pool) pop(s *shelf) *box {
	for len(s.ready) > 0 {
		b := s.ready[0].box
		p.unpark(s, b)
		if !b.streams.over() {
			return b
		}
		p.drop(b)
	}
	return nil
}

// refillPause is how long the next container waits for the call that has taken
// one: most have ended by then, and starting one beside a call makes it slower.
const refillPause = 20 * time.Millisecond

// refillSoon starts what is missing in a moment.
func (p *pool) refillSoon(s *shelf) {
	s.soon++
	p.spawn(func() {
		p.pause(refillPause)
		p.mu.Lock()
		defer p.mu.Unlock()
		s.soon--
		p.refill(s)
		p.tidy(s)
	})
}

// refill starts what is missing, one at a time: a burst of calls needs the
// machine more than those to come do.
func (p *pool) refill(s *shelf) {
	if p.closed || s.starting > 0 || len(s.waiting) > 0 || len(s.ready) >= s.want {
		return
	}
	if current := p.shelves[s.key]; current == nil {
		p.shelves[s.key] = s // it was tidied away meanwhile
	} else if current != s {
		return
	}
	p.start(s, nil)
}

// start starts a container, on behalf of t if it is not nil.
func (p *pool) start(s *shelf, t *taker) {
	s.starting++
	p.spawn(func() {
		ctx, cancel := context.WithTimeout(context.Background(), makeTimeout)
		defer cancel()
		b, err := p.make(ctx, s.engine, s.spec, func(b *box) { p.ended(s, b) })
		p.mu.Lock()
		defer p.mu.Unlock()
		s.starting--
		if err != nil {
			p.fail(s, t, err)
			return
		}
		p.offer(s, b)
	})
}

// fail tells one who waits that there is no container: whoever it was started
// for, or, where another one has served them, whoever has waited the longest
// and has nothing on its way.
func (p *pool) fail(s *shelf, t *taker, err error) {
	i := slices.Index(s.waiting, t)
	if i < 0 && len(s.waiting) > s.starting {
		i = 0
	}
	if i >= 0 {
		s.waiting[i].got <- taken{err: err}
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	p.tidy(s)
}

// offer gives b to whoever has waited the longest, or parks it.
func (p *pool) offer(s *shelf, b *box) {
	if len(s.waiting) > 0 {
		t := s.waiting[0]
		s.waiting = s.waiting[1:]
		t.got <- taken{box: b}
		return
	}
	if b.streams.over() { // it has ended at once, as another would
		p.drop(b)
		p.tidy(s)
		return
	}
	parked := &parked{box: b, timer: time.AfterFunc(p.limits.Idle, func() { p.expire(s, b) })}
	s.ready = append(s.ready, parked)
	p.trim(s)
	p.weighLater(s, parked)
	p.refill(s)
}

// weighLater finds out how much a parked container holds, and makes room where
// that is too much.
func (p *pool) weighLater(s *shelf, b *parked) {
	p.spawn(func() {
		memory := p.weigh(b.box)
		p.mu.Lock()
		defer p.mu.Unlock()
		b.memory = memory
		p.trim(s)
	})
}

// trim drops what is too much: of s more than it wants, of all more than the
// pool may hold. What was used the longest ago goes first.
func (p *pool) trim(s *shelf) {
	for len(s.ready) > s.want {
		p.dropFirst(s)
	}
	for p.full() {
		var oldest *shelf
		for _, other := range p.shelves {
			if len(other.ready) > 0 && (oldest == nil || other.used < oldest.used) {
				oldest = other
			}
		}
		oldest.want = min(oldest.want, len(oldest.ready)-1)
		p.dropFirst(oldest)
	}
	p.tidy(s)
}

// full reports whether more waits than may.
func (p *pool) full() bool {
	count, memory := 0, int64(0)
	for _, s := range p.shelves {
		for _, b := range s.ready {
			count++
			memory += b.memory
		}
	}
	return count > max(0, p.limits.Max) || count > 0 && memory > p.limits.Memory
}

func (p *pool) dropFirst(s *shelf) {
	b := s.ready[0].box
	p.unpark(s, b)
	p.drop(b)
	p.tidy(s)
}

// tidy forgets a shelf that nobody needs.
func (p *pool) tidy(s *shelf) {
	if len(s.ready) == 0 && s.soon == 0 && s.starting == 0 && len(s.waiting) == 0 && p.shelves[s.key] == s {
		delete(p.shelves, s.key)
	}
}

// leave gives up waiting. A container that has come at the same moment is for
// the next.
func (p *pool) leave(s *shelf, t *taker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(s.waiting, t); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		return
	}
	if r := <-t.got; r.box != nil {
		if p.closed || p.shelves[s.key] != s { // nobody would find it
			p.drop(r.box)
			return
		}
		p.offer(s, r.box)
	}
}

// expire drops a container that nobody came for.
func (p *pool) expire(s *shelf, b *box) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unpark(s, b) {
		s.want = 0
		p.drop(b)
	}
	p.tidy(s)
}

// ended drops a container that has ended while it waited.
func (p *pool) ended(s *shelf, b *box) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unpark(s, b) {
		p.drop(b)
	}
	p.tidy(s)
}

// unpark takes b off its shelf, and reports whether it was there.
func (p *pool) unpark(s *shelf, b *box) bool {
	i := slices.IndexFunc(s.ready, func(r *parked) bool { return r.box == b })
	if i < 0 {
		return false
	}
	s.ready[i].timer.Stop()
	s.ready = slices.Delete(s.ready, i, i+1)
	return true
}

// forget drops what waits for a skill.
func (p *pool) forget(skill string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.shelves {
		if s.spec.config.Labels[labelSkill] == skill {
			s.want = 0
			p.trim(s)
		}
	}
}

// close drops everything. What is still being started is dropped when it is
// ready: nobody waits for it any more.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.shelves {
		s.want = 0
		p.trim(s)
	}
}
