package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a driver with sessions in which any command runs until it
// is ended, or for as long as its first argument says.
type fake struct {
	admitted slots
	opened   func(ctx context.Context, cmd *sandbox.Command) error // nil succeeds
	closing  time.Duration                                         // what Close takes

	mu   sync.Mutex
	open map[string]bool // by id
	most int             // sandboxes at once
}

func (k *fake) Open(ctx context.Context, cmd *sandbox.Command) (sandbox.Session, error) {
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
	return &fakeSession{k, cmd.RunID}, nil
}

// ids are those of the sandboxes that are there.
func (k *fake) ids() string {
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

type fakeSession struct {
	driver *fake
	id     string
}

func (b *fakeSession) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	lasts, err := time.ParseDuration(cmd.Argv[0])
	if err != nil {
		return nil, &sandbox.UnavailableError{Reason: cmd.Argv[0]}
	}
	_, _ = fmt.Fprintf(cmd.Stdout, "%s in %s", cmd.Argv[0], b.id)
	select {
	case <-time.After(lasts):
		return &sandbox.Exit{Sandbox: "kept"}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (b *fakeSession) Close() error {
	time.Sleep(b.driver.closing)
	b.driver.mu.Lock()
	defer b.driver.mu.Unlock()
	delete(b.driver.open, b.id)
	return nil
}

// slots is an admission that counts its slots.
type slots struct{ taken atomic.Int64 }

func (s *slots) Admit(context.Context, sandbox.Tenant, string, func()) (func(), error) {
	s.taken.Add(1)
	return func() { s.taken.Add(-1) }, nil
}

func (f *fake) Run(context.Context, *sandbox.Command) (*sandbox.Exit, error) {
	return nil, errors.New("not in this test")
}

func (f *fake) Close() error { return nil }

// sessionTest runs a test in virtual time with a manager, and wants nothing left.
func sessionTest(t *testing.T, driver *fake, limits Limits, test func(t *testing.T, m *Manager)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		runner := sandbox.New(driver, &sandbox.Options{Admission: &driver.admitted})
		m := New(runner, &limits)
		test(t, m)
		m.Close()
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
		if len(driver.open) > 0 || m.total != 0 || len(m.owned) != 0 || len(m.sessions) != 0 || driver.admitted.taken.Load() != 0 {
			t.Errorf("left: %v, %d of %v, %v", driver.open, m.total, m.owned, m.sessions)
		}
	})
}

func open3(t *testing.T, m *Manager, callers ...string) {
	t.Helper()
	for i, caller := range callers {
		if err := m.Open(t.Context(), sandbox.Command{Tenant: sandbox.Tenant{ID: caller}, RunID: string(rune('a' + i)), Skill: "s"}); err != nil {
			t.Fatal(err)
		}
	}
}

func runIn(t *testing.T, m *Manager, caller, id, lasts string) (string, error) {
	t.Helper()
	result, err := m.Run(t.Context(), id, sandbox.Command{Tenant: sandbox.Tenant{ID: caller}, Argv: []string{lasts}})
	if err != nil {
		return "", err
	}
	return string(result.Stdout.Bytes()), nil
}

func wantEnd(t *testing.T, err error, why string) {
	t.Helper()
	var unavailable *sandbox.UnavailableError
	if !errors.As(err, &unavailable) || unavailable.Reason != "the kept sandbox has ended: "+why {
		t.Errorf("error %v, want %s", err, why)
	}
}

func TestSession(t *testing.T) {
	driver := &fake{}
	sessionTest(t, driver, Limits{}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann", "ann")
		for range 2 {
			if out, err := runIn(t, m, "ann", "b", "1s"); out != "1s in b" || err != nil {
				t.Errorf("%q, %v", out, err)
			}
		}
		cmd, err := m.Command(sandbox.Tenant{ID: "ann"}, "a")
		if err != nil || cmd.Skill != "s" || cmd.Limits != sandbox.DefaultLimits() {
			t.Errorf("opened for %+v, %v", cmd, err)
		}
		if err := m.End(t.Context(), sandbox.Tenant{ID: "ann"}, "a"); err != nil || driver.ids() != "b" {
			t.Errorf("close: %v, left %s", err, driver.ids())
		}
		for _, err := range []error{
			m.End(t.Context(), sandbox.Tenant{ID: "ann"}, "a"), m.End(t.Context(), sandbox.Tenant{ID: "bob"}, "b"), m.End(t.Context(), sandbox.Tenant{ID: "ann"}, "x"),
		} {
			if err != ErrNotFound {
				t.Errorf("error %v", err)
			}
		}
		for _, other := range [][2]string{{"ann", "a"}, {"bob", "b"}, {"", ""}} {
			if _, err := runIn(t, m, other[0], other[1], "1s"); err != ErrNotFound {
				t.Errorf("%v: %v", other, err)
			}
			if _, err := m.Command(sandbox.Tenant{ID: other[0]}, other[1]); err != ErrNotFound {
				t.Errorf("%v: %v", other, err)
			}
		}
	})
}

