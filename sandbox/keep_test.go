package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// keeping is a driver that keeps sandboxes in which any command runs until it
// is ended, or for as long as its first argument says.
type keeping struct {
	fake
	opened  func(ctx context.Context, cmd *Command) error // nil succeeds
	closing time.Duration                                 // what Close takes

	mu   sync.Mutex
	open map[string]bool // by id
	most int             // sandboxes at once
}

func (k *keeping) Open(ctx context.Context, cmd *Command) (Kept, error) {
	if k.opened != nil {
		if err := k.opened(ctx, cmd); err != nil {
			return nil, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == nil {
		k.open = map[string]bool{}
	}
	k.open[cmd.RunID] = true
	k.most = max(k.most, len(k.open))
	return &keptBox{k, cmd.RunID}, nil
}

// ids are those of the sandboxes that are there.
func (k *keeping) ids() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var ids []string
	for _, id := range []string{"a", "b", "c", "d"} {
		if k.open[id] {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}

type keptBox struct {
	driver *keeping
	id     string
}

func (b *keptBox) Run(ctx context.Context, cmd *Command) (*Exit, error) {
	cmd.Started()
	lasts, err := time.ParseDuration(cmd.Argv[0])
	if err != nil {
		return nil, &UnavailableError{Reason: cmd.Argv[0]}
	}
	_, _ = fmt.Fprintf(cmd.Stdout, "%s in %s", cmd.Argv[0], b.id)
	select {
	case <-time.After(lasts):
		return &Exit{Sandbox: "kept"}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (b *keptBox) Close() error {
	time.Sleep(b.driver.closing)
	b.driver.mu.Lock()
	defer b.driver.mu.Unlock()
	delete(b.driver.open, b.id)
	return nil
}

// keptTest runs a test in virtual time with a runner that keeps sandboxes, and
// wants none left.
func keptTest(t *testing.T, driver *keeping, keeping Keeping, test func(t *testing.T, r *Runner)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := New(driver, &Options{Keeping: keeping, Slots: Slots{Total: 4, PerCaller: 4, PerSkill: 4}})
		test(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if len(driver.open) > 0 || r.keep.total != 0 || len(r.keep.places) != 0 || len(r.keep.boxes) != 0 {
			t.Errorf("left: %v, %d places, %v", driver.open, r.keep.total, r.keep.boxes)
		}
	})
}

func open3(t *testing.T, r *Runner, callers ...string) {
	t.Helper()
	for i, caller := range callers {
		if err := r.Open(t.Context(), Command{Tenant: Tenant{ID: caller}, RunID: string(rune('a' + i)), Skill: "s"}); err != nil {
			t.Fatal(err)
		}
	}
}

func runIn(t *testing.T, r *Runner, caller, id, lasts string) (string, error) {
	t.Helper()
	result, err := r.RunIn(t.Context(), id, Command{Tenant: Tenant{ID: caller}, Argv: []string{lasts}})
	if err != nil {
		return "", err
	}
	return string(result.Stdout.Bytes()), nil
}

func wantEnd(t *testing.T, err error, why string) {
	t.Helper()
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) || unavailable.Reason != "the kept sandbox has ended: "+why {
		t.Errorf("error %v, want %s", err, why)
	}
}

func TestKept(t *testing.T) {
	driver := &keeping{}
	keptTest(t, driver, Keeping{}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann", "ann")
		for range 2 {
			if out, err := runIn(t, r, "ann", "b", "1s"); out != "1s in b" || err != nil {
				t.Errorf("%q, %v", out, err)
			}
		}
		cmd, err := r.Kept(Tenant{ID: "ann"}, "a")
		if err != nil || cmd.Skill != "s" || cmd.Limits != DefaultLimits() {
			t.Errorf("opened for %+v, %v", cmd, err)
		}
		if err := r.CloseKept(t.Context(), Tenant{ID: "ann"}, "a"); err != nil || driver.ids() != "b" {
			t.Errorf("close: %v, left %s", err, driver.ids())
		}
		for _, err := range []error{
			r.CloseKept(t.Context(), Tenant{ID: "ann"}, "a"), r.CloseKept(t.Context(), Tenant{ID: "bob"}, "b"), r.CloseKept(t.Context(), Tenant{ID: "ann"}, "x"),
		} {
			if err != ErrNotKept {
				t.Errorf("error %v", err)
			}
		}
		for _, other := range [][2]string{{"ann", "a"}, {"bob", "b"}, {"", ""}} {
			if _, err := runIn(t, r, other[0], other[1], "1s"); err != ErrNotKept {
				t.Errorf("%v: %v", other, err)
			}
			if _, err := r.Kept(Tenant{ID: other[0]}, other[1]); err != ErrNotKept {
				t.Errorf("%v: %v", other, err)
			}
		}
	})
}

func TestKeptEndsWhenIdle(t *testing.T) {
	driver := &keeping{}
	keptTest(t, driver, Keeping{Idle: time.Minute, Lifetime: time.Hour}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann", "ann")
		for range 5 { // neither a command nor a short pause is idleness
			if _, err := runIn(t, r, "ann", "a", "2m"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(59 * time.Second)
		}
		if got := driver.ids(); got != "a" {
			t.Errorf("kept: %s", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := driver.ids(); got != "" {
			t.Errorf("kept: %s", got)
		}
		if _, err := runIn(t, r, "ann", "a", "1s"); err != ErrNotKept {
			t.Errorf("error %v", err)
		}
	})
}

// A command that comes as the idle time ends is not ended by it.
func TestKeptIsUsedInTheLastMoment(t *testing.T) {
	driver := &keeping{}
	keptTest(t, driver, Keeping{}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann")
		b, err := r.keep.use(Tenant{ID: "ann"}, "a")
		if err != nil {
			t.Fatal(err)
		}
		r.keep.dropIdle(b) // the clock had struck before the command stopped it
		synctest.Wait()
		if got := driver.ids(); got != "a" {
			t.Errorf("kept: %q", got)
		}
		r.keep.unuse(b)
	})
}

func TestKeptEndsWithItsLifetime(t *testing.T) {
	keptTest(t, &keeping{}, Keeping{Idle: time.Minute, Lifetime: time.Hour}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann")
		began := time.Now()
		result, err := r.RunIn(t.Context(), "a", Command{Tenant: Tenant{ID: "ann"}, Argv: []string{"2h"}, Limits: Limits{Timeout: 3 * time.Hour}})
		wantEnd(t, err, "its lifetime of 1h0m0s is over")
		if took := time.Since(began); took != time.Hour || result == nil {
			t.Errorf("after %s: %+v", took, result)
		}
	})
}

func TestKeptEndsWithItsCaller(t *testing.T) {
	driver := &keeping{}
	keptTest(t, driver, Keeping{}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann", "bob", "ann")
		r.Leave(Tenant{ID: "ann"})
		synctest.Wait()
		if got := driver.ids(); got != "b" {
			t.Errorf("kept: %s", got)
		}
	})
}

// Whatever ends the sandbox ends what runs in it, and what waits for it.
func TestKeptEndsItsCommands(t *testing.T) {
	driver := &keeping{}
	keptTest(t, driver, Keeping{}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann")
		ends, waits := make(chan error, 2), ""
		for i := range 2 {
			go func() {
				_, err := r.RunIn(t.Context(), "a", Command{Tenant: Tenant{ID: "ann"}, Argv: []string{"5m"}, Progress: func(m string) { waits += fmt.Sprint(i, m) }})
				ends <- err
			}()
			synctest.Wait()
		}
		if waits != "1waiting for the other command in this sandbox" {
			t.Errorf("progress %q", waits)
		}
		if err := r.CloseKept(t.Context(), Tenant{ID: "ann"}, "a"); err != nil {
			t.Error(err)
		}
		for range 2 {
			wantEnd(t, <-ends, "it was closed")
		}
		if r.gate.total != 0 {
			t.Errorf("%d slots are taken", r.gate.total)
		}
	})
}

