package warmpool

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

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is an instance that counts its calls.
type fake struct {
	id    string
	s     *stable
	ended bool   // under the stable's mutex
	end   func() // ends it by itself, and tells the pool
}

func (f *fake) Ended() bool {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return f.ended
}

func (f *fake) Discard() {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.s.dropped[f]++; f.s.dropped[f] > 1 {
		f.s.t.Errorf("%s is discarded %d times", f.id, f.s.dropped[f])
	}
}

// A stable is a pool whose instances are made by hand, and counted. It is used in a
// bubble of synctest.
type stable struct {
	*Pool[*fake]
	t *testing.T

	mu      sync.Mutex
	manual  bool // makings wait for the test
	atOnce  bool // instances end as soon as they are made
	making  []*making
	made    []*fake
	given   map[*fake]int
	dropped map[*fake]int
}

// A making is the start of one instance: it waits for its outcome.
type making struct{ fails chan error }

// newStable returns one that is closed when the test of the bubble ends it.
func newStable(t *testing.T, limits Limits) *stable {
	s := &stable{Pool: New[*fake](&limits), t: t, given: map[*fake]int{}, dropped: map[*fake]int{}}
	s.delay, s.quiet, s.pause = 0, 0, 0
	return s
}

func (s *stable) makeOne(_ context.Context, ended func(*fake)) (*fake, error) {
	s.mu.Lock()
	m := &making{make(chan error, 1)}
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
	f := &fake{id: fmt.Sprintf("c%d", len(s.made)+1), s: s}
	s.made = append(s.made, f)
	atOnce := s.atOnce
	f.end = sync.OnceFunc(func() {
		s.mu.Lock()
		f.ended = true
		s.mu.Unlock()
		ended(f)
	})
	s.mu.Unlock()
	if atOnce {
		f.end()
	}
	return f, nil
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

// took notes that b was given to somebody. No instance is given twice, nor when it
// was dropped.
func (s *stable) took(b *fake) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[b]++
	if s.given[b] > 1 || s.dropped[b] > 0 {
		s.t.Errorf("%s is given %d times, and dropped %d times", b.id, s.given[b], s.dropped[b])
	}
}

// must takes a instance, as a run does, and lets everything settle.
func (s *stable) must(spec like, want int) *fake {
	s.t.Helper()
	b, err := s.Take(s.t.Context(), s.spec(spec), want)
	if err != nil {
		s.t.Fatal(err)
	}
	s.took(b)
	b.Discard() // its command has ended
	synctest.Wait()
	return b
}

// A result is the result of a take.
type result struct {
	instance *fake
	err      error
}

// ask takes a instance in the background.
func (s *stable) ask(ctx context.Context, spec like, want int) <-chan result {
	got := make(chan result, 1)
	go func() {
		b, err := s.Take(ctx, s.spec(spec), want)
		if b != nil {
			s.took(b)
			b.Discard()
		}
		got <- result{b, err}
	}()
	synctest.Wait()
	return got
}

// idle returns how many instancees wait for commands like those of spec.
func (s *stable) idle(spec like) int {
	s.Pool.mu.Lock()
	defer s.Pool.mu.Unlock()
	if b := s.buckets[s.spec(spec).Key]; b != nil {
		return len(b.ready)
	}
	return 0
}

func (s *stable) wantIdle(spec like, want int) {
	s.t.Helper()
	if got := s.idle(spec); got != want {
		s.t.Errorf("%d wait, want %d", got, want)
	}
}

// end closes the pool: in the end every instance that was made was dropped once.
func (s *stable) end() {
	s.t.Helper()
	synctest.Wait()
	s.Close()
	for s.makings() > 0 {
		s.finish(0, nil)
	}
	s.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.made {
		if s.dropped[b] != 1 {
			s.t.Errorf("%s is dropped %d times", b.id, s.dropped[b])
		}
	}
	if len(s.buckets) > 0 {
		s.t.Errorf("%d buckets are left", len(s.buckets))
	}
	if _, err := s.Take(s.t.Context(), s.spec(like{skill: "skill"}), 1); !errors.Is(err, sandbox.ErrClosed) {
		s.t.Errorf("error %v, want %v", err, sandbox.ErrClosed)
	}
}

// A like says which instances are alike: for a skill, of a version, and otherwise.
type like struct{ skill, version, other string }

