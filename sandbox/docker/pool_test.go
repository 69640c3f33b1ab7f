package docker

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A stable is a pool whose boxes are made by hand, and counted. It is used in a
// bubble of synctest.
type stable struct {
	*pool
	t *testing.T
	e *engine

	mu      sync.Mutex
	manual  bool // makings wait for the test
	making  []*making
	made    []*box
	ends    map[*box]func() // what a box does when it ends by itself
	given   map[*box]int
	dropped map[*box]int
	memory  int64 // of every box
}

// A making is of one box: it waits for what comes of it.
type making struct {
	spec  *spec
	ended func(*box)
	fails chan error
}

// newStable returns one that is closed when the test of the bubble ends it.
func newStable(t *testing.T, limits Pool) *stable {
	s := &stable{t: t, e: &engine{}, ends: map[*box]func(){}, given: map[*box]int{}, dropped: map[*box]int{}}
	s.pool = &pool{
		limits:  limits.or(),
		make:    s.makeOne,
		drop:    s.dropOne,
		weigh:   s.weighOne,
		pause:   func(time.Duration) {},
		spawn:   func(do func()) { go do() },
		shelves: map[shelfKey]*shelf{},
	}
	return s
}

func (s *stable) makeOne(_ context.Context, e *engine, spec *spec, ended func(*box)) (*box, error) {
	s.mu.Lock()
	m := &making{spec, ended, make(chan error, 1)}
	if s.manual {
		s.making = append(s.making, m)
	} else {
		m.fails <- nil
	}
	s.mu.Unlock()
	if err := <-m.fails; err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &box{engine: e, id: fmt.Sprintf("c%d", len(s.made)+1), streams: &streams{copied: make(chan struct{})}}
	s.made = append(s.made, b)
	s.ends[b] = sync.OnceFunc(func() {
		close(b.streams.copied)
		ended(b)
	})
	return b, nil
}

func (s *stable) dropOne(b *box) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped[b]++; s.dropped[b] > 1 {
		s.t.Errorf("%s is dropped %d times", b.id, s.dropped[b])
	}
}

func (s *stable) weighOne(*box) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory
}

// finish ends a making that waits, the i-th, and lets everything settle.
func (s *stable) finish(i int, err error) {
	s.t.Helper()
	s.mu.Lock()
	m := s.making[i]
	s.making = slices.Delete(s.making, i, i+1)
	s.mu.Unlock()
	m.fails <- err
	synctest.Wait()
}

func (s *stable) makings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.making)
}

// took notes that b was given to somebody. No box is given twice, nor when it
// was dropped.
func (s *stable) took(b *box) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[b]++
	if s.given[b] > 1 || s.dropped[b] > 0 {
		s.t.Errorf("%s is given %d times, and dropped %d times", b.id, s.given[b], s.dropped[b])
	}
}

// must takes a box, as a run does, and lets everything settle.
func (s *stable) must(spec *spec, want int) *box {
	s.t.Helper()
	b, err := s.take(s.t.Context(), s.e, spec, want)
	if err != nil {
		s.t.Fatal(err)
	}
	s.took(b)
	s.drop(b) // its command has ended
	synctest.Wait()
	return b
}

// A result is what a taker got.
type result struct {
	box *box
	err error
}

// ask takes a box in the background.
func (s *stable) ask(ctx context.Context, spec *spec, want int) <-chan result {
	got := make(chan result, 1)
	go func() {
		b, err := s.take(ctx, s.e, spec, want)
		if b != nil {
			s.took(b)
			s.drop(b)
		}
		got <- result{b, err}
	}()
	synctest.Wait()
	return got
}

// parked returns how many boxes wait for commands like those of spec.
func (s *stable) parked(spec *spec) int {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if shelf := s.shelves[shelfKey{s.e, spec.key()}]; shelf != nil {
		return len(shelf.ready)
	}
	return 0
}

func (s *stable) wantParked(spec *spec, want int) {
	s.t.Helper()
	if got := s.parked(spec); got != want {
		s.t.Errorf("%d wait, want %d", got, want)
	}
}