// One command at a time; one that waits for its turn takes no slot.
func TestKeptTakesTurns(t *testing.T) {
	keptTest(t, &keeping{}, Keeping{}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann")
		var calls sync.WaitGroup
		began := time.Now()
		for range 3 {
			calls.Go(func() {
				if _, err := runIn(t, r, "ann", "a", "10s"); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		r.gate.mu.Lock()
		if r.gate.total != 1 {
			t.Errorf("%d slots are taken", r.gate.total)
		}
		r.gate.mu.Unlock()
		calls.Wait()
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("it took %s", took)
		}
		for range maxUsers {
			calls.Go(func() { _, _ = runIn(t, r, "ann", "a", "1s") })
		}
		synctest.Wait()
		if _, err := runIn(t, r, "ann", "a", "1s"); err != ErrBusy {
			t.Errorf("one more than may wait: %v", err)
		}
		calls.Wait()
	})
}

func TestKeptLimits(t *testing.T) {
	keptTest(t, &keeping{}, Keeping{}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann")
		_, err := r.RunIn(t.Context(), "a", Command{Tenant: Tenant{ID: "ann"}, Argv: []string{"2m"}, Limits: Limits{Timeout: time.Minute}})
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Limit != LimitTime {
			t.Errorf("error %v", err)
		}
		if out, err := runIn(t, r, "ann", "a", "1s"); out == "" || err != nil {
			t.Errorf("afterwards %q, %v", out, err)
		}
	})
}

