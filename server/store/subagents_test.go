package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// newSubagent returns the row of a session of an owner.
func newSubagent(id, root string, created int64) *Subagent {
	owner, _, _ := strings.Cut(root, "/")
	return &Subagent{RunID: id, Root: root, Owner: owner, Status: Running, Created: time.UnixMilli(created), Body: []byte(id)}
}

// ids returns the run IDs that a filter selects.
func ids(t *testing.T, table Subagents, f SubagentFilter) string {
	t.Helper()
	f.Limit = max(f.Limit, 1)
	if f.Limit == 1 {
		f.Limit = 100
	}
	rows, err := table.List(t.Context(), f)
	if err != nil {
		t.Error(err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, r.RunID)
	}
	return strings.Join(all, " ")
}

// A session is there for its client, and for its owner when that has left, and its end is
// told once.
func TestSubagents(t *testing.T) { eachBackend(t, testSubagents) }

func testSubagents(t *testing.T, newStore opener) {
	s, o := newStore(t)
	one, other, ctx := NewSubagents(s), NewSubagents(o), t.Context()
	now := time.Now().UnixMilli()
	a, b, c := newSubagent("a", "ann/1", now-3000), newSubagent("b", "ann/2", now-2000), newSubagent("c", "bob/1", now-1000)
	b.Once = true
	for _, row := range []*Subagent{a, b, c} {
		if err := one.Add(ctx, row); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Add(ctx, a); err == nil {
		t.Error("one was added twice")
	}
	ann, root, next := "ann", "ann/1", "ann/3"
	for want, f := range map[string]SubagentFilter{"c b a": {}, "b a": {Owner: &ann}, "a": {Owner: &ann, Root: &root}, "": {Owner: &ann, Root: &next}, "b": {RunID: "b"}, "c b": {Limit: 2}} {
		if got := ids(t, other, f); got != want {
			t.Errorf("%+v: %s, want %s", f, got, want)
		}
	}
	a.Status, a.Ended, a.Body = "done", time.UnixMilli(now), []byte("end")
	b.Status, b.Ended, b.Gone = "error", time.UnixMilli(now), true
	for _, row := range []*Subagent{a, b} {
		if err := one.End(ctx, row); err != nil {
			t.Error(err)
		}
	}
	if got := ids(t, other, SubagentFilter{Status: "done"}) + ids(t, other, SubagentFilter{Owner: &ann, Root: &next}) + " " + ids(t, other, SubagentFilter{}); got != "ab c b a" {
		t.Error(got) // the one that runs is the first
	}
	if err := one.Leave(ctx, "ann/1"); err != nil {
		t.Error(err)
	}
	a.Gone = true
	if rows, err := other.List(ctx, SubagentFilter{Owner: &ann, Root: &next, Limit: 9}); err != nil || cmp.Diff([]*Subagent{b, a}, rows) != "" {
		t.Error(cmp.Diff([]*Subagent{b, a}, rows), err)
	}
	if got := ids(t, other, SubagentFilter{Owner: &ann, Root: &next, Since: time.Now().Add(time.Hour)}); got != "" {
		t.Errorf("%s ended long ago, and its client is another", got)
	}
	if got := ids(t, other, SubagentFilter{Owner: &ann, Root: &root, Since: time.Now().Add(time.Hour)}); got != "a" {
		t.Errorf("the client of a has %q", got)
	}
	var mu sync.Mutex
	var told []string
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var rows []*Subagent
			if err := []Subagents{one, other}[i%2].Tell(ctx, []string{"a", "b", "nobody"}, func(all []*Subagent) { rows = all }); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, r := range rows {
				told = append(told, r.RunID)
			}
		})
	}
	all.Wait()
	slices.Sort(told)
	if got := strings.Join(told, " "); got != "a b" {
		t.Errorf("told: %s", got)
	}
	if got := ids(t, other, SubagentFilter{}); got != "c a" {
		t.Errorf("%s are left", got)
	}
}

// Other processes see what a session has used, and ask its server to end it.
func TestSubagentsFollow(t *testing.T) { eachBackend(t, testSubagentsFollow) }