// spec returns the spec of such instances.
func (s *stable) spec(l like) *Spec[*fake] {
	return &Spec[*fake]{Key: fmt.Sprint(l), Group: l.skill, Version: l.version, Start: s.makeOne}
}

// bubble runs a test on a pool of its own.
func bubble(t *testing.T, limits Limits, test func(t *testing.T, s *stable)) {
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
			bubble(t, Limits{}, func(t *testing.T, s *stable) {
				for round := range 3 {
					b := s.must(like{skill: "skill"}, test.want)
					s.wantIdle(like{skill: "skill"}, test.ready)
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
	bubble(t, Limits{Max: -1}, func(t *testing.T, s *stable) {
		for range 2 {
			s.must(like{skill: "skill"}, 4)
			s.wantIdle(like{skill: "skill"}, 0)
		}
		if len(s.made) != 2 {
			t.Errorf("%d were made", len(s.made))
		}
	})
}

// A want that has become smaller counts.
func TestPoolWantLess(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.must(like{skill: "skill"}, 4)
		s.wantIdle(like{skill: "skill"}, 4)
		s.must(like{skill: "skill"}, 2)
		s.must(like{skill: "skill"}, 2)
		s.wantIdle(like{skill: "skill"}, 2)
		s.must(like{skill: "skill"}, -1)
		s.must(like{skill: "skill"}, -1)
		s.wantIdle(like{skill: "skill"}, 0)
	})
}

// Containers that are not alike do not stand in for each other.
func TestPoolNotAlike(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		a, b := like{skill: "skill"}, like{skill: "skill", other: "more memory"}
		s.must(a, 1)
		if got := s.must(b, 1); got.id != "c3" {
			t.Errorf("got %s, want one of its own", got.id)
		}
		s.wantIdle(a, 1)
		s.wantIdle(b, 1)
	})
}

// The longest waiter gets the instance that is ready first, whoever it was started
// for.
func TestPoolOrder(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.manual = true
		first, second := s.ask(t.Context(), like{skill: "skill"}, 1), s.ask(t.Context(), like{skill: "skill"}, 1)
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
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.manual = true
		var asked []<-chan result
		for range 3 {
			asked = append(asked, s.ask(t.Context(), like{skill: "skill"}, 1))
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

// A refill that fails is no waiter's failure, while an instance for each waiter is on
// its way.
func TestPoolRefillFails(t *testing.T) {
	failure := errors.New("no engine")
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.manual = true
		first := s.ask(t.Context(), like{skill: "skill"}, 1)
		s.finish(0, nil)
		<-first
		second := s.ask(t.Context(), like{skill: "skill"}, 1) // beside the refill
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
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.manual = true
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("gave up")
		gone := s.ask(ctx, like{skill: "skill"}, 1)
		stays := s.ask(t.Context(), like{skill: "skill"}, 1)
		cancel(cause)
		if r := <-gone; !errors.Is(r.err, cause) {
			t.Errorf("error %v, want %v", r.err, cause)
		}
		s.finish(0, nil) // the one's who is gone
		if r := <-stays; r.err != nil {
			t.Error(r.err)
		}
		s.finish(0, nil)
		s.wantIdle(like{skill: "skill"}, 1)
	})
}

// leaves makes a taker give up at the moment when it was given a instance, and do
// something before it has noticed.
func (s *stable) leaves(spec like, meanwhile func()) {
	s.t.Helper()
	s.manual = true
	s.Pool.mu.Lock()
	b := s.bucket(s.spec(spec))
	b.target = 1
	w := &waiter[*fake]{make(chan taken[*fake], 1)}
	b.waiters = append(b.waiters, w)
	s.start(b, w)
	s.Pool.mu.Unlock()
	synctest.Wait()
	s.finish(0, nil)
	meanwhile()
	s.abandon(b, w)
	synctest.Wait()
}

