package store

import (
	"fmt"
	"testing"
	"time"
)

// The skills that were not used for the longest time are forgotten.
func TestUsesAreBounded(t *testing.T) {
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
