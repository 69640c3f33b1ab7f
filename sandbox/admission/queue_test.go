package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A simulation is many calls at a queue, in virtual time. It notes what happens,
// and checks afterwards what must always have held.
type simulation struct {
	*testing.T
	queue  *Queue
	random *rand.Rand // used by the test's own goroutine
	calls  sync.WaitGroup

	mu     sync.Mutex
	events []event // under mu until the calls have ended
}

// event is what happened to a call.
type event struct {
	kind          kind
	call          int
	caller, skill string
	at            time.Time
}

// kind orders what happens in one moment by cause and effect.
type kind int

const (
	ended kind = iota
	left
	refused
	queued
	granted
)

func simulate(t *testing.T, slots Slots, seed uint64) *simulation {
	return &simulation{T: t, queue: New(&slots), random: rand.New(rand.NewPCG(seed, 1))}
}

// call makes call number n, which lasts for d once it has a slot, and leaves
// when it has waited for patience.
func (s *simulation) call(n int, caller, skill string, d, patience time.Duration) {
	note := func(k kind) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, event{k, n, caller, skill, time.Now()})
	}
	s.calls.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		release, err := s.queue.Admit(ctx, sandbox.Tenant{ID: caller}, skill, func() { note(queued) })
		switch {
		case errors.Is(err, sandbox.ErrBusy):
			note(refused)
		case err != nil:
			note(left)
		default:
			note(granted)
			time.Sleep(d)
			note(ended)
			release()
		}
	})
}

// check goes through what happened.
func (s *simulation) check() (count map[kind]int) {
	slices.SortFunc(s.events, func(a, b event) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.call, b.call))
	})
	count = map[kind]int{}
	total, callers, skills := 0, map[string]int{}, map[string]int{}
	lines := map[string][]event{}      // those who wait, by caller
	passed := map[int]map[string]int{} // how often which caller was before a call
	limits := s.queue.slots
	for _, e := range s.events {
		count[e.kind]++
		waiting := lines[e.caller]
		i := slices.IndexFunc(waiting, func(w event) bool { return w.call == e.call })
		switch e.kind {
		case queued:
			lines[e.caller] = append(waiting, e)
			passed[e.call] = map[string]int{}
			continue
		case ended:
			total, callers[e.caller], skills[e.skill] = total-1, callers[e.caller]-1, skills[e.skill]-1
			continue
		case granted:
			total, callers[e.caller], skills[e.skill] = total+1, callers[e.caller]+1, skills[e.skill]+1
			if total > limits.Total || callers[e.caller] > limits.PerTenant || skills[e.skill] > limits.PerSkill {
				s.Errorf("call %d: %d run, %v, %v; bounds %+v", e.call, total, callers, skills, limits)
			}
			if i > 0 {
				s.Errorf("call %d of %s was before %d, which came first", e.call, e.caller, waiting[0].call)
			}
			s.checkTurn(e, lines, passed)
		}
		if i >= 0 {
			lines[e.caller] = slices.Delete(waiting, i, i+1)
		}
	}
	return count
}

// checkTurn: nobody is before another's first call twice, where both want the
// same.
func (s *simulation) checkTurn(e event, lines map[string][]event, passed map[int]map[string]int) {
	limits := s.queue.slots
	if limits.PerTenant < limits.Total {
		return // the first call may wait for its caller's own
	}
	for caller, waiting := range lines {
		if caller == e.caller || len(waiting) == 0 {
			continue
		}
		if first := waiting[0]; limits.PerSkill >= limits.Total || first.skill == e.skill {
			if passed[first.call][e.caller]++; passed[first.call][e.caller] > 1 {
				s.Errorf("%s was before call %d of %s again", e.caller, first.call, caller)
			}
		}
	}
}

// idle fails unless the queue is as it was at first.
func (s *simulation) idle() {
	s.Helper()
	q := s.queue
	if q.taken != 0 || len(q.tenants) != 0 || len(q.skills) != 0 || q.waiting != 0 || len(q.flows) != 0 {
		s.Errorf("left in the queue: %d running, %v, %v, %d waiting in %d flows", q.taken, q.tenants, q.skills, q.waiting, len(q.flows))
	}
}