func TestPoolGivenUpTooLate(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		bubble(t, Limits{}, func(t *testing.T, s *stable) {
			s.leaves(like{skill: "skill"}, func() {})
			s.wantIdle(like{skill: "skill"}, 1)
		})
	})
	t.Run("forgotten", func(t *testing.T) {
		bubble(t, Limits{}, func(t *testing.T, s *stable) {
			s.leaves(like{skill: "skill"}, func() { s.Forget("skill") })
		})
	})
	t.Run("all others have ended", func(t *testing.T) {
		bubble(t, Limits{}, func(t *testing.T, s *stable) {
			s.leaves(like{skill: "skill"}, func() {
				other := s.ask(t.Context(), like{skill: "skill"}, 1)
				s.finish(0, nil)
				<-other
				s.finish(0, nil)
				s.made[2].end()
			})
		})
	})
	t.Run("changed", func(t *testing.T) {
		bubble(t, Limits{}, func(t *testing.T, s *stable) {
			s.leaves(like{skill: "skill"}, func() {
				other := s.ask(t.Context(), like{skill: "skill", version: "2"}, 1)
				s.finish(0, nil)
				<-other
			})
			s.wantIdle(like{skill: "skill"}, 0)
		})
	})
	t.Run("closed", func(t *testing.T) {
		bubble(t, Limits{}, func(t *testing.T, s *stable) {
			s.leaves(like{skill: "skill"}, s.Close)
		})
	})
}

// The pool is bounded, and drops the least recently used bucket first.
func TestPoolMax(t *testing.T) {
	bubble(t, Limits{Max: 3}, func(t *testing.T, s *stable) {
		for _, skill := range []string{"a", "b", "c", "a", "d"} {
			s.must(like{skill: skill}, 1)
		}
		for skill, want := range map[string]int{"a": 1, "b": 0, "c": 1, "d": 1} {
			if got := s.idle(like{skill: skill}); got != want {
				t.Errorf("%s: %d wait, want %d", skill, got, want)
			}
		}
	})
}

// A skill that wants more than the limit gets as many as the limit, and does not start
// others over and over.
func TestPoolMaxOfOne(t *testing.T) {
	bubble(t, Limits{Max: 2}, func(t *testing.T, s *stable) {
		s.must(like{skill: "a"}, 100)
		s.wantIdle(like{skill: "a"}, 2)
		if len(s.made) > 5 {
			t.Errorf("%d were made", len(s.made))
		}
	})
}

func TestPoolIdle(t *testing.T) {
	bubble(t, Limits{Idle: time.Minute}, func(t *testing.T, s *stable) {
		s.must(like{skill: "a"}, 2)
		time.Sleep(time.Minute - time.Second)
		synctest.Wait()
		s.wantIdle(like{skill: "a"}, 2)
		s.must(like{skill: "a"}, 2) // makes one that is younger
		time.Sleep(time.Second)
		synctest.Wait()
		if made := len(s.made); made != 4 {
			t.Errorf("%d were made", made)
		}
		s.wantIdle(like{skill: "a"}, 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		s.wantIdle(like{skill: "a"}, 0)
		if len(s.buckets) > 0 || len(s.made) != 4 {
			t.Errorf("%d buckets, %d were made", len(s.buckets), len(s.made))
		}
		s.must(like{skill: "a"}, 1)
		s.wantIdle(like{skill: "a"}, 1)
	})
}

// Instances for an older version of a skill are dropped.
func TestPoolOutdated(t *testing.T) {
	t.Run("ready", func(t *testing.T) {
		bubble(t, Limits{}, func(t *testing.T, s *stable) {
			changed := like{skill: "skill", version: "2"}
			s.must(like{skill: "skill"}, 2)
			s.must(like{skill: "other"}, 1)
			s.must(changed, 1)
			s.wantIdle(like{skill: "skill"}, 0)
			s.wantIdle(like{skill: "other"}, 1)
			s.wantIdle(changed, 1)
		})
	})
	t.Run("on its way", func(t *testing.T) {
		bubble(t, Limits{}, func(t *testing.T, s *stable) {
			s.manual = true
			old := s.ask(t.Context(), like{skill: "skill"}, 1)
			s.finish(0, nil) // another is being made
			<-old
			now := s.ask(t.Context(), like{skill: "skill", version: "2"}, 1)
			s.finish(0, nil)
			s.wantIdle(like{skill: "skill"}, 0)
			s.finish(0, nil)
			<-now
		})
	})
}

func TestPoolForget(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.must(like{skill: "skill"}, 2)
		s.must(like{skill: "other"}, 1)
		s.Forget("skill")
		s.wantIdle(like{skill: "skill"}, 0)
		s.wantIdle(like{skill: "other"}, 1)
		s.must(like{skill: "skill"}, 2)
		s.wantIdle(like{skill: "skill"}, 2)
	})
}