func testSubagentsFollow(t *testing.T, newStore opener) {
	s, o := newStore(t)
	one, other, ctx := NewSubagents(s), NewSubagents(o), t.Context()
	for _, id := range []string{"a", "b"} {
		if err := one.Add(ctx, newSubagent(id, "ann/1", 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Stop(ctx, "b"); err != nil {
		t.Error(err)
	}
	if stop, err := one.Follow(ctx, map[string]string{"a": "7"}); err != nil || !slices.Equal(stop, []string{"b"}) {
		t.Error(stop, err)
	}
	if rows, err := other.List(ctx, SubagentFilter{RunID: "a", Limit: 1}); err != nil || rows[0].Used != "7" {
		t.Error(rows, err)
	}
	if s.Shared() {
		if stop, err := other.Follow(ctx, nil); err != nil || len(stop) != 0 {
			t.Error("of another server:", stop, err)
		}
	}
}

// What ran in a server that has ended gets a status, and what it had not announced is found.
// Old sessions go, and too many.
func TestSubagentsSweep(t *testing.T) { eachBackend(t, testSubagentsSweep) }

func testSubagentsSweep(t *testing.T, newStore opener) {
	s, o := newStore(t)
	third := New(s.File(), &Options{Server: s.server})
	now, ctx := time.Now(), t.Context()
	alive := true
	sweep := func(table Subagents, before, longest time.Time, most, bytes int) string {
		ended, err := table.Sweep(ctx, before, longest, most, bytes, "lost", func(int) bool { return alive })
		if err != nil {
			t.Error(err)
		}
		var all []string
		for _, one := range ended {
			all = append(all, one.RunID+" "+one.Owner)
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	gone, here := NewSubagents(third), NewSubagents(o)
	for i, id := range []string{"runs", "done", "told", "hour"} {
		row := newSubagent(id, "ann/1", now.Add(-time.Duration(i)*time.Hour).UnixMilli())
		if err := gone.Add(ctx, row); err != nil {
			t.Fatal(err)
		}
		if row.Status, row.Ended = "done", now.Add(-time.Minute); id == "done" || id == "told" {
			if err := gone.End(ctx, row); err != nil {
				t.Error(err)
			}
		}
	}
	if err := gone.Tell(ctx, []string{"told"}, func([]*Subagent) {}); err != nil {
		t.Error(err)
	}
	if got := sweep(here, now.Add(-time.Hour), now.Add(-4*time.Hour), 9, 1<<20); got != "" {
		t.Errorf("while it lives: %s", got)
	}
	if got := sweep(here, now.Add(-time.Hour), now.Add(-2*time.Hour), 9, 1<<20); got != "hour ann" {
		t.Errorf("after the longest time: %s", got)
	}
	if err := third.Close(); err != nil {
		t.Error(err)
	}
	alive = false
	if got := sweep(here, now.Add(-time.Hour), now.Add(-4*time.Hour), 9, 1<<20); got != "done ann, hour ann, runs ann" {
		t.Errorf("after its end: %s", got)
	}
	rows, err := here.List(ctx, SubagentFilter{RunID: "runs", Limit: 1})
	if err != nil || rows[0].Status != "lost" || rows[0].Ended.Before(now.Add(-time.Second)) {
		t.Error(rows, err)
	}
	sweep(here, now.Add(-time.Hour), now.Add(-4*time.Hour), 3, 1<<20)
	if got := ids(t, here, SubagentFilter{}); got != "runs done told" {
		t.Errorf("%s are left of 3", got)
	}
	sweep(here, now.Add(-time.Hour), now.Add(-4*time.Hour), 9, 12) // each has four
	if got := ids(t, here, SubagentFilter{}); got != "runs done told" {
		t.Errorf("%s are left of three's bytes", got)
	}
	sweep(here, now.Add(-time.Hour), now.Add(-4*time.Hour), 9, 11)
	if got := ids(t, here, SubagentFilter{}); got != "runs done" {
		t.Errorf("%s are left of less than three's bytes", got)
	}
	sweep(here, now.Add(-time.Second), now.Add(-4*time.Hour), 9, 1<<20)
	if got := ids(t, here, SubagentFilter{}); got != "runs" {
		t.Errorf("%s are left of the last second", got)
	}
}

// BenchmarkSubagent measures the three writes of one session.
func BenchmarkSubagent(b *testing.B) {
	s := New(b.TempDir()+"/skills-mcp.db", nil)
	closeAfter(b, s)
	table, ctx := NewSubagents(s), context.Background()
	i := 0
	for b.Loop() {
		i++
		row := newSubagent(fmt.Sprint(i), "ann/1", int64(i))
		err := table.Add(ctx, row)
		if row.Ended = time.Now(); err == nil {
			err = table.End(ctx, row)
		}
		if err == nil {
			err = table.Tell(ctx, []string{row.RunID}, func([]*Subagent) {})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