// Whatever comes and goes: bounds hold, callers take turns, first is first, and
// no slot is lost.
func TestQueueHolds(t *testing.T) {
	for name, slots := range map[string]Slots{
		"one slot":      {Total: 1, PerTenant: 1, PerSkill: 1, Queue: 1000},
		"callers":       {Total: 4, PerTenant: 4, PerSkill: 4, Queue: 1000},
		"skills":        {Total: 4, PerTenant: 4, PerSkill: 1, Queue: 1000},
		"all bounds":    {Total: 5, PerTenant: 2, PerSkill: 2, Queue: 1000},
		"a short queue": {Total: 2, PerTenant: 1, PerSkill: 2, Queue: 3},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				synctest.Test(t, func(t *testing.T) {
					s := simulate(t, slots, seed)
					const calls = 300
					for n := range calls {
						patience := time.Hour
						if s.random.IntN(5) == 0 {
							patience = time.Duration(s.random.IntN(50e6))
						}
						s.call(n, fmt.Sprint("caller", s.random.IntN(5)), fmt.Sprint("skill", s.random.IntN(3)),
							time.Duration(s.random.IntN(100e6)), patience)
						synctest.Wait() // one at a time, so that who came first is known
						time.Sleep(time.Duration(s.random.IntN(20e6)))
					}
					s.calls.Wait()
					s.idle()
					count := s.check()
					if count[granted]+count[refused]+count[left] != calls || count[ended] != count[granted] || count[queued] == 0 || count[left] == 0 {
						t.Errorf("of %d calls: %v", calls, count)
					}
					if full := slots.Queue < calls; full != (count[refused] > 0) {
						t.Errorf("%d were refused", count[refused])
					}
				})
			}
		})
	}
}

// One who wants what is always taken gets it, however many others keep coming.
func TestQueueStarvesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, Slots{Total: 4, PerTenant: 4, PerSkill: 1, Queue: 1000}, 0)
		flood, stop := context.WithCancel(t.Context())
		for i := range 3 { // who call the wanted skill and others, without a pause
			for j := range 6 {
				s.calls.Go(func() {
					for n := 0; flood.Err() == nil; n++ {
						release, err := s.queue.Admit(flood, sandbox.Tenant{ID: fmt.Sprint("many", i)}, fmt.Sprint("skill", j%3), func() {})
						if err == nil {
							time.Sleep(10 * time.Millisecond)
							release()
						}
					}
				})
			}
		}
		time.Sleep(time.Second)
		began := time.Now()
		release, err := s.queue.Admit(t.Context(), sandbox.Tenant{ID: "one"}, "skill0", func() {})
		if err != nil {
			t.Fatal(err)
		}
		// Each of the others may be before it once.
		if waited := time.Since(began); waited > 4*10*time.Millisecond {
			t.Errorf("it waited for %s", waited)
		}
		release()
		stop()
		s.calls.Wait()
		s.idle()
	})
}

// A caller who fills the queue gives way to one who waits for less.
func TestQueueFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(&Slots{Total: 1, PerTenant: 1, PerSkill: 1, Queue: 3})
		release, err := q.Admit(t.Context(), sandbox.Tenant{ID: "ann"}, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		ends := make(chan string, 10)
		ctx, cancel := context.WithCancel(t.Context())
		begin := func(name, caller string) {
			go func() {
				_, err := q.Admit(ctx, sandbox.Tenant{ID: caller}, "", func() {})
				ends <- fmt.Sprint(name, " ", err)
			}()
			synctest.Wait()
		}
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			select {
			case got := <-ends:
				if got != want {
					t.Errorf("%q, want %q", got, want)
				}
			default:
				if want != "" {
					t.Errorf("nothing ended, want %q", want)
				}
			}
		}
		begin("ann1", "ann")
		begin("ann2", "ann")
		begin("ann3", "ann")
		expect("")
		begin("ann4", "ann")
		expect("ann4 " + sandbox.ErrBusy.Error())
		begin("bob1", "bob")
		expect("ann3 " + sandbox.ErrBusy.Error())
		begin("bob2", "bob") // has as many as ann by now
		expect("bob2 " + sandbox.ErrBusy.Error())
		begin("cid1", "cid")
		expect("ann2 " + sandbox.ErrBusy.Error())
		begin("dee1", "dee")
		expect("dee1 " + sandbox.ErrBusy.Error())
		release()
		expect("ann1 <nil>")
		cancel()
		left := []string{<-ends, <-ends}
		slices.Sort(left)
		if want := []string{"bob1 context canceled", "cid1 context canceled"}; !slices.Equal(left, want) {
			t.Errorf("%q, want %q", left, want)
		}
	})
}