// end closes the pool: in the end every box that was made was dropped once.
func (s *stable) end() {
	s.t.Helper()
	synctest.Wait()
	s.close()
	for s.makings() > 0 {
		s.finish(0, nil)
	}
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.made {
		if s.dropped[b] != 1 {
			s.t.Errorf("%s is dropped %d times", b.id, s.dropped[b])
		}
	}
	if len(s.shelves) > 0 {
		s.t.Errorf("%d shelves are left", len(s.shelves))
	}
	if _, err := s.take(s.t.Context(), s.e, like("skill"), 1); !errors.Is(err, sandbox.ErrClosed) {
		s.t.Errorf("error %v, want %v", err, sandbox.ErrClosed)
	}
}

// like returns the spec of a skill's containers, with an image and a folder.
func like(skill string, other ...string) *spec {
	image, folder := "image", "/folder/"+skill
	if len(other) > 0 {
		image = other[0]
	}
	if len(other) > 1 {
		folder = other[1]
	}
	return &spec{
		config: &container.Config{Image: image, Labels: map[string]string{labelSkill: skill}},
		host:   &container.HostConfig{Mounts: []mount.Mount{bind(folder, sandbox.SkillDir, false)}},
	}
}

// bubble runs a test on a pool of its own.
func bubble(t *testing.T, limits Pool, test func(t *testing.T, s *stable)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStable(t, limits)
		test(t, s)
		s.end()
	})
}

func TestPoolReady(t *testing.T) {
	for _, test := range []struct{ want, ready int }{{0, 1}, {1, 1}, {3, 3}, {-1, 0}} {
		t.Run(fmt.Sprint(test.want), func(t *testing.T) {
			bubble(t, Pool{}, func(t *testing.T, s *stable) {
				for round := range 3 {
					b := s.must(like("skill"), test.want)
					s.wantParked(like("skill"), test.ready)
					// Those that wait are taken in the order in which they were made.
					if want := fmt.Sprintf("c%d", round+1); b.id != want {
						t.Errorf("got %s, want %s", b.id, want)
					}
					if made := len(s.made); made != 1+round+test.ready {
						t.Errorf("%d were made", made)
					}
				}
			})
		})
	}
}

func TestPoolNone(t *testing.T) {
	bubble(t, Pool{Max: -1}, func(t *testing.T, s *stable) {
		for range 2 {
			s.must(like("skill"), 4)
			s.wantParked(like("skill"), 0)
		}
		if len(s.made) != 2 {
			t.Errorf("%d were made", len(s.made))
		}
	})
}

// A want that has become smaller counts.
func TestPoolWantLess(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		s.must(like("skill"), 4)
		s.wantParked(like("skill"), 4)
		s.must(like("skill"), 2)
		s.must(like("skill"), 2)
		s.wantParked(like("skill"), 2)
		s.must(like("skill"), -1)
		s.must(like("skill"), -1)
		s.wantParked(like("skill"), 0)
	})
}

// Containers that are not alike do not stand in for each other.
func TestPoolNotAlike(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		a := like("skill")
		b := like("skill")
		b.host.Memory = 1 << 20
		s.must(a, 1)
		if got := s.must(b, 1); got.id != "c3" {
			t.Errorf("got %s, want one of its own", got.id)
		}
		s.wantParked(a, 1)
		s.wantParked(b, 1)
	})
}

// Whoever has waited the longest gets what is ready first, whoever it was
// started for.
func TestPoolOrder(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		s.manual = true
		first, second := s.ask(t.Context(), like("skill"), 1), s.ask(t.Context(), like("skill"), 1)
		s.finish(1, nil) // the second's
		select {
		case r := <-first:
			if r.err != nil {
				t.Error(r.err)
			}
		case <-second:
			t.Error("the second was served first")
		}
		s.finish(0, nil)
		if r := <-second; r.err != nil {
			t.Error(r.err)
		}
		if s.makings() != 1 { // for the next
			t.Errorf("%d are being made", s.makings())
		}
	})
}

// A failure is told once, to somebody who would else wait forever.
func TestPoolFailure(t *testing.T) {
	failure := errors.New("no engine")
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		s.manual = true
		var asked []<-chan result
		for range 3 {
			asked = append(asked, s.ask(t.Context(), like("skill"), 1))
		}
		s.finish(2, nil)     // serves the first
		s.finish(0, failure) // the first's own
		s.finish(0, nil)     // the second's own
		var errs []error
		for _, got := range asked {
			errs = append(errs, (<-got).err)
		}
		if errs[0] != nil || errs[1] != nil && errs[2] != nil || errs[1] == nil && errs[2] == nil {
			t.Errorf("errors %v, want one, and not the first's", errs)
		}
	})
}