func TestSessionEndsWhenIdle(t *testing.T) {
	driver := &fake{}
	sessionTest(t, driver, Limits{Idle: time.Minute, Lifetime: time.Hour}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann", "ann")
		for range 5 { // neither a command nor a short pause is idleness
			if _, err := runIn(t, m, "ann", "a", "2m"); err != nil {
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
		if _, err := runIn(t, m, "ann", "a", "1s"); err != ErrNotFound {
			t.Errorf("error %v", err)
		}
	})
}

// A command that comes as the idle time ends is not ended by it.
func TestSessionIsUsedInTheLastMoment(t *testing.T) {
	driver := &fake{}
	sessionTest(t, driver, Limits{}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann")
		b, err := m.acquire(sandbox.Tenant{ID: "ann"}, "a")
		if err != nil {
			t.Fatal(err)
		}
		m.dropIdle(b) // the clock had struck before the command stopped it
		synctest.Wait()
		if got := driver.ids(); got != "a" {
			t.Errorf("kept: %q", got)
		}
		m.put(b)
	})
}

func TestSessionEndsWithItsLifetime(t *testing.T) {
	sessionTest(t, &fake{}, Limits{Idle: time.Minute, Lifetime: time.Hour}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann")
		began := time.Now()
		result, err := m.Run(t.Context(), "a", sandbox.Command{Tenant: sandbox.Tenant{ID: "ann"}, Argv: []string{"2h"}, Limits: sandbox.Limits{Timeout: 3 * time.Hour}})
		wantEnd(t, err, "its lifetime of 1h0m0s is over")
		if took := time.Since(began); took != time.Hour || result == nil {
			t.Errorf("after %s: %+v", took, result)
		}
	})
}

func TestSessionEndsWithItsCaller(t *testing.T) {
	driver := &fake{}
	sessionTest(t, driver, Limits{}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann", "bob", "ann")
		m.Leave(sandbox.Tenant{ID: "ann"})
		synctest.Wait()
		if got := driver.ids(); got != "b" {
			t.Errorf("kept: %s", got)
		}
	})
}

// Whatever ends the sandbox ends what runs in it, and what waits for it.
func TestSessionEndsItsCommands(t *testing.T) {
	driver := &fake{}
	sessionTest(t, driver, Limits{}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann")
		ends, waits := make(chan error, 2), ""
		for i := range 2 {
			go func() {
				_, err := m.Run(t.Context(), "a", sandbox.Command{Tenant: sandbox.Tenant{ID: "ann"}, Argv: []string{"5m"}, Progress: func(m string) { waits += fmt.Sprint(i, m) }})
				ends <- err
			}()
			synctest.Wait()
		}
		if waits != "1waiting for the other command in this sandbox" {
			t.Errorf("progress %q", waits)
		}
		if err := m.End(t.Context(), sandbox.Tenant{ID: "ann"}, "a"); err != nil {
			t.Error(err)
		}
		for range 2 {
			wantEnd(t, <-ends, "it was closed")
		}
		if taken := driver.admitted.taken.Load(); taken != 0 {
			t.Errorf("%d slots are taken", taken)
		}
	})
}

