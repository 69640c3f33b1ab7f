package store

import (
	"fmt"
	"testing"
	"time"
)

// TestUsesFade has the calls of a skill count half for each month without one.
func TestUsesFade(t *testing.T) { eachBackend(t, testUsesFade) }

func testUsesFade(t *testing.T, newStore opener) {
	s, _ := newStore(t)
	for months, want := range []int{9, 5, 3, 2, 1, 1} {
		if err := s.AddUses(t.Context(), map[string]int{"often": 9, "once": 1}); err != nil {
			t.Fatal(err)
		}
		last := time.Now().Add(-time.Duration(months)*month - time.Minute).UnixMilli()
		if _, err := s.execute(t.Context(), "uses", "UPDATE uses SET calls = CASE skill WHEN 'often' THEN 9 ELSE 1 END, last = ?", last); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Uses(t.Context()); err != nil || all["often"] != want || all["once"] != 1 {
			t.Errorf("%d months: %v, %v; want %d", months, all, err, want)
		}
	}
}

// The skills that were not used for the longest time are forgotten.
func TestUsesAreBounded(t *testing.T) { eachBackend(t, testUsesAreBounded) }

func testUsesAreBounded(t *testing.T, newStore opener) {
	s, other := newStore(t)
	if err := s.AddUses(t.Context(), map[string]int{"old": 1}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // they have the time in milliseconds
	many := map[string]int{}
	for i := range maxUses {
		many[fmt.Sprint("skill-", i)] = 1
	}
	for range 2 {
		if err := s.AddUses(t.Context(), many); err != nil {
			t.Fatal(err)
		}
	}
	all, err := other.Uses(t.Context())
	if err != nil || len(all) != maxUses || all["old"] != 0 || all["skill-0"] != 2 {
		t.Errorf("%d skills, %d %d, %v", len(all), all["old"], all["skill-0"], err)
	}
}