// One program that floods by many connections neither keeps others out of the
// queue nor makes them wait for more than one of its calls; and clients of one
// caller have slots of their own.
func TestQueueGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(&Slots{Total: 4, PerTenant: 1, PerSkill: 4, Queue: 8})
		of := func(group string, n int) sandbox.Tenant {
			return sandbox.Tenant{ID: "token", Group: group, Connection: fmt.Sprint(n)}
		}
		var order []string
		var mu sync.Mutex
		busy := map[string]int{}
		var calls sync.WaitGroup
		begin := func(c sandbox.Tenant, d time.Duration) {
			calls.Go(func() {
				release, err := q.Admit(t.Context(), c, "", func() {})
				mu.Lock()
				if err != nil {
					busy[c.Group]++
					mu.Unlock()
					return
				}
				order = append(order, c.Group)
				mu.Unlock()
				time.Sleep(d)
				release()
			})
			synctest.Wait()
		}
		for i := range 100 {
			begin(of("flood", i), time.Duration(i+1)*time.Second)
		}
		mu.Lock()
		if len(order) != 4 || busy["flood"] != 88 {
			t.Errorf("%d run, %d were sent away", len(order), busy["flood"])
		}
		mu.Unlock()
		for i := range 2 {
			begin(of("one", i), time.Hour)
			begin(of("other", i), time.Hour)
		}
		time.Sleep(4 * time.Second) // the first four have ended
		synctest.Wait()
		mu.Lock()
		if got := strings.Join(order[4:], " "); got != "flood one other flood" || busy["one"]+busy["other"] > 0 {
			t.Errorf("%s; sent away: %v", got, busy)
		}
		mu.Unlock()
		calls.Wait()
	})
}

// A principal with many sessions has the turns of one caller, and half of the slots: the
// calls of another run at once, also of the same skill.
func TestQueuePrincipals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(&Slots{Total: 4, PerTenant: 3, Queue: 8})
		order := make(chan string, 200)
		busy := make(chan string, 200)
		var calls sync.WaitGroup
		begin := func(principal string, session int) {
			calls.Go(func() {
				release, err := q.Admit(t.Context(), sandbox.Tenant{ID: fmt.Sprint(principal, session), Principal: principal}, "", func() {})
				if err != nil {
					busy <- principal
					return
				}
				order <- principal
				time.Sleep(time.Minute)
				release()
			})
			synctest.Wait()
		}
		for i := range 50 {
			begin("greedy", i)
		}
		if len(order) != 2 || len(busy) != 50-2-8 {
			t.Errorf("%d of its calls run, and %d were sent away", len(order), len(busy))
		}
		for i := range 3 {
			begin("other", i)
		}
		if len(order) != 3 {
			t.Errorf("%d calls run, and one of the other's should beside two", len(order))
		}
		calls.Wait()
		close(order)
		close(busy)
		var ran []string
		for who := range order {
			ran = append(ran, who)
		}
		// Three calls end in each minute, in any order.
		if got := strings.Join(ran[:9], " "); strings.Count(got, "other") != 3 {
			t.Errorf("in order: %s", got)
		}
		for who := range busy {
			if who != "greedy" {
				t.Errorf("%s was sent away", who)
			}
		}
	})
}

// When the first in line leaves, the next may go at once.
func TestQueueLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(&Slots{Total: 2, PerTenant: 2, PerSkill: 1, Queue: 9})
		release, err := q.Admit(t.Context(), sandbox.Tenant{ID: "ann"}, "slow", nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() {
			if _, err := q.Admit(ctx, sandbox.Tenant{ID: "ann"}, "slow", func() {}); !errors.Is(err, context.Canceled) {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		calls.Go(func() {
			next, err := q.Admit(t.Context(), sandbox.Tenant{ID: "ann"}, "quick", func() {})
			if err != nil {
				t.Error(err)
				return
			}
			next()
		})
		synctest.Wait()
		cancel()
		calls.Wait()
		release()
	})
}