// One command at a time; one that waits for its turn takes no slot.
func TestSessionTakesTurns(t *testing.T) {
	driver := &fake{}
	sessionTest(t, driver, Limits{}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann")
		var calls sync.WaitGroup
		began := time.Now()
		for range 3 {
			calls.Go(func() {
				if _, err := runIn(t, m, "ann", "a", "10s"); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if taken := driver.admitted.taken.Load(); taken != 1 {
			t.Errorf("%d slots are taken", taken)
		}
		calls.Wait()
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("it took %s", took)
		}
		for range maxUsers {
			calls.Go(func() { _, _ = runIn(t, m, "ann", "a", "1s") })
		}
		synctest.Wait()
		if _, err := runIn(t, m, "ann", "a", "1s"); err != sandbox.ErrBusy {
			t.Errorf("one more than may wait: %v", err)
		}
		calls.Wait()
	})
}

func TestSessionLimits(t *testing.T) {
	sessionTest(t, &fake{}, Limits{}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann")
		_, err := m.Run(t.Context(), "a", sandbox.Command{Tenant: sandbox.Tenant{ID: "ann"}, Argv: []string{"2m"}, Limits: sandbox.Limits{Timeout: time.Minute}})
		var limit *sandbox.LimitError
		if !errors.As(err, &limit) || limit.Limit != sandbox.LimitTime {
			t.Errorf("error %v", err)
		}
		if out, err := runIn(t, m, "ann", "a", "1s"); out == "" || err != nil {
			t.Errorf("afterwards %q, %v", out, err)
		}
	})
}

// Places are bounded, also while sandboxes open and close, and none is lost.
func TestSessionIsBounded(t *testing.T) {
	fails := errors.New("fails")
	driver := &fake{closing: time.Minute, opened: func(_ context.Context, cmd *sandbox.Command) error {
		if time.Sleep(time.Minute); cmd.Skill == "fails" {
			return fails
		}
		return nil
	}}
	sessionTest(t, driver, Limits{PerTenant: 2, Total: 3}, func(t *testing.T, m *Manager) {
		open := func(caller, id, skill string) error {
			return m.Open(t.Context(), sandbox.Command{Tenant: sandbox.Tenant{ID: caller}, RunID: id, Skill: skill})
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
		m.Leave(sandbox.Tenant{ID: "ann"})
		if err := open("cid", "d", ""); !errors.As(err, &many) {
			t.Errorf("while others close: %v", err)
		}
		if err := m.End(t.Context(), sandbox.Tenant{ID: "bob"}, "c"); err != nil {
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

func TestSessionIsLost(t *testing.T) {
	driver := &fake{}
	sessionTest(t, driver, Limits{}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann")
		if _, err := runIn(t, m, "ann", "a", "the engine is gone"); err == nil || err.Error() != "the engine is gone" {
			t.Errorf("error %v", err)
		}
		if _, err := runIn(t, m, "ann", "a", "1s"); err != ErrNotFound {
			t.Errorf("error %v", err)
		}
	})
}

func TestSessionAndClose(t *testing.T) {
	driver := &fake{opened: func(ctx context.Context, cmd *sandbox.Command) error {
		if cmd.RunID != "b" {
			return nil
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}}
	sessionTest(t, driver, Limits{}, func(t *testing.T, m *Manager) {
		open3(t, m, "ann")
		ends := make(chan error, 2)
		go func() {
			_, err := runIn(t, m, "ann", "a", "5m")
			ends <- err
		}()
		go func() { ends <- m.Open(t.Context(), sandbox.Command{Tenant: sandbox.Tenant{ID: "ann"}, RunID: "b"}) }()
		synctest.Wait()
		m.Close()
		for range 2 {
			if err := <-ends; !errors.Is(err, sandbox.ErrClosed) {
				t.Errorf("error %v", err)
			}
		}
		if err := m.Open(t.Context(), sandbox.Command{Tenant: sandbox.Tenant{ID: "ann"}, RunID: "c"}); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// The sessions of one principal are counted together, and yet belong to one client each.
func TestSessionsOfAPrincipal(t *testing.T) {
	sessionTest(t, &fake{}, Limits{PerTenant: 2, Total: 9}, func(t *testing.T, m *Manager) {
		open := func(client int) error {
			return m.Open(t.Context(), sandbox.Command{Tenant: sandbox.Tenant{ID: fmt.Sprint("ann/", client), Principal: "ann"}, RunID: fmt.Sprint("run-", client)})
		}
		var many *TooManyError
		if err := errors.Join(open(1), open(2)); err != nil {
			t.Error(err)
		}
		if err := open(3); !errors.As(err, &many) {
			t.Errorf("a third one: %v", err)
		}
		if _, err := m.find(sandbox.Tenant{ID: "ann/2", Principal: "ann"}, "run-1"); err != ErrNotFound {
			t.Errorf("another client's: %v", err)
		}
	})
}
