package warmpool

import (
	"testing"
	"testing/synctest"
	"time"
)

// bursting runs a test on a pool with its usual pauses.
func bursting(t *testing.T, limits Limits, test func(t *testing.T, s *stable)) {
	t.Helper()
	bubble(t, limits, func(t *testing.T, s *stable) {
		s.delay, s.quiet, s.pause = refillDelay, quietPause, burstPause
		test(t, s)
	})
}

// burst takes n instances, one after the other with a short pause, and returns how many
// of them had waited.
func (s *stable) burst(l like, n int) (waited int) {
	s.t.Helper()
	for range n {
		waited += min(1, s.idle(l))
		s.must(l, 0)
		time.Sleep(20 * time.Millisecond)
	}
	return waited
}

// rest waits until nothing is under way.
func (s *stable) rest() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

// After a burst as many wait as it took, and the next one finds one for each take, also
// when single takes come between.
func TestBurst(t *testing.T) {
	bursting(t, Limits{}, func(t *testing.T, s *stable) {
		skill := like{skill: "skill"}
		s.must(skill, 0)
		s.rest()
		s.wantIdle(skill, 1)
		s.burst(skill, 5)
		s.rest()
		s.wantIdle(skill, 5)
		for range 3 {
			s.must(skill, 0)
			s.rest()
		}
		if waited := s.burst(skill, 5); waited != 5 {
			t.Errorf("%d of 5 takes found one that waited", waited)
		}
	})
}

// A take that waits for its instance ends no burst.
func TestBurstWaits(t *testing.T) {
	bursting(t, Limits{}, func(t *testing.T, s *stable) {
		skill := like{skill: "skill"}
		s.manual = true
		for range 3 {
			got := s.ask(t.Context(), skill, 0)
			time.Sleep(2 * burstPause)
			s.finish(0, nil)
			<-got
			synctest.Wait()
		}
		s.mu.Lock()
		s.manual = false
		s.mu.Unlock()
		for s.makings() > 0 {
			s.finish(0, nil)
		}
		s.rest()
		s.wantIdle(skill, 3)
	})
}

// During a burst nothing is started as long as one waits: it would compete with the
// takes to come.
func TestBurstUndisturbed(t *testing.T) {
	bursting(t, Limits{}, func(t *testing.T, s *stable) {
		skill := like{skill: "skill"}
		s.must(skill, 4)
		s.rest()
		made := len(s.made)
		for range 3 {
			s.must(skill, 4)
			time.Sleep(quietPause - time.Millisecond)
			if len(s.made) != made {
				t.Errorf("%d were started during the burst", len(s.made)-made)
			}
		}
		s.must(skill, 4) // the last one that waited
		time.Sleep(refillDelay)
		synctest.Wait()
		if len(s.made) == made {
			t.Error("none was started where none waits")
		}
	})
}

// Those for a burst displace no other skill's, and go first where there is no room.
func TestBurstRoom(t *testing.T) {
	bursting(t, Limits{Max: 3}, func(t *testing.T, s *stable) {
		burst, other, third := like{skill: "burst"}, like{skill: "other"}, like{skill: "third"}
		s.must(other, 0)
		s.rest()
		s.burst(burst, 6)
		s.rest()
		s.wantIdle(other, 1)
		s.wantIdle(burst, 2)
		s.must(third, 0)
		s.rest()
		s.wantIdle(other, 1)
		s.wantIdle(third, 1)
		s.wantIdle(burst, 1)
	})
}

// A burst is forgotten after the time that an instance waits.
func TestBurstForgotten(t *testing.T) {
	bursting(t, Limits{Idle: time.Minute}, func(t *testing.T, s *stable) {
		skill := like{skill: "skill"}
		s.burst(skill, 3)
		s.rest()
		s.wantIdle(skill, 3)
		for range 8 {
			s.must(skill, 0)
			s.rest()
		}
		s.wantIdle(skill, 1)
	})
}