// Places are bounded, also while sandboxes open and close, and none is lost.
func TestKeptIsBounded(t *testing.T) {
	fails := errors.New("fails")
	driver := &keeping{closing: time.Minute, opened: func(_ context.Context, cmd *Command) error {
		if time.Sleep(time.Minute); cmd.Skill == "fails" {
			return fails
		}
		return nil
	}}
	keptTest(t, driver, Keeping{PerCaller: 2, Total: 3}, func(t *testing.T, r *Runner) {
		open := func(caller, id, skill string) error {
			return r.Open(t.Context(), Command{Tenant: Tenant{ID: caller}, RunID: id, Skill: skill})
		}
		if err := open("ann", "a", "fails"); err != fails {
			t.Errorf("error %v", err)
		}
		var opens sync.WaitGroup
		for _, id := range []string{"a", "b"} {
			opens.Go(func() {
				if err := open("ann", id, ""); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		var many *TooManyError
		if err := open("ann", "c", ""); !errors.As(err, &many) || err.Error() != "at most 2 sandboxes are kept for one client" {
			t.Errorf("error %v", err)
		}
		opens.Wait()
		if err := open("bob", "c", ""); err != nil {
			t.Error(err)
		}
		if err := open("cid", "d", ""); !errors.As(err, &many) || err.Error() != "at most 3 sandboxes are kept at once" {
			t.Errorf("error %v", err)
		}
		r.Leave(Tenant{ID: "ann"})
		if err := open("cid", "d", ""); !errors.As(err, &many) {
			t.Errorf("while others close: %v", err)
		}
		if err := r.CloseKept(t.Context(), Tenant{ID: "bob"}, "c"); err != nil {
			t.Error(err)
		}
		if err := open("cid", "d", ""); err != nil {
			t.Error(err)
		}
		if driver.most != 3 {
			t.Errorf("%d at once", driver.most)
		}
	})
}

func TestKeptIsLost(t *testing.T) {
	driver := &keeping{}
	keptTest(t, driver, Keeping{}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann")
		if _, err := runIn(t, r, "ann", "a", "the engine is gone"); err == nil || err.Error() != "the engine is gone" {
			t.Errorf("error %v", err)
		}
		if _, err := runIn(t, r, "ann", "a", "1s"); err != ErrNotKept {
			t.Errorf("error %v", err)
		}
	})
}

func TestKeptAndClose(t *testing.T) {
	driver := &keeping{opened: func(ctx context.Context, cmd *Command) error {
		if cmd.RunID != "b" {
			return nil
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}}
	keptTest(t, driver, Keeping{}, func(t *testing.T, r *Runner) {
		open3(t, r, "ann")
		ends := make(chan error, 2)
		go func() {
			_, err := runIn(t, r, "ann", "a", "5m")
			ends <- err
		}()
		go func() { ends <- r.Open(t.Context(), Command{Tenant: Tenant{ID: "ann"}, RunID: "b"}) }()
		synctest.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := <-ends; !errors.Is(err, ErrClosed) {
				t.Errorf("error %v", err)
			}
		}
		if err := r.Open(t.Context(), Command{Tenant: Tenant{ID: "ann"}, RunID: "c"}); !errors.Is(err, ErrClosed) {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestFallbackKeeps(t *testing.T) {
	missing := func(context.Context, *Command) error {
		return &UnavailableError{Reason: "no engine", Remedy: "start one"}
	}
	broken := func(context.Context, *Command) error { return errors.New("broken") }
	for _, test := range []struct {
		name          string
		first, second Driver
		want          string
		warnings      int
	}{
		{"the first keeps", &keeping{}, &keeping{opened: broken}, "", 0},
		{"the first has none", &keeping{opened: missing}, &keeping{}, "", 1},
		{"the first cannot", &fake{}, &keeping{}, "", 1},
		{"the first fails", &keeping{opened: broken}, &keeping{}, "broken", 0},
		{"neither has one", &keeping{opened: missing}, &keeping{opened: missing}, "no engine, and no engine; start one, or start one", 0},
		{"no driver keeps", &fake{}, nil, "this sandbox driver cannot keep a sandbox between calls; run each call in a sandbox of its own, without container_id", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			warnings := 0
			driver := test.first
			if test.second != nil {
				driver = Fallback(test.first, test.second, func(error) { warnings++ })
			}
			got := ""
			if err := newRunner(t, driver, nil).Open(t.Context(), Command{Tenant: Tenant{ID: "ann"}, RunID: "a"}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" || warnings != test.warnings {
				t.Errorf("%s warned %d times, want %d", diff, warnings, test.warnings)
			}
		})
	}
}
