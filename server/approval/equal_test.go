package approval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// together makes calls at once, and returns the number of each outcome.
func together(t *testing.T, calls []func() error) map[string]int {
	t.Helper()
	all := map[string]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, call := range calls {
		group.Go(func() {
			err := call()
			mu.Lock()
			defer mu.Unlock()
			all[outcome(err)]++
		})
	}
	group.Wait()
	return all
}

// Equal calls at once are one question of one form, and one record.
func TestEqualCalls(t *testing.T) {
	decline := `{"action":"decline"}`
	for name, test := range map[string]struct {
		answer string
		after  time.Duration
		want   map[string]int
		rows   int
	}{
		"once":             {choose(Once), time.Minute / 4, map[string]int{"runs": 1, "APPROVAL_REQUIRED!": 19}, 1},
		"this session":     {choose(Session), time.Minute / 4, map[string]int{"runs": 20}, 1},
		"no":               {choose(No), time.Minute / 4, map[string]int{"APPROVAL_REQUIRED": 20}, 0},
		"declined":         {decline, time.Minute / 4, map[string]int{"APPROVAL_REQUIRED": 20}, 0},
		"by a program":     {choose(Once), time.Millisecond, map[string]int{"APPROVAL_REQUIRED+id!": 20}, 1},
		"nobody answers":   {"", 0, map[string]int{"APPROVAL_REQUIRED": 1, "APPROVAL_REQUIRED+id!": 19}, 1},
		"after their time": {choose(Once), time.Minute, map[string]int{"runs": 1, "APPROVAL_REQUIRED+id!": 19}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, who := newApprovals(t, nil), &person{after: test.after}
				if test.answer != "" {
					who.answers = []string{test.answer}
				}
				var calls []func() error
				for range 20 {
					calls = append(calls, func() error { return a.Approve(t.Context(), proposed(who.client())) })
				}
				if got := together(t, calls); fmt.Sprint(got) != fmt.Sprint(test.want) {
					t.Errorf("%v, want %v", got, test.want)
				}
				if rows, err := a.List(t.Context(), true); err != nil || len(rows) != test.rows || len(who.asked) != 1 {
					t.Errorf("%d rows, %v; asked %d times", len(rows), err, len(who.asked))
				}
				if len(a.asking.open) != 0 {
					t.Error("a question stays open")
				}
			})
		})
	}
}

// A call that is cancelled leaves the question to its equals.
func TestEqualCallsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, who := newApprovals(t, nil), &person{answers: []string{choose(Session)}, after: time.Minute / 4}
		first, cancel := context.WithCancel(t.Context())
		calls := []func() error{func() error { return a.Approve(first, proposed(who.client())) }}
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		for range 3 {
			calls = append(calls, func() error {
				time.Sleep(time.Millisecond)
				return a.Approve(t.Context(), proposed(who.client()))
			})
		}
		if got := together(t, calls); fmt.Sprint(got) != "map[context canceled:1 runs:3]" || len(who.asked) != 2 {
			t.Errorf("%v; asked %d times", got, len(who.asked))
		}
	})
}

// Of two programs with one store, and of more calls than wait for one answer, each equal
// call has the same ID; other calls, and those of others, have their own.
func TestEqualIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil)
		b := New(a.store, nil)
		var mu sync.Mutex
		ids := map[string]int{}
		var calls []func() error
		for i := range 100 {
			calls = append(calls, func() error {
				p, program := proposed(nil), a
				p.Principal.Session = fmt.Sprint(i % 3)
				if i%2 == 0 {
					program = b
				}
				if i%5 == 0 {
					p.Principal.ID = "other"
				}
				err := program.Approve(t.Context(), p)
				mu.Lock()
				defer mu.Unlock()
				ids[run.AsError(err).Approval]++
				return err
			})
		}
		if got := together(t, calls); got["APPROVAL_REQUIRED+id!"] != 100 || len(ids) != 2 {
			t.Errorf("%v, with the IDs %v", got, ids)
		}

		who := &person{answers: []string{choose(Session)}, after: time.Minute / 4}
		calls = nil
		for range maxEqual + 10 {
			calls = append(calls, func() error {
				p := proposed(who.client())
				p.Args["more"] = true
				return a.Approve(t.Context(), p)
			})
		}
		if got := together(t, calls); got["runs"] != maxEqual+1 || got["APPROVAL_REQUIRED+id!"] != 9 || len(who.asked) != 1 {
			t.Errorf("%v; asked %d times", got, len(who.asked))
		}
	})
}

// The others are told that the yes was used.
func TestUsedWords(t *testing.T) {
	if got := used(newCall(proposed(nil), &Options{})).Error(); !strings.Contains(got, "said yes once, and an equal call") {
		t.Error(got)
	}
}

// Of equal questions one waits, whichever processes ask at the same time; one that has
// ended, or expired, is in nobody's way.
func TestOneQuestionWaits(t *testing.T) {
	a := newApprovals(t, nil)
	b := New(a.store, nil)
	add := func(by *Approvals, life time.Duration) error {
		r := by.newRecord(newCall(proposed(nil), &by.options))
		r.Expires = time.Now().Add(life)
		return by.book.add(t.Context(), r)
	}
	results := make(chan error, 20)
	for i := range cap(results) {
		go func() { results <- add([]*Approvals{a, b}[i%2], time.Hour) }()
	}
	added := 0
	for range cap(results) {
		if err := <-results; err == nil {
			added++
		} else if !errors.Is(err, errSame) {
			t.Error(err)
		}
	}
	all, err := b.List(t.Context(), true)
	if added != 1 || len(all) != 1 || err != nil {
		t.Fatalf("%d added, %d stored, %v", added, len(all), err)
	}
	if _, err := b.Deny(t.Context(), all[0].ID); err != nil {
		t.Fatal(err)
	}
	for _, life := range []time.Duration{-time.Second, time.Hour} {
		if err := add(a, life); err != nil {
			t.Errorf("%v: %v", life, err)
		}
	}
}