// A container that ends while it waits is not given to anybody.
func TestPoolEnded(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.must(like{skill: "skill"}, 2)
		s.made[1].end()
		s.wantIdle(like{skill: "skill"}, 1)
		s.mu.Lock()
		s.made[2].ended = true // nobody has been told yet
		s.mu.Unlock()
		if b := s.must(like{skill: "skill"}, 1); b.id != "c4" {
			t.Errorf("got %s, want one that lives", b.id)
		}
		s.wantIdle(like{skill: "skill"}, 1)
	})
}

// One that has ended before it came to wait takes nobody's place.
func TestPoolEndedAtOnce(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.atOnce = true
		s.must(like{skill: "skill"}, 1)
		s.wantIdle(like{skill: "skill"}, 0)
		if len(s.made) > 2 {
			t.Errorf("%d were made that all end at once", len(s.made))
		}
	})
}

func TestPoolCloseWhileStarting(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.must(like{skill: "idle"}, 2)
		s.manual = true
		ctx, cancel := context.WithCancel(t.Context())
		asked := s.ask(ctx, like{skill: "a"}, 1)
		other := s.ask(ctx, like{skill: "b"}, 2)
		cancel() // as Close does, before it closes the pool
		<-asked
		<-other
		s.Close()
		if s.makings() != 2 {
			t.Errorf("%d are being made", s.makings())
		}
	})
}

// No container is given to two of many takers at once.
func TestPoolConcurrent(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		var takers sync.WaitGroup
		for i := range 8 {
			takers.Go(func() {
				for j := range 50 {
					b, err := s.Take(t.Context(), s.spec(like{skill: fmt.Sprint(j % 3)}), 1+i%3)
					if err != nil {
						t.Error(err)
						return
					}
					s.took(b)
					b.Discard()
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
		bubble(t, Limits{Max: 3, Idle: time.Minute}, func(t *testing.T, s *stable) {
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
	spec := like{skill: fmt.Sprint(c.random.Intn(3)), version: fmt.Sprint(c.random.Intn(2))}
	switch c.random.Intn(9) {
	case 0, 1, 2:
		ctx, cancel := context.WithCancel(c.t.Context())
		got := make(chan result, 1)
		want := c.random.Intn(5) - 1
		go func() {
			b, err := c.Take(ctx, c.spec(spec), want)
			if b != nil {
				c.took(b)
				b.Discard()
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
		c.Forget(fmt.Sprint(c.random.Intn(3)))
	case 8:
		c.pass()
	}
}

// answer ends a making, and does not wait for the effect.
func (c *chaos) answer() {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// pass lets time pass, or a instance end.
func (c *chaos) pass() {
	c.mu.Lock()
	var end func()
	if len(c.made) > 0 {
		end = c.made[c.random.Intn(len(c.made))].end
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
	c.Pool.mu.Lock()
	defer c.Pool.mu.Unlock()
	if c.buckets.full(c.limits) {
		c.t.Error("more waits than may")
	}
	for _, s := range c.buckets {
		if len(s.waiters) > s.starting {
			c.t.Errorf("%d wait, and %d are on their way", len(s.waiters), s.starting)
		}
		if len(s.waiters) > 0 && len(s.ready) > 0 {
			c.t.Errorf("%d wait, and %d are ready", len(s.waiters), len(s.ready))
		}
	}
}

// The next instance is started a moment after a take, not beside its use.
func TestPoolRefillsLater(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		s.delay = refillDelay
		s.must(like{skill: "skill"}, 1)
		s.wantIdle(like{skill: "skill"}, 0)
		time.Sleep(refillDelay)
		synctest.Wait()
		s.wantIdle(like{skill: "skill"}, 1)
	})
}

// Prepared instances are ready for the next take, as many as it wants, and replace those
// of another version.
func TestPrepare(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, s *stable) {
		old, current := like{skill: "skill", version: "1"}, like{skill: "skill", version: "2"}
		s.must(old, 1)
		s.Prepare(s.spec(current), 2)
		synctest.Wait()
		s.wantIdle(old, 0)
		s.wantIdle(current, 2)
		if b := s.must(current, 2); b.id != "c3" {
			t.Errorf("got %s, want the one that was prepared", b.id)
		}
		s.Prepare(s.spec(like{skill: "none"}), -1)
		s.wantIdle(like{skill: "none"}, 0)
	})
}