// A start for nobody in particular that fails is nobody's failure, while what
// they wait for is on its way.
func TestPoolRefillFails(t *testing.T) {
	failure := errors.New("no engine")
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		s.manual = true
		first := s.ask(t.Context(), like("skill"), 1)
		s.finish(0, nil)
		<-first
		second := s.ask(t.Context(), like("skill"), 1) // beside the refill
		if s.makings() != 2 {
			t.Fatalf("%d are being made", s.makings())
		}
		s.finish(0, failure)
		s.finish(0, nil)
		if r := <-second; r.err != nil {
			t.Error(r.err)
		}
	})
}

// Whoever gives up takes nothing along: the container is for the next.
func TestPoolGivenUp(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		s.manual = true
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("gave up")
		gone := s.ask(ctx, like("skill"), 1)
		stays := s.ask(t.Context(), like("skill"), 1)
		cancel(cause)
		if r := <-gone; !errors.Is(r.err, cause) {
			t.Errorf("error %v, want %v", r.err, cause)
		}
		s.finish(0, nil) // the one's who is gone
		if r := <-stays; r.err != nil {
			t.Error(r.err)
		}
		s.finish(0, nil)
		s.wantParked(like("skill"), 1)
	})
}

// leaves makes a taker give up at the moment when it was given a box, and do
// something before it has noticed.
func (s *stable) leaves(spec *spec, meanwhile func()) {
	s.t.Helper()
	s.manual = true
	s.pool.mu.Lock()
	shelf := s.shelf(s.e, spec)
	shelf.want = 1
	t := &taker{make(chan taken, 1)}
	shelf.waiting = append(shelf.waiting, t)
	s.start(shelf, t)
	s.pool.mu.Unlock()
	synctest.Wait()
	s.finish(0, nil)
	meanwhile()
	s.leave(shelf, t)
	synctest.Wait()
}

func TestPoolGivenUpTooLate(t *testing.T) {
	t.Run("parked", func(t *testing.T) {
		bubble(t, Pool{}, func(t *testing.T, s *stable) {
			s.leaves(like("skill"), func() {})
			s.wantParked(like("skill"), 1)
		})
	})
	t.Run("forgotten", func(t *testing.T) {
		bubble(t, Pool{}, func(t *testing.T, s *stable) {
			s.leaves(like("skill"), func() { s.forget("skill") })
		})
	})
	t.Run("all others have ended", func(t *testing.T) {
		bubble(t, Pool{}, func(t *testing.T, s *stable) {
			s.leaves(like("skill"), func() {
				other := s.ask(t.Context(), like("skill"), 1)
				s.finish(0, nil)
				<-other
				s.finish(0, nil)
				s.ends[s.made[2]]()
			})
		})
	})
	t.Run("changed", func(t *testing.T) {
		bubble(t, Pool{}, func(t *testing.T, s *stable) {
			s.leaves(like("skill"), func() {
				other := s.ask(t.Context(), like("skill", "image", "/changed"), 1)
				s.finish(0, nil)
				<-other
			})
			s.wantParked(like("skill"), 0)
		})
	})
	t.Run("closed", func(t *testing.T) {
		bubble(t, Pool{}, func(t *testing.T, s *stable) {
			s.leaves(like("skill"), s.close)
		})
	})
}

// The pool holds so many, and what was used the longest ago goes first.
func TestPoolMax(t *testing.T) {
	bubble(t, Pool{Max: 3}, func(t *testing.T, s *stable) {
		for _, skill := range []string{"a", "b", "c", "a", "d"} {
			s.must(like(skill), 1)
		}
		for skill, want := range map[string]int{"a": 1, "b": 0, "c": 1, "d": 1} {
			if got := s.parked(like(skill)); got != want {
				t.Errorf("%s: %d wait, want %d", skill, got, want)
			}
		}
	})
}

// A skill that wants more than there may be gets what there may be, and does not
// start others over and over.
func TestPoolMaxOfOne(t *testing.T) {
	bubble(t, Pool{Max: 2}, func(t *testing.T, s *stable) {
		s.must(like("a"), 100)
		s.wantParked(like("a"), 2)
		if len(s.made) > 5 {
			t.Errorf("%d were made", len(s.made))
		}
	})
}

func TestPoolMemory(t *testing.T) {
	bubble(t, Pool{Memory: 10 << 20}, func(t *testing.T, s *stable) {
		s.memory = 4 << 20
		for _, skill := range []string{"a", "b", "c"} {
			s.must(like(skill), 1)
		}
		for skill, want := range map[string]int{"a": 0, "b": 1, "c": 1} {
			if got := s.parked(like(skill)); got != want {
				t.Errorf("%s: %d wait, want %d", skill, got, want)
			}
		}
	})
}

