package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An item is written by who has read its last version, is found by all servers, and is
// taken once.
func TestItems(t *testing.T) { eachBackend(t, testItems) }

func testItems(t *testing.T, newStore opener) {
	s, other := newStore(t)
	one, two, ctx := NewItems(s, "task"), NewItems(other, "task"), t.Context()
	if i, err := one.Get(ctx, "a"); i != nil || err != nil {
		t.Fatalf("%v, %v", i, err)
	}
	a := &Item{Key: "a", Owner: "me", Instance: 7, Expires: time.UnixMilli(time.Now().Add(time.Hour).UnixMilli()), Body: []byte("1")}
	for _, i := range []*Item{a, {Key: "b", Owner: "you"}} {
		if err := one.Put(ctx, i); err != nil || i.Version != 1 {
			t.Fatal(i, err)
		}
	}
	if err := NewItems(s, "session").Put(ctx, &Item{Key: "a"}); err != nil {
		t.Fatal(err)
	}
	found, err := two.Get(ctx, "a")
	if diff := cmp.Diff(a, found); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	found.Body = []byte("2")
	if err := two.Put(ctx, found); err != nil || found.Version != 2 {
		t.Error(found, err)
	}
	for name, late := range map[string]*Item{"changed": a, "there already": {Key: "a"}, "gone": {Key: "c", Version: 1}} {
		if err := one.Put(ctx, late); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var keys []string
	all, err := one.List(ctx)
	for _, i := range all {
		keys = append(keys, i.Key)
	}
	if diff := cmp.Diff([]string{"a", "b"}, keys); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if taken, err := one.Take(ctx, "a"); err != nil || string(taken.Body) != "2" {
		t.Error(taken, err)
	}
	if taken, err := two.Take(ctx, "a"); taken != nil || err != nil {
		t.Error(taken, err)
	}
}

// What has expired is not there, and another takes its place.
func TestItemsExpire(t *testing.T) { eachBackend(t, testItemsExpire) }

func testItemsExpire(t *testing.T, newStore opener) {
	s, _ := newStore(t)
	items, ctx := NewItems(s, "task"), t.Context()
	old := &Item{Key: "a", Expires: time.Now().Add(-time.Second)}
	if err := items.Put(ctx, old); err != nil {
		t.Fatal(err)
	}
	all, err1 := items.List(ctx)
	got, err2 := items.Get(ctx, "a")
	taken, err3 := items.Take(ctx, "a")
	if err := errors.Join(err1, err2, err3); len(all) != 0 || got != nil || taken != nil || err != nil {
		t.Error(all, got, taken, err)
	}
	if err := items.Put(ctx, old); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if err := items.Put(ctx, &Item{Key: "a", Body: []byte("new")}); err != nil {
		t.Error(err)
	}
	if got, err := items.Get(ctx, "a"); err != nil || got == nil || string(got.Body) != "new" {
		t.Error(got, err)
	}
}

// The items of a server are lost when it has ended, or was not renewed for too long while
// another one was.
func TestInstances(t *testing.T) { eachBackend(t, testInstances) }

func testInstances(t *testing.T, newStore opener) {
	s, other := newStore(t)
	ctx := t.Context()
	third := New(s.File(), &Options{Server: s.server})
	number := map[*Store]int{}
	for _, one := range []*Store{s, other, third} {
		n, err := one.Instance(ctx)
		if again, _ := one.Instance(ctx); n == 0 || n != again || err != nil {
			t.Fatal(n, again, err)
		}
		number[one] = n
		if err := NewItems(one, "task").Put(ctx, &Item{Key: fmt.Sprint(n), Instance: n}); err != nil {
			t.Fatal(err)
		}
	}
	lost := func() string {
		var keys []string
		all, err := NewItems(s, "task").Lost(ctx)
		if err != nil {
			t.Error(err)
		}
		for _, i := range all {
			keys = append(keys, i.Key)
		}
		return strings.Join(keys, " ")
	}
	if got := lost(); got != "" {
		t.Errorf("while all live: %s", got)
	}
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := lost(), fmt.Sprint(number[third]); got != want {
		t.Errorf("after its end: %s, want %s", got, want)
	}
	// As after an outage: nobody was renewed, so s is the first of all.
	stop(s, other)
	if _, err := s.execute(ctx, "instances", "UPDATE instances SET renewed = renewed - 60000, since = since - 60000"); err != nil {
		t.Fatal(err)
	}
	if _, err := renew(ctx, s.stateFile, number[s], 0); err != nil {
		t.Fatal(err)
	}
	if got, want := lost(), fmt.Sprint(number[third]); got != want {
		t.Errorf("after an outage: %s, want %s", got, want)
	}
	// s was renewed for long enough since.
	if _, err := s.execute(ctx, "instances", "UPDATE instances SET since = since - 60000 WHERE n = ?", number[s]); err != nil {
		t.Fatal(err)
	}
	if _, err := renew(ctx, s.stateFile, number[s], 0); err != nil {
		t.Fatal(err)
	}
	if got, want := lost(), fmt.Sprint(number[other], " ", number[third]); got != want {
		t.Errorf("after a lifetime: %s, want %s", got, want)
	}
}

// stop ends the renewal of servers, as the end of their machines does.
func stop(all ...*Store) {
	for _, s := range all {
		s.instance.stop()
	}
}

// Of many who want it on two servers, one alone uses an approval, takes an item, or ends a
// task, and no count is lost.
func TestOnce(t *testing.T) { eachBackend(t, testOnce) }

func testOnce(t *testing.T, newStore opener) {
	s, other := newStore(t)
	ctx := t.Context()
	if err := change(ctx, s, Durable, Decision{Kind: "approval", Key: "a", State: "given"}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"task", "answer"} {
		if err := NewItems(s, "task").Put(ctx, &Item{Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	var used, ended, taken, calls atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		one := []*Store{s, other}[i%2]
		all.Go(func() {
			ok, err1 := use(ctx, one)
			err2 := NewItems(one, "task").Put(ctx, &Item{Key: "task", Version: 1, Instance: i + 1})
			item, err3 := NewItems(one, "task").Take(ctx, "answer")
			err4 := one.AddUses(ctx, map[string]int{"a": 1, "b": 1})
			_, err5 := NewRuns(one).Add(ctx, newRun(i))
			count(&used, ok)
			count(&ended, err2 == nil)
			count(&taken, item != nil)
			count(&calls, err4 == nil)
			if errors.Is(err2, ErrChanged) {
				err2 = nil
			}
			if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if used.Load() != 1 || ended.Load() != 1 || taken.Load() != 1 {
		t.Errorf("used %d, ended %d, taken %d times", used.Load(), ended.Load(), taken.Load())
	}
	if uses, err := s.Uses(ctx); err != nil || uses["a"] != 16 || uses["b"] != 16 {
		t.Error(uses, err)
	}
	runs, err := NewRuns(other).List(ctx, RunFilter{Limit: 100, Oldest: true})
	for i, r := range runs {
		if r.Seq != int64(i+1) {
			t.Errorf("run %d has the number %d", i+1, r.Seq)
		}
	}
	if len(runs) != 16 || err != nil {
		t.Error(len(runs), err)
	}
}

func count(n *atomic.Int32, is bool) {
	if is {
		n.Add(1)
	}
}

// use uses an approval, as package approval does.
func use(ctx context.Context, s *Store) (ok bool, err error) {
	err = s.ChangeDecisions(ctx, Durable, "approval", func(tx *Decisions) error {
		rows, err := tx.Select(DecisionFilter{Key: "a"})
		if ok = err == nil && rows[0].State == "given"; !ok {
			return err
		}
		rows[0].State = "used"
		return tx.Put(rows[0])
	})
	return ok && err == nil, err
}

// A decision of another machine wakes what watches the stamp of this one.
func TestStampOfOthers(t *testing.T) {
	s, other := newShared(t)
	n, err := s.Instance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen, err := s.Generation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := trust(t.Context(), other, "/a"); err != nil {
		t.Fatal(err)
	}
	stop(s)
	_ = os.Remove(s.Stamp()) // it may have been renewed meanwhile
	for i, want := range []bool{true, false} {
		now, err := renew(t.Context(), s.stateFile, n, seen)
		_, missing := os.Stat(s.Stamp())
		if err != nil || (missing == nil) != want {
			t.Errorf("renewal %d: %v, %v", i, missing, err)
		}
		seen = now
		_ = os.Remove(s.Stamp())
	}
}
