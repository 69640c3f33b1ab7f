package store

import (
	"testing"
	"time"
)

// A stamp differs after each change, and at no other time.
func TestStamps(t *testing.T) { eachBackend(t, testStamps) }

func testStamps(t *testing.T, newStore opener) {
	s, _ := newStore(t)
	runs, ctx := NewRuns(s), t.Context()
	row := Decision{Kind: "approval", Key: "a", Owner: "me", State: "pending", Expires: time.Now().Add(time.Hour), MAC: []byte("1")}
	replace := func(change func(*Decision)) func() error {
		return func() error {
			change(&row)
			return s.ChangeDecisions(ctx, Durable, row.Kind, func(tx *Decisions) error { return tx.Put(row) })
		}
	}
	seq := int64(2)
	if _, err := runs.Add(ctx, &Run{ID: "first", Outcome: Running}); err != nil { // makes the file
		t.Fatal(err)
	}
	stamps := func() map[string]string {
		approvals, err1 := s.DecisionsStamp(ctx, "approval", "pending", "", "")
		runs, err2 := runs.Stamp(ctx, nil)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return map[string]string{"approvals": approvals, "runs": runs}
	}
	last := stamps()
	for _, step := range []struct {
		name   string
		change func() error
		want   string // the stamps that change
	}{
		{"a question", replace(func(*Decision) {}), "approvals"},
		{"the first of two people", replace(func(a *Decision) { a.MAC = []byte("2") }), "approvals"},
		{"the second one", replace(func(a *Decision) { a.MAC, a.State = []byte("3"), "given" }), "approvals"},
		{"the end of its time", replace(func(a *Decision) { a.MAC, a.Expires = []byte("4"), time.Now().Add(-time.Second) }), "approvals"},
		{"a run", func() error {
			_, err := runs.Add(ctx, &Run{ID: "r", Outcome: Running})
			return err
		}, "runs"},
		{"its end", func() error { return runs.End(ctx, seq, &Run{ID: "r", Outcome: "ok"}) }, "runs"},
		{"nothing", func() error { return nil }, ""},
	} {
		if err := step.change(); err != nil {
			t.Fatal(step.name, err)
		}
		now := stamps()
		for name := range now {
			if changed := now[name] != last[name]; changed != (name == step.want) {
				t.Errorf("after %s the stamp of %s is %q, before %q", step.name, name, now[name], last[name])
			}
		}
		last = now
	}
	// Those of an owner, and of names below a prefix.
	for _, of := range []struct {
		owner, prefix string
		want          bool
	}{{"me", "", true}, {"other", "", false}, {"other", "m", true}, {"other", "me/", false}, {"m_", "", false}} {
		stamp, err := s.DecisionsStamp(ctx, "approval", "pending", of.owner, of.prefix)
		if found := stamp != "0  "; found != of.want || err != nil {
			t.Errorf("%+v: %q, %v", of, stamp, err)
		}
	}
}