// A container that is too heavy on its own does not wait, and is not started
// anew all the time.
func TestPoolTooHeavy(t *testing.T) {
	bubble(t, Pool{Memory: 1 << 20}, func(t *testing.T, s *stable) {
		s.memory = 2 << 20
		s.must(like("a"), 1)
		s.wantParked(like("a"), 0)
		if len(s.made) != 2 {
			t.Errorf("%d were made", len(s.made))
		}
	})
}

func TestPoolIdle(t *testing.T) {
	bubble(t, Pool{Idle: time.Minute}, func(t *testing.T, s *stable) {
		s.must(like("a"), 2)
		time.Sleep(time.Minute - time.Second)
		synctest.Wait()
		s.wantParked(like("a"), 2)
		s.must(like("a"), 2) // makes one that is younger
		time.Sleep(time.Second)
		synctest.Wait()
		if made := len(s.made); made != 4 {
			t.Errorf("%d were made", made)
		}
		s.wantParked(like("a"), 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		s.wantParked(like("a"), 0)
		if len(s.shelves) > 0 || len(s.made) != 4 {
			t.Errorf("%d shelves, %d were made", len(s.shelves), len(s.made))
		}
		s.must(like("a"), 1)
		s.wantParked(like("a"), 1)
	})
}

// What waits for a skill as it was before is of no use.
func TestPoolOutdated(t *testing.T) {
	for name, changed := range map[string]*spec{
		"folder": like("skill", "image", "/changed"),
		"image":  like("skill", "changed"),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Pool{}, func(t *testing.T, s *stable) {
				s.must(like("skill"), 2)
				s.must(like("other"), 1)
				s.must(changed, 1)
				s.wantParked(like("skill"), 0)
				s.wantParked(like("other"), 1)
				s.wantParked(changed, 1)
			})
		})
	}
	t.Run("on its way", func(t *testing.T) {
		bubble(t, Pool{}, func(t *testing.T, s *stable) {
			s.manual = true
			old := s.ask(t.Context(), like("skill"), 1)
			s.finish(0, nil) // another is being made
			<-old
			now := s.ask(t.Context(), like("skill", "image", "/changed"), 1)
			s.finish(0, nil)
			s.wantParked(like("skill"), 0)
			s.finish(0, nil)
			<-now
		})
	})
	t.Run("engine", func(t *testing.T) {
		bubble(t, Pool{}, func(t *testing.T, s *stable) {
			s.must(like("skill"), 1)
			old := s.e
			s.e = &engine{}
			if b := s.must(like("skill"), 1); b.engine != s.e {
				t.Error("got a container of the engine that is gone")
			}
			for key := range s.shelves {
				if key.engine == old {
					t.Error("containers of the engine that is gone wait")
				}
			}
		})
	})
}

func TestPoolForget(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		s.must(like("skill"), 2)
		s.must(like("other"), 1)
		s.forget("skill")
		s.wantParked(like("skill"), 0)
		s.wantParked(like("other"), 1)
		s.must(like("skill"), 2)
		s.wantParked(like("skill"), 2)
	})
}

// A container that ends while it waits is not given to anybody.
func TestPoolEnded(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		s.must(like("skill"), 2)
		s.ends[s.made[1]]()
		s.wantParked(like("skill"), 1)
		close(s.made[2].streams.copied) // nobody has been told yet
		if b := s.must(like("skill"), 1); b.id != "c4" {
			t.Errorf("got %s, want one that lives", b.id)
		}
		s.wantParked(like("skill"), 1)
	})
}

// One that has ended before it came to wait takes nobody's place.
func TestPoolEndedAtOnce(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		made := s.pool.make
		s.pool.make = func(ctx context.Context, e *engine, spec *spec, ended func(*box)) (*box, error) {
			b, err := made(ctx, e, spec, ended)
			s.ends[b]()
			return b, err
		}
		s.must(like("skill"), 1)
		s.wantParked(like("skill"), 0)
		if len(s.made) > 2 {
			t.Errorf("%d were made that all end at once", len(s.made))
		}
	})
}

