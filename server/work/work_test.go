package work

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type job struct{ Unit }

func begin(t *testing.T, r *Registry[*job], id, by string) (*job, error) {
	t.Helper()
	j := &job{Unit{ID: id, By: identity.Key(by)}}
	return j, r.Start(t.Context(), j, func(ctx context.Context) { <-ctx.Done() })
}

// So much work runs, in all and of one owner, and what has ended is remembered up to a
// number, for a time.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New[*job](Limits{Running: 3, Owned: 2, Known: 4, Age: time.Hour})
		defer r.Close()
		var all []*job
		for _, step := range []struct {
			id, by string
			want   error
		}{{"1", "me", nil}, {"2", "me", nil}, {"3", "me", ErrOwned}, {"4", "you", nil}, {"5", "you", ErrRunning}} {
			j, err := begin(t, r, step.id, step.by)
			if !errors.Is(err, step.want) {
				t.Errorf("%s: %v", step.id, err)
			}
			all = append(all, j)
		}
		r.Leave("me", context.Canceled)
		synctest.Wait()
		if !all[0].Over() || !all[1].Over() || all[3].Over() {
			t.Error("the wrong ones have ended")
		}
		for _, id := range []string{"6", "7"} {
			if _, err := begin(t, r, id, "me"); err != nil {
				t.Error(err)
			}
		}
		if _, found := r.Find("1"); found {
			t.Error("the oldest is still known")
		}
		if _, found := r.Find("2"); !found || len(r.All()) != 4 || r.All()[0].ID != "7" {
			t.Errorf("known: %d", len(r.All()))
		}
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		if _, found := r.Find("2"); found {
			t.Error("it is known for ever")
		}
	})
}

// Work goes on when its request ends, and Close ends it and waits.
func TestClose(t *testing.T) {
	r := New[*job](Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	j := &job{Unit{ID: "1"}}
	var cause error
	if err := r.Start(ctx, j, func(ctx context.Context) { <-ctx.Done(); cause = context.Cause(ctx) }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if j.Over() {
		t.Error("it has ended with its request")
	}
	r.Close()
	if !j.Over() || !errors.Is(cause, sandbox.ErrClosed) || len(r.All()) > 0 {
		t.Errorf("%v, %d left", cause, len(r.All()))
	}
	if _, err := begin(t, r, "2", ""); !errors.Is(err, sandbox.ErrClosed) {
		t.Error(err)
	}
}

func TestGuard(t *testing.T) {
	if _, err := Guard(slog.New(slog.DiscardHandler), func() (int, error) { panic("oh") }); !errors.Is(err, ErrPanic) {
		t.Error(err)
	}
	if n, err := Guard(nil, func() (int, error) { return 1, nil }); n != 1 || err != nil {
		t.Error(n, err)
	}
}

// A registry that drains starts nothing, and waits for the work that runs.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New[*job](Limits{Known: 2, Age: time.Hour})
		defer r.Close()
		j, _ := begin(t, r, "1", "me")
		drained := make(chan struct{})
		go func() { r.Drain(t.Context()); close(drained) }()
		synctest.Wait()
		if _, err := begin(t, r, "2", "me"); !errors.Is(err, sandbox.ErrClosed) || j.Over() {
			t.Errorf("%v, over %t", err, j.Over())
		}
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r.Drain(limited)
		j.End(context.Canceled)
		<-drained
	})
}