func TestPoolCloseWhileStarting(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		s.must(like("parked"), 2)
		s.manual = true
		ctx, cancel := context.WithCancel(t.Context())
		asked := s.ask(ctx, like("a"), 1)
		other := s.ask(ctx, like("b"), 2)
		cancel() // as Close does, before it closes the pool
		<-asked
		<-other
		s.close()
		if s.makings() != 2 {
			t.Errorf("%d are being made", s.makings())
		}
	})
}

// No container is given to two of many takers at once.
func TestPoolConcurrent(t *testing.T) {
	bubble(t, Pool{}, func(t *testing.T, s *stable) {
		var takers sync.WaitGroup
		for i := range 8 {
			takers.Go(func() {
				for j := range 50 {
					b, err := s.take(t.Context(), s.e, like(fmt.Sprint(j%3)), 1+i%3)
					if err != nil {
						t.Error(err)
						return
					}
					s.took(b)
					s.drop(b)
				}
			})
		}
		takers.Wait()
		synctest.Wait()
		if len(s.given) != 8*50 {
			t.Errorf("%d were given", len(s.given))
		}
	})
}

// TestPoolRandom does anything in any order: nobody waits forever, nothing is
// given twice or lost, and the bounds hold.
func TestPoolRandom(t *testing.T) {
	for seed := range int64(200) {
		bubble(t, Pool{Max: 3, Memory: 10 << 20, Idle: time.Minute}, func(t *testing.T, s *stable) {
			(&chaos{stable: s, random: rand.New(rand.NewSource(seed))}).run()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
		if t.Failed() {
			return
		}
	}
}

type chaos struct {
	*stable
	random *rand.Rand
	asked  []<-chan result
	cancel []context.CancelFunc
}

func (c *chaos) run() {
	c.manual = true
	for range 100 {
		c.step()
		if c.random.Intn(3) > 0 { // else the next comes before this has settled
			synctest.Wait()
			c.check()
		}
	}
	synctest.Wait()
	for c.makings() > 0 {
		c.finish(0, nil)
	}
	for i, got := range c.asked {
		select {
		case <-got:
		default:
			c.t.Errorf("the taker %d waits for what never comes", i)
		}
	}
	for _, cancel := range c.cancel {
		cancel()
	}
}

func (c *chaos) step() {
	spec := like(fmt.Sprint(c.random.Intn(3)), "image", fmt.Sprint("/folder/", c.random.Intn(2)))
	switch c.random.Intn(9) {
	case 0, 1, 2:
		ctx, cancel := context.WithCancel(c.t.Context())
		got := make(chan result, 1)
		want := c.random.Intn(5) - 1
		go func() {
			b, err := c.take(ctx, c.e, spec, want)
			if b != nil {
				c.took(b)
				c.drop(b)
			}
			got <- result{b, err}
		}()
		c.asked, c.cancel = append(c.asked, got), append(c.cancel, cancel)
	case 3, 4, 5:
		c.answer()
	case 6:
		if len(c.cancel) > 0 {
			c.cancel[c.random.Intn(len(c.cancel))]()
		}
	case 7:
		c.forget(fmt.Sprint(c.random.Intn(3)))
	case 8:
		c.pass()
	}
}

// answer ends a making, and does not wait for what follows.
func (c *chaos) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory = c.random.Int63n(6 << 20)
	if len(c.making) == 0 {
		return
	}
	i := c.random.Intn(len(c.making))
	m := c.making[i]
	c.making = slices.Delete(c.making, i, i+1)
	if c.random.Intn(4) == 0 {
		m.fails <- errors.New("no luck")
	} else {
		m.fails <- nil
	}
}

// pass lets time pass, or a box end.
func (c *chaos) pass() {
	c.mu.Lock()
	var end func()
	if len(c.made) > 0 {
		end = c.ends[c.made[c.random.Intn(len(c.made))]]
	}
	c.mu.Unlock()
	if end != nil && c.random.Intn(2) == 0 {
		end()
		return
	}
	time.Sleep(time.Duration(c.random.Intn(40)) * time.Second)
}

func (c *chaos) check() {
	c.t.Helper()
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if c.full() {
		c.t.Error("more waits than may")
	}
	for _, s := range c.shelves {
		if len(s.waiting) > s.starting {
			c.t.Errorf("%d wait, and %d are on their way", len(s.waiting), s.starting)
		}
		if len(s.waiting) > 0 && len(s.ready) > 0 {
			c.t.Errorf("%d wait, and %d are ready", len(s.waiting), len(s.ready))
		}
	}
}
